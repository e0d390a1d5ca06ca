package connect

import (
	"crypto/tls"
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/okhttp-go/okhttp/internal/linked"
)

// Limits are the pool's bounds. See the comments for what zero means.
type Limits struct {
	MaxIdle    int           // idle connections in all; 0 keeps none
	KeepAlive  time.Duration // how long one may be idle; 0 means for ever
	MaxPerHost int           // open and opening connections per address; 0 means no limit
	MaxAge     time.Duration // how old one may get, with up to a tenth of jitter off; 0 means any age
}

// ErrPoolClosed is what a waiter gets when the pool is closed.
var ErrPoolClosed = errors.New("connection pool is closed")

// Pool keeps connections and opens new ones.
//
// It is one decision under one lock: each method takes the lock, decides, and
// acts (closes, dials, wakes) after letting it go. No I/O and no callback runs
// under it. Choosing a connection and reserving it are one step.
//
// Opening belongs to the pool: a call that needs a connection waits in its
// host's queue and is served by whatever comes first, the connection that was
// begun for it, one begun for another call, or one that became free. A dial
// that nobody waits for any more still ends in the pool.
type Pool struct {
	limits  Limits
	started time.Time
	speak   func(*Conn) engine // HTTP/2; tests have their own

	mu      sync.Mutex
	hosts   map[Address]*host
	all     linked.List[Conn]                     // every open connection, oldest first
	idle    linked.List[Conn]                     // without leases; the longest idle is last
	ghosts  linked.List[Conn]                     // closed by themselves, and still held
	byAddr  map[netip.AddrPort]*linked.List[Conn] // those that may serve other hosts
	known   protocolMemory
	jobs    map[*job]struct{}
	timer   *time.Timer // runs sweep; nil until a connection is idle
	armed   bool
	closed  bool
	nextID  uint64
	counter Counters

	running sync.WaitGroup // jobs
}

// host is what the pool knows of one address.
type host struct {
	addr      Address
	available linked.List[Conn]   // can take another lease; the last one to become so is first
	waiters   linked.List[waiter] // first come, first served
	live      int                 // places taken in its limit: connections, and running jobs
	dialing   int                 // running jobs
	tls       *tls.Config         // for handshakes with it; nil until there is one
	burst
}

// Counters count since the pool was made.
type Counters struct {
	Opened    uint64 // connections that were opened
	Failed    uint64 // attempts to open one that came to nothing
	Reused    uint64 // leases of a connection that had been leased before
	Discarded uint64 // idle connections that turned out dead on reuse
	Evicted   uint64 // idle connections closed for a limit: number, keep-alive or age
}

// Stats is a snapshot of the pool.
type Stats struct {
	Open    int // connections
	Idle    int // of those, without a lease
	Dialing int // attempts in progress
	Waiting int // calls that wait for a connection
	Counters
}

// NewPool makes a pool. It has no goroutine of its own.
func NewPool(l Limits) *Pool {
	return &Pool{limits: l, started: time.Now(), speak: speakHTTP2, hosts: map[Address]*host{}, jobs: map[*job]struct{}{}}
}

// now is the time since the pool was made: cheaper to have than the time of day.
func (p *Pool) now() time.Duration { return time.Since(p.started) }

func (p *Pool) hostLocked(a Address) *host {
	h := p.hosts[a]
	if h == nil {
		h = &host{addr: a, burst: p.burstLocked(a)}
		p.hosts[a] = h
	}
	return h
}

// forgetLocked drops a host of which nothing is left.
func (p *Pool) forgetLocked(h *host) {
	if h.live == 0 && h.waiters.Len() == 0 && p.hosts[h.addr] == h {
		h.stop()
		delete(p.hosts, h.addr)
	}
}

