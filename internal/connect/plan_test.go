package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

const tls1 = "192.0.2.1:443"

// secure is an https address of a network with one host that serves as given.
func (n *network) secure(t *testing.T, host string, serve func(net.Conn), trusted *x509.CertPool) Address {
	t.Helper()
	n.hosts = map[string]behaviour{tls1: {serve: serve}}
	config := n.config(answers("192.0.2.1"))
	config.TLS.RootCAs = trusted
	return Address{Scheme: "https", Host: host, Port: "443", Config: config}
}

func TestHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cert, trusted := identity(t, "a.test")
		n := &network{}
		server := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}}
		address := n.secure(t, "a.test", serveTLS(server), trusted)
		var rec recorder
		link, err := NewPlanner(address, nil).Connect(t.Context(), Timeouts{Connect: time.Second}, rec.trace())
		if err != nil {
			t.Fatal(err)
		}
		defer link.Raw.Close()
		if link.Protocol != "http/1.1" || link.TLS == nil || link.TLS.ServerName != "a.test" || link.Conn == link.Raw {
			t.Errorf("got %+v", link)
		}
		rec.want(t,
			"ProxySelectStart", "ProxySelectEnd", "DNSStart a.test", "DNSEnd a.test [192.0.2.1]",
			"ConnectStart a.test:443 at 192.0.2.1", "SecureConnectStart", "SecureConnectEnd TLS 1.3",
			"ConnectEnd a.test:443 at 192.0.2.1 http/1.1",
		)
		if c := address.Config.TLS; c.ServerName != "" || c.NextProtos != nil {
			t.Error("the user's configuration was changed")
		}
		// The handshake's deadline must not outlive it.
		time.Sleep(2 * time.Second)
		if _, err := link.Conn.Write([]byte("x")); err != nil {
			t.Errorf("after the handshake's time: %v", err)
		}
	})
}

func TestHandshakeOfIPLiteral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cert, trusted := identity(t, "192.0.2.1")
		n := &network{}
		address := n.secure(t, "192.0.2.1", serveTLS(&tls.Config{Certificates: []tls.Certificate{cert}}), trusted)
		link, _, err := n.connectOnce(t, NewPlanner(address, nil))
		if err != nil || link.Protocol != "http/1.1" {
			t.Errorf("got %v, %v", link, err)
		}
	})
}

