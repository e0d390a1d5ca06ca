package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
)

// A client is one of the ways to make HTTP calls that are compared.
type client interface {
	// worker prepares for making calls of one kind, one after another.
	worker(x exchange) (worker, error)
	// hold starts an exchange and returns when its response head is there and
	// its body is not. The function it returns reads the rest, and leaves the
	// connection idle.
	hold(x exchange) (finish func() error, err error)
	close()
}

// A worker makes calls one after another.
type worker struct {
	// call makes one call, reads the whole answer and checks it.
	call func() error
	// after, where not nil, tidies up after each call and is not measured. Only
	// scenarios with a single worker may have one.
	after func() error
}

// environment is what a client is made for.
type environment struct {
	servers endpoints
	x       exchange
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
	}
	panic("BUG: unknown listener")
}

// url returns the exchange's URL.
func (e environment) url() string {
	if e.x.listener == plain {
		return "http://" + e.address() + e.x.path
	}
	return "https://" + e.address() + e.x.path
}

// tlsConfig returns a configuration that trusts the server, or nil where there
// is no TLS.
func (e environment) tlsConfig() (*tls.Config, error) {
	if e.x.listener == plain {
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
		return newRaw(env)
	}
	return nil, fmt.Errorf("no client %q", name)
}
