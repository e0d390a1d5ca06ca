package connect

import (
	"crypto/tls"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/okhttp-go/okhttp/internal/http1"
	"github.com/okhttp-go/okhttp/internal/linked"
)

// Conn is one open connection and its place in the pool.
//
// A connection is held through leases: it may carry as many exchanges at once
// as its limit says. Whoever holds the only lease of an HTTP/1 connection has its
// codec to itself; on HTTP/2 each exchange has a codec of its own, and the peer
// says the limit.
type Conn struct {
	// Written once, before the connection is shared.
	pool    *Pool
	host    *host
	link    Link
	codec   http1.Conn // within, so that a connection is one object
	id      uint64
	created time.Duration // on the pool's clock
	expires time.Duration // 0: no maximum age

	// Owned by the lease holder of an HTTP/1 connection.
	probe  *probe // made on the first reuse
	served int32  // exchanges that ended well; atomic where several hold a lease

	// Guarded by pool.mu.
	leases  int32  // exchanges, and calls between two of their exchanges
	limit   int32  // how many leases it takes
	placed  bool   // it has a place in its host's limit
	retired string // why it takes no more leases; "" while it does
	shared
	idleSince time.Duration     // on the pool's clock; 0: it came to its lease without being idle
	inAll     linked.Elem[Conn] // every open connection
	available linked.Elem[Conn] // in host.available while it takes another lease
	idle      linked.Elem[Conn] // in pool.idle while leases == 0
	indexed   linked.Elem[Conn] // in pool.byAddr, if it may serve other hosts
}

// NewCodec returns the codec of one exchange. Only a lease holder may use it. On
// HTTP/1 it is always the same.
func (c *Conn) NewCodec() Codec {
	if c.engine != nil {
		return c.engine.newCodec()
	}
	return &c.codec
}

// Address is what the connection serves.
func (c *Conn) Address() Address { return c.host.addr }

// Route is the way the connection took.
func (c *Conn) Route() Route { return c.link.Route }

// Protocol is what is spoken on it, such as "http/1.1".
func (c *Conn) Protocol() string { return c.link.Protocol }

// TLS is the state after the handshake, or nil. It is shared: read only.
func (c *Conn) TLS() *tls.ConnectionState { return c.link.TLS }

// ID numbers the connections of a pool in the order in which they were opened,
// from 1.
func (c *Conn) ID() uint64 { return c.id }

// Link gives the open connection itself.
func (c *Conn) Link() Link { return c.link }

// Served counts the exchanges that ended well. For lease holders.
func (c *Conn) Served() int {
	if c.engine != nil {
		return int(atomic.LoadInt32(&c.served))
	}
	return int(c.served)
}

// MarkServed counts one exchange that ended well. For lease holders.
func (c *Conn) MarkServed() {
	if c.engine != nil {
		atomic.AddInt32(&c.served, 1)
		return
	}
	c.served++
}

// IdleSince is when the connection became idle before its present lease; zero
// for one that has not been idle. For the lease holder.
func (c *Conn) IdleSince() time.Time {
	if c.idleSince == 0 {
		return time.Time{}
	}
	return c.pool.started.Add(c.idleSince)
}

// Check looks, without blocking, whether the connection is good for another
// exchange under a lease that has carried one: the peer may have closed it, or
// sent bytes that nobody asked for, or want fewer exchanges at once. For lease
// holders, between exchanges.
func (c *Conn) Check() error {
	if c.engine != nil {
		return c.checkLease()
	}
	return c.check()
}

// check asks the connection itself.
func (c *Conn) check() error {
	if c.engine != nil {
		return c.engine.Check()
	}
	if c.probe == nil {
		c.probe = newProbe(c.link)
		c.probe.idle = c.codec.Idle
	}
	return c.probe.check()
}

// Release gives a lease back; see [Pool.Release].
func (c *Conn) Release(reusable bool, reason string) { c.pool.Release(c, reusable, reason) }

// Detach takes the connection out of the pool without closing it: it belongs to
// the lease holder from now on, as after an upgrade to another protocol.
func (c *Conn) Detach(reason string) {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if c.inAll.Linked() {
		c.pool.unlinkLocked(c, reason)
		c.pool.leaveLocked(c)
	}
}

// Abort closes the socket at once, whoever uses it. It never blocks.
func (c *Conn) Abort() { c.link.Raw.Close() }

// goodbyeTime is what a peer gets to take note of a close. There is room for it
// in the socket's buffer, unless the peer has stopped reading; and whoever closes
// may be on the way to another host.
const goodbyeTime = time.Millisecond

// close ends the connection in the way the protocol has it: over TLS with
// close_notify, if that can be sent at once.
func (c *Conn) close(graceful bool) {
	if c.engine != nil {
		c.engine.Close(graceful)
		return
	}
	if !graceful {
		c.link.Raw.Close()
		return
	}
	if c.link.under != nil {
		c.link.under.leave(goodbyeTime)
	}
	c.link.Conn.Close()
}

// expiry spreads the ends of connections of one age over a tenth of that age,
// so that a burst that was opened together is not reopened together.
func expiry(now, age time.Duration) time.Duration {
	if age <= 0 {
		return 0
	}
	jitter := time.Duration(0)
	if tenth := int64(age) / 10; tenth > 0 {
		jitter = time.Duration(rand.Int64N(tenth))
	}
	return now + age - jitter
}

// aged reports whether c has passed its maximum age.
func (c *Conn) aged() bool { return c.expires != 0 && c.pool.now() >= c.expires }

// Snapshot is what can be seen of a connection from outside at one moment.
type Snapshot struct {
	ID        uint64
	Route     Route
	Protocol  string
	Created   time.Time
	IdleSince time.Time // zero while it is in use
	Leases    int       // exchanges and calls that hold it
}