func TestProtocolNegotiation(t *testing.T) {
	for _, test := range []struct {
		name                string
		enabled, user, peer []string
		want                string // the protocol, or a part of the error
		fails               bool
	}{
		{name: "server has no ALPN", enabled: []string{"h2", "http/1.1"}, want: "http/1.1"},
		{name: "server chooses", enabled: []string{"h2", "http/1.1"}, peer: []string{"h2"}, want: "h2"},
		{name: "our order counts for nothing", enabled: []string{"http/1.1", "h2"}, peer: []string{"h2", "http/1.1"}, want: "h2"},
		{name: "nothing in common", enabled: []string{"h2"}, peer: []string{"acme-tls/1"}, want: "no application protocol", fails: true},
		{
			name: "user's own offer", enabled: []string{"h2"}, user: []string{"http/1.1"},
			peer: []string{"h2", "http/1.1"}, want: "http/1.1",
		}, {
			name: "user offers what is not enabled", enabled: []string{"http/1.1"}, user: []string{"h2"},
			peer: []string{"h2"}, want: `the server chose protocol "h2", which is not enabled`, fails: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cert, trusted := identity(t, "a.test")
				n := &network{}
				server := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: test.peer}
				address := n.secure(t, "a.test", serveTLS(server), trusted)
				address.Config.Protocols, address.Config.TLS.NextProtos = test.enabled, test.user
				link, _, err := n.connectOnce(t, NewPlanner(address, nil))
				switch {
				case !test.fails && (err != nil || link.Protocol != test.want):
					t.Errorf("got %q, %v", link.Protocol, err)
				case test.fails && (err == nil || !strings.Contains(err.Error(), test.want)):
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestHandshakeFailures(t *testing.T) {
	write := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			go c.Write([]byte(text))
			c.Read(make([]byte, 4096))
		}
	}
	for _, test := range []struct {
		name  string
		serve func(net.Conn)
		want  string
		check func(t *testing.T, err error)
		after time.Duration
	}{
		{
			name: "wrong name", want: "tls: failed to verify certificate: x509: certificate is valid for other.test, not a.test",
			check: func(t *testing.T, err error) {
				var wrong x509.HostnameError
				if !errors.As(err, &wrong) {
					t.Error("x509's error cannot be found")
				}
			},
		}, {
			name: "plain HTTP", serve: write("HTTP/1.1 400 Bad Request\r\n\r\n"),
			want: "the server answered in plain HTTP: http: server gave HTTP response to HTTPS client: tls: first record does not look like a TLS handshake",
			check: func(t *testing.T, err error) {
				var header tls.RecordHeaderError
				if !errors.As(err, &header) {
					t.Error("tls's error cannot be found")
				}
			},
		}, {
			name: "something else", serve: write("220 mail.test ESMTP\r\n"),
			want: "the server does not speak TLS: tls: first record does not look like a TLS handshake",
		}, {
			name: "closed", serve: func(c net.Conn) { c.Read(make([]byte, 4096)); c.Close() },
			want: "the server closed the connection: EOF",
		}, {
			name: "silence", serve: func(c net.Conn) { c.Read(make([]byte, 4096)) },
			want: "timeout after 3s", after: 3 * time.Second,
			check: func(t *testing.T, err error) {
				var timeout *httpsem.TimeoutError
				if !errors.As(err, &timeout) || timeout.Op != httpsem.TimeoutTLS || !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Error("not the timeout of the handshake")
				}
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cert, trusted := identity(t, "other.test")
				if test.serve == nil {
					test.serve = serveTLS(&tls.Config{Certificates: []tls.Certificate{cert}})
				}
				n := &network{}
				address := n.secure(t, "a.test", test.serve, trusted)
				memory := NewRouteMemory()
				begin := time.Now()
				var rec recorder
				_, err := NewPlanner(address, memory).Connect(t.Context(), Timeouts{Connect: 3 * time.Second}, rec.trace())
				want := "tls handshake with a.test:443 at 192.0.2.1: " + test.want
				if err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Fatalf("got  %v\nwant %s", err, want)
				}
				if elapsed := time.Since(begin); elapsed != test.after {
					t.Errorf("after %v", elapsed)
				}
				if test.check != nil {
					test.check(t, err)
				}
				if rec.count("ConnectFailed") != 1 || rec.count("SecureConnectEnd") != 0 || rec.count("ConnectEnd") != 0 {
					t.Errorf("got %v", rec.events)
				}
				route := Route{Scheme: "https", Host: "a.test:443", Addr: netip.MustParseAddrPort(tls1)}
				if !memory.Postponed(route) {
					t.Error("the failure is not remembered")
				}
				n.wantOpen(t, 0)
			})
		})
	}
}

func TestHandshakeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		address := n.secure(t, "a.test", nil, nil) // a peer that reads and is silent
		memory := NewRouteMemory()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*ms, cancel)
		_, err := NewPlanner(address, memory).Connect(ctx, Timeouts{Connect: time.Second}, nil)
		if !errors.Is(err, context.Canceled) || err.Error() != "tls handshake with a.test:443 at 192.0.2.1: context canceled" {
			t.Errorf("got %v", err)
		}
		if len(memory.failed) != 0 {
			t.Error("a cancelled attempt is held against its route")
		}
		n.wantOpen(t, 0)
	})
}

