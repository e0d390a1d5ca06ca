package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
)

// A client is one of the ways to make HTTP calls that are compared.
type client interface {
	// worker prepares for making calls of one kind, one after another.
	worker(x exchange) (worker, error)
	// hold starts an exchange and returns when its response head is there and
	// its body is not. The function it returns reads the rest, and leaves the
	// connection idle. i counts the connections that are held at once, from 0.
	hold(x exchange, i int) (finish func() error, err error)
	close()
}

// A worker makes calls one after another.
type worker struct {
	// call makes one call, reads the whole answer and checks it.
	call func() error
	// after, where not nil, tidies up after each call and is not measured. Only
	// scenarios with a single worker may have one.
	after func() error
	// loop, where not nil, makes a number of calls in place of call and after.
	loop func(calls int) error
}

// A multiplexer makes any number of calls at once without a goroutine for each.
type multiplexer interface {
	// multiplex prepares a worker with a loop that keeps parallel calls going.
	multiplex(x exchange, parallel int) (worker, error)
}

// environment is what a client is made for.
type environment struct {
	servers endpoints
	x       exchange
	link    *link // to the exchange's server, where there is one
}

func newEnvironment(servers endpoints, x exchange) environment {
	e := environment{servers: servers, x: x}
	if x.listener == h2cFar {
		e.link = newLink()
	}
	return e
}

// address returns where the exchange's server listens.
func (e environment) address() string {
	switch e.x.listener {
	case plain:
		return e.servers.Plain
	case overTLS:
		return e.servers.TLS
	case overTLSOff:
		return e.servers.TLSOff
	case h2c:
		return e.servers.H2C
	case h2TLS:
		return e.servers.H2TLS
	case h2cFar:
		return "far.bench.test:80"
	}
	panic("BUG: unknown listener")
}

// url returns the exchange's URL.
func (e environment) url() string { return e.urlAt(e.address()) }

func (e environment) urlAt(host string) string {
	if e.x.listener.secure() {
		return "https://" + host + e.x.path
	}
	return "http://" + host + e.x.path
}

// urlOf returns the exchange's URL on the i-th of many connections. HTTP/2 needs
// only one to a host, so there each has a host of its own.
func (e environment) urlOf(i int) string {
	if e.x.many && e.x.listener.http2() {
		return e.urlAt(fmt.Sprintf("h%d.bench.test", i))
	}
	return e.url()
}

// dialer returns what a client must dial with, or nil where it can do so itself.
func (e environment) dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	switch {
	case e.link != nil:
		return e.link.dial
	case e.x.many && e.x.listener.http2():
		return func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, e.address())
		}
	}
	return nil
}

// A witness tells what the server of an exchange has seen.
type witness interface {
	counts() (serverCounts, error)
	close()
}

func (e environment) witness() (witness, error) {
	if e.link != nil {
		return e.link, nil
	}
	return dialControl(e.servers)
}

// tlsConfig returns a configuration that trusts the server, or nil where there
// is no TLS.
func (e environment) tlsConfig() (*tls.Config, error) {
	if !e.x.listener.secure() {
		return nil, nil
	}
	authority, err := x509.ParseCertificate(e.servers.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	config := &tls.Config{RootCAs: roots}
	if e.x.resume {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	return config, nil
}

// newClient makes the client of that name.
func newClient(name string, env environment) (client, error) {
	switch name {
	case okhttpClient, okhttpDo, okhttpRT, okhttpListened:
		return newOkHTTP(name, env)
	case netHTTP, netHTTPRT:
		return newNetHTTP(name, env)
	case fastHTTP:
		return newFastHTTP(env)
	case rawConn:
		if env.x.listener.http2() {
			return newRawH2(env)
		}
		return newRaw(env)
	}
	return nil, fmt.Errorf("no client %q", name)
}
