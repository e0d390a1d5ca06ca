// Package connect answers four questions: where could a request go (planner),
// how is a connection opened (plan, race), who keeps it (pool) and who holds it
// (lease). It knows neither calls nor requests' meaning: it reports through a
// [Trace] that the caller gives it.
package connect

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/okhttp-go/okhttp/dns"
)

// Address names what a connection can serve: an origin, reached in one way.
// It is comparable; two equal addresses share connections.
type Address struct {
	Scheme string // "http" or "https", lower case
	Host   string // lower case, ASCII; an IPv6 literal without brackets
	Port   string // decimal, never empty
	Config *Config
}

// HostPort returns host:port, an IPv6 literal in brackets.
func (a Address) HostPort() string { return net.JoinHostPort(a.Host, a.Port) }

// Secure reports whether the address asks for TLS.
func (a Address) Secure() bool { return a.Scheme == "https" }

// Config is how connections are opened. It is immutable once used, and its
// pointer is part of the address: a connection is shared only among callers
// that hold the same Config.
type Config struct {
	// Resolver finds addresses; it is not asked for IP literals nor when
	// DialHost is set. Never nil.
	Resolver dns.Resolver

	// DialAddr opens a socket to one resolved "ip:port". Nil means net.Dialer.
	DialAddr func(ctx context.Context, network, addr string) (net.Conn, error)

	// DialHost, when set, opens a socket to the unresolved "host:port": name
	// resolution and address choice are then the function's own business
	// (Unix sockets, in-memory networks). It wins over DialAddr.
	DialHost func(ctx context.Context, network, addr string) (net.Conn, error)

	// TLS is the base for every handshake. It is cloned, never changed. Never
	// nil; its ClientSessionCache is what makes resumption work.
	TLS *tls.Config

	// Protocols are offered through ALPN in this order: "h2" and "http/1.1". Or
	// there is only "h2_prior_knowledge": HTTP/2 without TLS and without asking.
	Protocols []string

	// Pins, if set, must accept the peer of a TLS connection for a host beside
	// crypto/tls. It may be called many times for one connection, by several
	// goroutines at once.
	Pins func(host string, state *tls.ConnectionState) error

	// FastFallback races the addresses (RFC 8305) instead of trying them in turn.
	FastFallback bool

	// PingInterval is how often an HTTP/2 connection is asked whether it lives; 0
	// means only when there is a doubt.
	PingInterval time.Duration

	// Push returns what takes the pushes of a new HTTP/2 connection, which is not
	// yet in the pool; nil refuses them.
	Push func(*Conn) PushHandler
}

// custom reports whether functions of the user's are called to connect, which
// may look for values in their context.
func (c *Config) custom() bool {
	return c.DialAddr != nil || c.DialHost != nil || c.Resolver != dns.System()
}

// Route is one concrete way to an address: plain data, comparable.
type Route struct {
	Scheme string         // of the origin
	Host   string         // host:port of the origin
	Addr   netip.AddrPort // the address to connect to; zero where the dialer resolves by itself
}

// String names the route without repeating itself: "host:443 at 192.0.2.1",
// or just the host where the address says nothing more.
func (r Route) String() string {
	if !r.Addr.IsValid() {
		return r.Host
	}
	at := r.Addr.String()
	if at == r.Host {
		return r.Host
	}
	host, port, err := net.SplitHostPort(r.Host)
	if err == nil && strings.HasSuffix(at, ":"+port) {
		if host == r.Addr.Addr().String() {
			return r.Host
		}
		return r.Host + " at " + r.Addr.Addr().String()
	}
	return r.Host + " at " + at
}

// Timeouts bound the opening of one connection. Zero means no limit.
type Timeouts struct {
	Connect time.Duration // TCP connect of one route; the TLS handshake has the same bound again
}

// Trace reports the steps of opening a connection. A nil Trace, and each nil
// field, is skipped. The functions are called one after another, on the goroutine
// that opens the connection, whatever is raced; except Discarded, which the call
// itself reports, perhaps while a connection is being opened for it. None is
// called with a lock held.
type Trace struct {
	ProxySelectStart   func()
	ProxySelectEnd     func()
	DNSStart           func(host string)
	DNSEnd             func(host string, addrs []netip.Addr)
	ConnectStart       func(Route)
	SecureConnectStart func(Route)
	SecureConnectEnd   func(Route, *tls.ConnectionState)
	ConnectEnd         func(r Route, protocol string)
	ConnectFailed      func(Route, error)
	Discarded          func(c *Conn, why error) // an idle connection was found dead on reuse
}

// Link is an open connection, ready for a codec.
type Link struct {
	Conn     net.Conn             // what the codec speaks on: the TLS connection where there is one
	Raw      net.Conn             // the socket below; equal to Conn without TLS. Closing it never blocks.
	TLS      *tls.ConnectionState // nil without TLS
	Route    Route
	Protocol string // "http/1.1" unless ALPN chose another, or it is "h2_prior_knowledge"

	under *floor // what TLS runs on; nil without TLS
}

// multiplexed reports whether many exchanges can be on the link at once.
func (l Link) multiplexed() bool { return l.Protocol == protoH2 || l.Protocol == protoPrior }