// TCP connects everywhere, but only the second address has a TLS server.
func TestTLSFailureFallsBackToTheNextAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cert, trusted := identity(t, "a.test")
		n := &network{}
		address := n.secure(t, "a.test", nil, trusted)
		n.hosts[tls1] = behaviour{serve: func(c net.Conn) { c.Read(make([]byte, 4096)); c.Close() }}
		n.hosts["192.0.2.2:443"] = behaviour{serve: serveTLS(&tls.Config{Certificates: []tls.Certificate{cert}})}
		address.Config.Resolver = answers("192.0.2.1 192.0.2.2")
		var rec recorder
		link, err := NewPlanner(address, nil).Connect(t.Context(), Timeouts{Connect: time.Second}, rec.trace())
		if err != nil {
			t.Fatal(err)
		}
		n.wantOpen(t, 1)
		link.Raw.Close()
		rec.want(t,
			"ProxySelectStart", "ProxySelectEnd", "DNSStart a.test", "DNSEnd a.test [192.0.2.1 192.0.2.2]",
			"ConnectStart a.test:443 at 192.0.2.1", "SecureConnectStart",
			"ConnectFailed tls handshake with a.test:443 at 192.0.2.1: the server closed the connection: EOF",
			"ConnectStart a.test:443 at 192.0.2.2", "SecureConnectStart", "SecureConnectEnd TLS 1.3",
			"ConnectEnd a.test:443 at 192.0.2.2 http/1.1",
		)
	})
}

// Over real sockets: a server sends its tickets before it reads on, for which
// net.Pipe has no room.
func TestSessionIsResumed(t *testing.T) {
	cert, trusted := identity(t, "127.0.0.1")
	l := tls.NewListener(listen(t), &tls.Config{Certificates: []tls.Certificate{cert}})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("x"))
			c.Read(make([]byte, 1))
			c.Close()
		}
	}()
	address := loopback(l)
	address.Scheme = "https"
	address.Config.TLS = &tls.Config{RootCAs: trusted, ClientSessionCache: tls.NewLRUClientSessionCache(0)}
	for i, want := range []bool{false, true} {
		link, err := NewPlanner(address, nil).Connect(t.Context(), Timeouts{Connect: 5 * time.Second}, nil)
		if err != nil {
			t.Fatal(err)
		}
		link.Conn.Read(make([]byte, 1)) // takes in the ticket
		link.Raw.Close()
		if link.TLS.DidResume != want {
			t.Errorf("connection %d: resumed is %v", i, link.TLS.DidResume)
		}
	}
}

func TestSystemDialer(t *testing.T) {
	listener := listen(t)
	address := loopback(listener)
	link, err := NewPlanner(address, nil).Connect(t.Context(), Timeouts{Connect: 5 * time.Second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	link.Raw.Close()
	listener.Close()
	_, err = NewPlanner(address, nil).Connect(t.Context(), Timeouts{Connect: 5 * time.Second}, nil)
	if want := "connect to " + address.HostPort() + ": connection refused"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestDialerWithoutAConnection(t *testing.T) {
	address := testAddress(&Config{DialHost: func(context.Context, string, string) (net.Conn, error) { return nil, nil }})
	_, err := NewPlanner(address, nil).Connect(t.Context(), Timeouts{}, nil)
	if err == nil || err.Error() != "connect to a.test:80: the dialer returned no connection" {
		t.Errorf("got %v", err)
	}
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// loopback is the address of a listener, to be dialled by the system.
func loopback(l net.Listener) Address {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	return Address{Scheme: "http", Host: host, Port: port, Config: &Config{TLS: &tls.Config{}, FastFallback: true}}
}

// acceptAll takes connections and closes each after its peer.
func acceptAll(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Close() // the client sees it at most as an end of the stream
	}
}

// The allocations of Connect beside those of the standard library's dialer, for
// one connection. The peer's are in both figures.
func BenchmarkConnect(b *testing.B) {
	b.Run("planner", func(b *testing.B) {
		l := listen(b)
		go acceptAll(l)
		address, memory := loopback(l), NewRouteMemory()
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		b.ReportAllocs()
		for b.Loop() {
			link, err := NewPlanner(address, memory).Connect(ctx, Timeouts{Connect: time.Second}, nil)
			if err != nil {
				b.Fatal(err)
			}
			link.Raw.Close()
		}
	})
	b.Run("std", func(b *testing.B) {
		l := listen(b)
		go acceptAll(l)
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		dialer := net.Dialer{Timeout: time.Second}
		addr := l.Addr().String()
		b.ReportAllocs()
		for b.Loop() {
			c, err := dialer.DialContext(ctx, "tcp", addr)
			if err != nil {
				b.Fatal(err)
			}
			c.Close()
		}
	})
}
