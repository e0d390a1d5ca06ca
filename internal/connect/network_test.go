package connect

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp/dns"
	"github.com/okhttp-go/okhttp/internal/testkit"
)

// network is an in-memory network whose hosts behave as a test wants it. It
// keeps the addresses dialled and the sockets that are open.
type network struct {
	mu    sync.Mutex
	hosts map[string]behaviour // by ip:port
	dials []string
	open  int
}

// behaviour is what dialling one address comes to. By default it connects at
// once to a peer that listens and says nothing.
type behaviour struct {
	after     time.Duration
	refuse    bool
	blackHole bool
	serve     func(net.Conn) // the other end, in its own goroutine; it need not close
}

var errRefused = errors.New("connection refused")

func (n *network) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	n.mu.Lock()
	n.dials = append(n.dials, addr)
	b, known := n.hosts[addr]
	n.mu.Unlock()
	if !known {
		return nil, fmt.Errorf("no host at %s", addr)
	}
	var connected <-chan time.Time
	if !b.blackHole {
		connected = time.After(b.after)
	}
	select {
	case <-connected:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if b.refuse {
		return nil, errRefused
	}
	client, server := testkit.Pipe()
	go func() {
		defer server.Close()
		if b.serve != nil {
			b.serve(server)
		}
		io.Copy(io.Discard, server) // until the client is gone
	}()
	n.mu.Lock()
	n.open++
	n.mu.Unlock()
	return &countedConn{Conn: client, network: n}, nil
}

// dialled returns what was dialled since it was last called.
func (n *network) dialled() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	dials := n.dials
	n.dials = nil
	return dials
}

func (n *network) wantOpen(t *testing.T, want int) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open != want {
		t.Errorf("%d sockets are open, want %d", n.open, want)
	}
}

type countedConn struct {
	net.Conn
	network *network
	once    sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() {
		c.network.mu.Lock()
		c.network.open--
		c.network.mu.Unlock()
	})
	return c.Conn.Close()
}

// answers is a resolver that knows one answer.
func answers(list string) dns.Resolver {
	return dns.ResolverFunc(func(context.Context, string) ([]netip.Addr, error) {
		return addrs(list), nil
	})
}

func (n *network) config(r dns.Resolver) *Config {
	return &Config{
		Resolver: r, DialAddr: n.dial, TLS: &tls.Config{},
		Protocols: []string{"http/1.1"}, FastFallback: true,
	}
}

// recorder is a Trace that writes down what it is told.
type recorder struct {
	mu     sync.Mutex
	events []string
}

func (r *recorder) logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

func (r *recorder) trace() *Trace {
	return &Trace{
		ProxySelectStart:   func() { r.logf("ProxySelectStart") },
		ProxySelectEnd:     func() { r.logf("ProxySelectEnd") },
		DNSStart:           func(h string) { r.logf("DNSStart %s", h) },
		DNSEnd:             func(h string, a []netip.Addr) { r.logf("DNSEnd %s %v", h, a) },
		ConnectStart:       func(to Route) { r.logf("ConnectStart %v", to) },
		SecureConnectStart: func(Route) { r.logf("SecureConnectStart") },
		SecureConnectEnd: func(_ Route, s *tls.ConnectionState) {
			r.logf("SecureConnectEnd %s", tls.VersionName(s.Version))
		},
		ConnectEnd:    func(to Route, protocol string) { r.logf("ConnectEnd %v %s", to, protocol) },
		ConnectFailed: func(to Route, err error) { r.logf("ConnectFailed %v", err) },
	}
}

// want compares the events since it was last called.
func (r *recorder) want(t *testing.T, events ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.events, events) {
		t.Errorf("got events\n\t%s\nwant\n\t%s", strings.Join(r.events, "\n\t"), strings.Join(events, "\n\t"))
	}
	r.events = nil
}

// identity makes a self-signed certificate for names, and the pool that trusts
// it. Inside a bubble it must be made there: the clock stands at 2000.
func identity(t testing.TB, names ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "test"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// serveTLS is a behaviour's peer that shakes hands and then says nothing.
func serveTLS(config *tls.Config) func(net.Conn) {
	return func(c net.Conn) {
		s := tls.Server(c, config)
		if s.Handshake() == nil {
			s.Read(make([]byte, 1))
		}
	}
}
