package http2

import (
	"sync"
	"time"
)

// half is the waiting of one side of a stream: of whoever sends the request, or
// of whoever receives the response. Guarded by Conn.mu.
type half struct {
	stream  *Stream
	sending bool // the request's
	waits   bool // somebody waits, not reading
	wake    chan struct{}
	due     int64 // when the wait ends; 0: never
	late    bool  // it has
}

// wakes are for those who wait: a token each. One may be left from an earlier
// wait, so whoever wakes must look again.
var wakes = sync.Pool{New: func() any { return make(chan struct{}, 1) }}

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
// meanwhile. The lock is held, but not while it waits.
func (c *Conn) await(h *half) {
	if h.ready() {
		return
	}
	c.watchLocked(h)
	c.waiting++
	c.most = max(c.most, c.waiting)
	for !h.ready() {
		if c.reading == nobodyReads && c.err == nil {
			c.readFor(h)
			continue
		}
		h.wake = wakes.Get().(chan struct{})
		h.waits = true
		c.unlock()
		<-h.wake
		c.mu.Lock()
		h.waits = false
		wakes.Put(h.wake)
		h.wake = nil
	}
	c.waiting--
	h.due = 0
}

// wakeLocked makes h look again.
func (c *Conn) wakeLocked(h *half) {
	switch {
	case h.waits:
		select {
		case h.wake <- struct{}{}:
		default:
		}
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
