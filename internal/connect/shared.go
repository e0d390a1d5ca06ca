package connect

import (
	"errors"
	"math"
	"time"
)

// engine speaks a protocol that carries many exchanges at once: HTTP/2.
type engine interface {
	// newCodec makes the codec of one exchange.
	newCodec() Codec

	// Start sends what the protocol begins with, where no exchange does so.
	Start()

	// Check takes in what has arrived, without waiting, and says why no exchange
	// should begin.
	Check() error

	// Close ends the connection, and returns when its goroutines have ended.
	Close(graceful bool)
}

// reports are what an engine tells of its connection. They are called without a
// lock of the engine's, one at a time and in order, on its own goroutines or
// those of its callers. They do not block, and do not call back.
type reports struct {
	LimitChanged func(exchanges int) // how many the peer allows at once
	Suspect      func(why string)    // whether it lives is in doubt; "" ends that
	Retired      func(why string)    // no exchange may begin any more; those that are open go on
	Closed       func(error)         // the socket is closed
}

const (
	// assumedLimit is how many exchanges a peer is given to carry at once that
	// has not said in good time how many it allows (RFC 9113 section 6.5.2 asks
	// servers for at least this many).
	assumedLimit = 100

	// settleTime is how long the calls that wait for a new connection are held
	// back, all but the first, until the peer has said how many it allows. Its
	// word comes with the first bytes as a rule; those who come too soon are
	// refused.
	settleTime = 50 * time.Millisecond
)

// shared is what a connection has of its own that carries many exchanges at once.
// Guarded by pool.mu, but for the engine.
type shared struct {
	engine engine // nil on HTTP/1; written once

	suspect bool
	young   *time.Timer // until the peer has said its limit, or settleTime has passed
	begun   bool        // it was leased before
	apart   bool        // it must not serve other hosts
}

func (c *Conn) reports() reports {
	return reports{LimitChanged: c.limitChanged, Suspect: c.suspected, Retired: c.retire, Closed: c.closed}
}

var (
	errSuspect = errors.New("the peer may be gone: it has not answered")
	errSurplus = errors.New("the peer allows fewer exchanges at once than it did")
)

// checkLease is Check for a lease that others share: it is given up if the peer
// wants fewer of them.
func (c *Conn) checkLease() error {
	p := c.pool
	p.mu.Lock()
	retired, suspect := c.retired, c.suspect
	surplus := c.young == nil && c.leases > c.limit
	alone := c.leases == 1
	p.mu.Unlock()
	switch {
	case retired != "":
		return errors.New(retired)
	case suspect:
		return errSuspect
	case surplus:
		return errSurplus
	case alone:
		return c.engine.Check()
	}
	return nil
}

// Multiplexed reports whether the connection carries many exchanges at once.
func (c *Conn) Multiplexed() bool { return c.engine != nil }

// roomLocked reports whether c takes another lease.
func (c *Conn) roomLocked() bool {
	return c.leases < c.limit && c.retired == "" && !c.suspect && c.inAll.Linked()
}

// fitsLocked is roomLocked for one who would else open a connection of its own:
// it need not wait for the peer's word.
func (c *Conn) fitsLocked() bool {
	limit := c.limit
	if c.young != nil {
		limit = assumedLimit
	}
	return c.engine != nil && c.leases < limit && c.retired == "" && !c.suspect && c.inAll.Linked()
}

// fittingLocked finds a connection of h that carries many exchanges and takes one
// more, so that a new one is needless.
func (h *host) fittingLocked() *Conn {
	if h.young != nil && h.young.fitsLocked() {
		return h.young
	}
	for c := range h.available.All {
		if c.fitsLocked() && !c.aged() {
			return c
		}
	}
	return nil
}

// leaseLocked takes a lease on c for one more exchange and reports whether it had
// one before.
func (p *Pool) leaseLocked(c *Conn) (reused bool) {
	reused, c.begun = c.begun, true
	if reused {
		p.counter.Reused++
	}
	c.idle.Remove()
	c.leases++
	if !c.roomLocked() {
		c.available.Remove()
	}
	return reused
}