// takeLocked leases an available connection of h, the one used last; with fresh
// one that carries many exchanges, since those are watched: what has failed is not
// among them. Those that are too old are retired, and if nobody holds them, put
// into dead.
func (p *Pool) takeLocked(h *host, fresh bool, dead *[]*Conn) *Conn {
	for c := range h.available.All {
		if fresh && c.engine == nil {
			continue
		}
		if c.aged() { // what has been idle too long is the sweep's business
			p.counter.Evicted++
			if p.retireLocked(c, "maximum age") {
				*dead = append(*dead, c)
			}
			continue
		}
		if c.engine != nil {
			p.leaseLocked(c)
			return c
		}
		p.counter.Reused++
		c.idle.Remove()
		c.available.Remove()
		c.leases = 1
		return c
	}
	return nil
}

// unlinkLocked takes c out of the pool. The caller buries it after unlocking;
// until then it holds its place in its host's limit, since its socket is open.
func (p *Pool) unlinkLocked(c *Conn, reason string) {
	if c.retired == "" {
		c.retired = reason
	}
	c.available.Remove()
	c.idle.Remove()
	c.inAll.Remove()
	if c.engine != nil {
		p.settleLocked(c)
		p.unindexLocked(c)
	}
}

// bury closes connections that were unlinked and gives their places to the next
// waiters.
func (p *Pool) bury(graceful bool, dead ...*Conn) {
	if len(dead) == 0 {
		return
	}
	for _, c := range dead {
		c.close(graceful)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range dead {
		p.leaveLocked(c)
	}
}

// leaveLocked gives up c's place in its host's limit.
func (p *Pool) leaveLocked(c *Conn) {
	if c.placed {
		c.placed = false
		p.vacateLocked(c.host)
	}
}

// vacateLocked gives a place in a host's limit to the next waiter.
func (p *Pool) vacateLocked(h *host) {
	h.live--
	p.startJobsLocked(h)
	p.forgetLocked(h)
}

// newConn makes a connection of a link, which nobody knows of yet.
func (p *Pool) newConn(h *host, l Link) *Conn {
	c := &Conn{pool: p, host: h, link: l, limit: 1}
	if l.multiplexed() {
		c.engine = p.speak(c)
	} else {
		c.codec.Open(l.Conn, l.Raw)
	}
	return c
}

// adoptLocked takes in a new connection, which gets the place of the job that made
// it, and leases it once.
func (p *Pool) adoptLocked(c *Conn) {
	p.nextID++
	p.counter.Opened++
	c.id, c.created = p.nextID, p.now()
	c.expires = expiry(c.created, p.limits.MaxAge)
	c.leases, c.placed = 1, true
	p.all.PushBack(&c.inAll, c)
	if c.engine != nil {
		c.young = time.AfterFunc(settleTime, c.settled)
		c.host.young = c
		p.indexLocked(c)
	}
}

// offerLocked gives the lease that the caller has on c to the first waiter that
// wants it, or leaves c idle. It returns why c must be closed instead, or "".
func (p *Pool) offerLocked(c *Conn) string {
	for w := range c.host.waiters.All {
		switch {
		case !w.params.Fresh || c.served == 0:
			if c.served > 0 {
				p.counter.Reused++
			}
			c.idleSince = 0
			w.serveLocked(c)
			return ""
		case w.job == nil:
			return "makes room for a new connection"
		}
	}
	c.leases--
	if !c.available.Linked() {
		c.host.available.PushFront(&c.available, c)
	}
	if c.leases > 0 {
		return ""
	}
	if p.limits.MaxIdle == 0 {
		return "no idle connections are kept"
	}
	c.idleSince = p.now()
	p.idle.PushFront(&c.idle, c)
	p.armLocked(p.limits.KeepAlive)
	return ""
}

// Release gives a lease back. A connection that is not reusable, or has been
// retired meanwhile, is closed; reason says why.
func (p *Pool) Release(c *Conn, reusable bool, reason string) {
	if c.engine != nil {
		p.releaseShared(c, reusable, reason)
		return
	}
	var dead []*Conn
	p.mu.Lock()
	if !c.inAll.Linked() { // closed while it was in use
		p.mu.Unlock()
		c.close(false)
		return
	}
	switch {
	case !reusable:
	case c.retired != "":
		reusable, reason = false, c.retired
	case p.closed:
		reusable, reason = false, "client closed"
	case c.aged():
		reusable, reason = false, "maximum age"
		p.counter.Evicted++
	default:
		reason = p.offerLocked(c)
		reusable = reason == ""
	}
	if !reusable {
		p.unlinkLocked(c, reason)
	}
	dead = p.trimLocked(dead)
	p.mu.Unlock()
	if !reusable {
		p.bury(false, c)
	}
	p.bury(true, dead...)
}

// trimLocked unlinks idle connections beyond their number and adds them to dead.
func (p *Pool) trimLocked(dead []*Conn) []*Conn {
	for p.idle.Len() > p.limits.MaxIdle {
		old := p.idle.Last()
		p.counter.Evicted++
		p.unlinkLocked(old, "too many idle connections")
		dead = append(dead, old)
	}
	return dead
}

// armLocked sees to it that sweep runs within d.
func (p *Pool) armLocked(d time.Duration) {
	if p.armed || p.closed || d <= 0 {
		return
	}
	p.armed = true
	if p.timer == nil {
		p.timer = time.AfterFunc(d, p.sweep)
	} else {
		p.timer.Reset(d)
	}
}

// sweep closes the connections that have been idle for too long, and comes back
// when the next one will be. It runs on the timer, so the pool needs no goroutine.
func (p *Pool) sweep() {
	var dead []*Conn
	p.mu.Lock()
	p.armed = false
	now := p.now()
	for c := p.idle.Last(); c != nil; c = p.idle.Last() {
		if left := p.limits.KeepAlive - (now - c.idleSince); left > 0 {
			p.armLocked(left)
			break
		}
		p.counter.Evicted++
		p.unlinkLocked(c, "keep-alive ended")
		dead = append(dead, c)
	}
	p.mu.Unlock()
	p.bury(true, dead...)
}

// CloseIdle closes the connections without a lease.
func (p *Pool) CloseIdle() {
	var dead []*Conn
	p.mu.Lock()
	for c := p.idle.Last(); c != nil; c = p.idle.Last() {
		p.unlinkLocked(c, "idle connections closed")
		dead = append(dead, c)
	}
	p.mu.Unlock()
	p.bury(true, dead...)
}

// Close ends every connection, attempt and wait, and returns when the attempts'
// goroutines have ended. Exchanges in progress fail. It may be called twice.
func (p *Pool) Close() {
	var dead, busy []*Conn
	var jobs []*job
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	for j := range p.jobs {
		jobs = append(jobs, j)
	}
	for _, h := range p.hosts {
		for w := h.waiters.First(); w != nil; w = h.waiters.First() {
			w.failLocked(ErrPoolClosed)
		}
		h.stop()
	}
	for c := p.ghosts.First(); c != nil; c = p.ghosts.First() {
		c.inAll.Remove()
		busy = append(busy, c)
	}
	for c := p.all.First(); c != nil; c = p.all.First() {
		if c.leases == 0 {
			dead = append(dead, c)
		} else {
			busy = append(busy, c)
		}
		p.unlinkLocked(c, "client closed")
	}
	p.mu.Unlock()
	for _, j := range jobs {
		j.cancel(ErrPoolClosed)
	}
	p.bury(false, busy...) // whatever their holders do with them just now
	p.bury(true, dead...)
	p.running.Wait()
}

// Stats counts.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Stats{Open: p.all.Len(), Idle: p.idle.Len(), Dialing: len(p.jobs), Counters: p.counter}
	for _, h := range p.hosts {
		s.Waiting += h.waiters.Len()
	}
	return s
}

// Snapshots describes every open connection, oldest first.
func (p *Pool) Snapshots() []Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]Snapshot, 0, p.all.Len())
	for c := range p.all.All {
		s := Snapshot{ID: c.id, Route: c.link.Route, Protocol: c.link.Protocol, Created: p.started.Add(c.created), Leases: int(c.leases)}
		if c.leases == 0 {
			s.IdleSince = p.started.Add(c.idleSince)
		}
		out = append(out, s)
	}
	return out
}
