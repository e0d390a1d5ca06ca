package http2

import (
	"sync"
	"sync/atomic"
	"time"
)

// half is the waiting of one side of a stream: of whoever sends the request, or
// of whoever receives the response. Guarded by Conn.mu.
type half struct {
	stream  *Stream
	sending bool // the request's
	waits   bool // somebody waits, not reading
	wake    sync.Cond
	due     int64 // when the wait ends; 0: never
	late    bool  // it has

	// handed says that whoever waits need not take the lock: the stream is theirs.
	handed atomic.Bool
}

// waitersLock is Conn.mu for those who wait: it is given back when the wait
// begins, and not taken again when it ends.
type waitersLock Conn

func (l *waitersLock) Unlock() { (*Conn)(l).unlock() }
func (l *waitersLock) Lock()   {}

// init makes h the waiting of one side of s.
func (h *half) init(s *Stream, sending bool) {
	h.stream, h.sending = s, sending
	h.wake.L = (*waitersLock)(s.conn)
}

// ready reports whether there is an end to the wait.
func (h *half) ready() bool {
	s := h.stream
	if h.late {
		return true
	}
	if h.sending {
		return s.sendErr != nil || s.abort || s.window > 0 && s.conn.sendWindow > 0 && s.conn.roomLocked()
	}
	if s.recvErr != nil || s.ended || s.canceled {
		return true
	}
	if s.wantsHead {
		return s.heads.len() > 0
	}
	return s.got > 0 || s.queue.len() > 0
}

// await waits until h is ready. If nobody reads the connection it does so itself
// meanwhile. The lock is held, but not while it waits. If the stream was handed
// over it returns true, without the lock.
func (c *Conn) await(h *half) (handed bool) {
	if h.ready() {
		return false
	}
	c.watchLocked(h)
	c.waiting++
	c.most = max(c.most, c.waiting)
	for !h.ready() {
		if c.reading == nobodyReads && c.err == nil {
			c.readFor(h)
			continue
		}
		h.waits = true
		h.wake.Wait() // gives the lock back
		if h.handed.Load() {
			return true
		}
		c.mu.Lock()
		if h.handed.Load() { // just now: we were woken for something else
			c.unlock()
			return true
		}
		h.waits = false
	}
	c.waiting--
	h.due = 0
	return false
}

// handLocked wakes one who waits for a head and gives it the stream, of which
// nothing is to come any more. A hundred that are woken at once would else stand
// in line for the lock, for each part of a response that is all there.
func (c *Conn) handLocked(h *half) {
	h.stream.own = true
	c.waiting--
	h.waits = false
	h.due = 0
	h.handed.Store(true)
	h.wake.Signal()
}

// wakeLocked makes h look again.
func (c *Conn) wakeLocked(h *half) {
	switch {
	case h.waits:
		h.wake.Signal()
	case c.reader == h:
		c.kickLocked()
	}
}

// kickLocked has whoever reads look up.
func (c *Conn) kickLocked() {
	if !c.kicked {
		c.kicked = true
		_ = c.socket.SetReadDeadline(time.Unix(1, 0)) // fails on a closed socket, where nobody waits
	}
}

// watchLocked sees to it that h is told when its time is over, and that the
// peer's silence is noticed.
func (c *Conn) watchLocked(h *half) {
	now := c.now()
	h.late = false
	h.due = 0
	if limit := h.limitLocked(); limit > 0 {
		h.due = now + int64(limit)
		c.armLocked(h.due)
	}
	c.armLocked(now + int64(idleTick))
}

// limitLocked is how long h may wait, 0 for ever.
func (h *half) limitLocked() time.Duration {
	s := h.stream
	switch {
	case h.sending:
		return s.options.WriteTimeout
	case s.patience > 0:
		return s.patience
	case s.held:
		return 0
	default:
		return s.options.ReadTimeout
	}
}