// shareLocked gives what c has to spare to those who wait for h, in their order,
// and puts c where it belongs: c's own host or another that it serves. It returns
// why c must be closed instead, or "".
func (p *Pool) shareLocked(c *Conn, h *host) string {
	for c.roomLocked() {
		w := h.waiters.First()
		if w == nil {
			break
		}
		w.reused = p.leaseLocked(c)
		w.serveLocked(c)
	}
	switch {
	case !c.roomLocked():
		c.available.Remove()
	case !c.available.Linked():
		c.host.available.PushFront(&c.available, c)
	}
	if c.leases > 0 || c.retired != "" || c.idle.Linked() {
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

// releaseShared is Release for a connection that others may hold too.
func (p *Pool) releaseShared(c *Conn, reusable bool, reason string) {
	var dead []*Conn
	p.mu.Lock()
	c.leases--
	if !c.inAll.Linked() { // the pool was closed
		p.mu.Unlock()
		return
	}
	why := ""
	switch {
	case c.retired != "":
		why = c.retired
	case !reusable:
		why = reason
	case c.aged():
		p.counter.Evicted++
		why = "maximum age"
	default:
		why = p.shareLocked(c, c.host)
	}
	if why != "" && p.retireLocked(c, why) {
		dead = append(dead, c)
	}
	dead = p.trimLocked(dead)
	p.mu.Unlock()
	p.bury(true, dead...)
}

// retireLocked takes c out of use: it serves those who hold it, and is closed when
// the last of them has let go. It reports whether nobody holds it; then it is
// unlinked, and the caller buries it.
//
// Its place in its host's limit is free at once. Else one exchange without end on
// a connection that the peer gives up would keep all others from the host.
func (p *Pool) retireLocked(c *Conn, why string) (dead bool) {
	if c.leases == 0 {
		p.unlinkLocked(c, why)
		return true
	}
	if c.retired == "" {
		c.retired = why
	}
	p.settleLocked(c)
	c.available.Remove()
	p.unindexLocked(c)
	p.leaveLocked(c)
	return false
}

// settleLocked ends the time in which c is held back.
func (p *Pool) settleLocked(c *Conn) {
	if c.young != nil {
		c.young.Stop()
		c.young = nil
	}
	if c.host.young == c {
		c.host.young = nil
	}
}

// limitChanged: the peer allows n exchanges at once. More serve those who wait,
// at once; fewer are for new ones only.
func (c *Conn) limitChanged(n int) {
	p := c.pool
	p.mu.Lock()
	c.limit = int32(min(n, math.MaxInt32))
	p.settleLocked(c)
	p.reconsiderLocked(c)
}

// settled ends the wait for the peer's word on its limit.
func (c *Conn) settled() {
	p := c.pool
	p.mu.Lock()
	if c.young != nil {
		c.limit = assumedLimit
	}
	p.settleLocked(c)
	p.reconsiderLocked(c)
}

func (c *Conn) suspected(why string) {
	p := c.pool
	p.mu.Lock()
	c.suspect = why != ""
	p.reconsiderLocked(c)
}

// reconsiderLocked puts c where it belongs after a change, lets those who wait
// have what they can, and gives the lock back.
func (p *Pool) reconsiderLocked(c *Conn) {
	defer p.mu.Unlock()
	if p.closed || c.retired != "" || !c.inAll.Linked() {
		return
	}
	if why := p.shareLocked(c, c.host); why != "" && p.retireLocked(c, why) {
		p.buryLaterLocked(c)
	}
	p.startJobsLocked(c.host)
}

func (c *Conn) retire(why string) {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.inAll.Linked() && c.retired == "" && p.retireLocked(c, why) {
		p.buryLaterLocked(c)
	}
}

// closed: what was open on c has failed. Those who hold it will let go of it soon;
// until then it is in no count.
func (c *Conn) closed(err error) {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if !c.inAll.Linked() {
		return
	}
	why := "closed"
	if err != nil {
		why = err.Error()
	}
	if p.retireLocked(c, why) {
		p.buryLaterLocked(c)
		return
	}
	c.inAll.Remove()
	p.ghosts.PushBack(&c.inAll, c)
}

// buryLaterLocked buries c from a goroutine of its own, since its engine waits for
// the caller.
func (p *Pool) buryLaterLocked(c *Conn) {
	if p.closed {
		return // whoever closed it buries everything
	}
	p.running.Add(1)
	go func() {
		defer p.running.Done()
		p.bury(true, c)
	}()
}
