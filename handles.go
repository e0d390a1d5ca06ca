package okhttp

import (
	"crypto/tls"
	"net/netip"
	"time"

	"github.com/okhttp-go/okhttp/internal/connect"
)

// Connection is a handle to one connection. Two handles are == exactly when
// they mean the same socket; the zero Connection means none. It stays valid,
// for its facts, after the connection is closed.
type Connection struct{ c *connect.Conn }

// IsZero reports whether the handle means no connection.
func (c Connection) IsZero() bool { return c.c == nil }

// ID numbers the connections of a pool from 1, in the order in which they were
// opened; 0 for none.
func (c Connection) ID() uint64 {
	if c.c == nil {
		return 0
	}
	return c.c.ID()
}

// Route is the way that the connection took.
func (c Connection) Route() Route {
	if c.c == nil {
		return Route{}
	}
	return Route(c.c.Route())
}

// Protocol is what is spoken on the connection, such as "http/1.1".
func (c Connection) Protocol() string {
	if c.c == nil {
		return ""
	}
	return c.c.Protocol()
}

// TLS is the state after the handshake, nil without TLS. It is shared: read only.
func (c Connection) TLS() *tls.ConnectionState {
	if c.c == nil {
		return nil
	}
	return c.c.TLS()
}

// LocalAddr names this end of the socket, "" for none.
func (c Connection) LocalAddr() string {
	if c.c == nil {
		return ""
	}
	return addrString(c.c.Link().Raw.LocalAddr())
}

// RemoteAddr names the peer's end of the socket, "" for none.
func (c Connection) RemoteAddr() string {
	if c.c == nil {
		return ""
	}
	return addrString(c.c.Link().Raw.RemoteAddr())
}

// Route is one concrete way to an origin. It is plain data: comparable, and
// usable as a map key.
type Route struct {
	Scheme string         // of the origin: "http" or "https"
	Host   string         // host:port of the origin
	Addr   netip.AddrPort // the address connected to; zero where the dialer resolves by itself
}

// String names the route without repeating itself, such as
// "example.com:443 at 192.0.2.1".
func (r Route) String() string { return connect.Route(r).String() }

// Pool is the client's store of connections.
type Pool struct{ p *connect.Pool }

// PoolStats counts connections: now, and since the pool was made.
type PoolStats struct {
	Open    int // connections open now
	Idle    int // of those, held by no call
	Dialing int // attempts in progress
	Waiting int // calls waiting for a connection

	Opened    uint64 // connections opened
	Failed    uint64 // attempts that came to nothing
	Reused    uint64 // times that a call took an idle connection
	Discarded uint64 // idle connections found dead when a call was about to reuse them
	Evicted   uint64 // idle connections closed for a limit: number, keep-alive or age
}

// ConnectionInfo is what can be seen of a pooled connection at one moment.
type ConnectionInfo struct {
	ID        uint64 // counts the pool's connections from 1
	Route     Route
	Protocol  string    // such as "http/1.1"
	Created   time.Time // when it was open, handshake included
	IdleSince time.Time // zero while a call holds it
	Calls     int       // how many calls hold it
}

// Stats counts. It is a snapshot.
func (p *Pool) Stats() PoolStats {
	s := p.p.Stats()
	return PoolStats{Open: s.Open, Idle: s.Idle, Dialing: s.Dialing, Waiting: s.Waiting,
		Opened: s.Opened, Failed: s.Failed, Reused: s.Reused, Discarded: s.Discarded, Evicted: s.Evicted}
}

// Connections describes the open connections, idle or not, oldest first. It is a
// snapshot.
func (p *Pool) Connections() []ConnectionInfo {
	snaps := p.p.Snapshots()
	out := make([]ConnectionInfo, len(snaps))
	for i, s := range snaps {
		out[i] = ConnectionInfo{ID: s.ID, Route: Route(s.Route), Protocol: s.Protocol,
			Created: s.Created, IdleSince: s.IdleSince, Calls: s.Leases}
	}
	return out
}

// CloseIdle closes the connections that no call holds.
func (p *Pool) CloseIdle() { p.p.CloseIdle() }
