package http2

import (
	"runtime"
	"sync"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
)

// outputs are buffers of frames to be sent.
var outputs = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

func putOutput(b *[]byte) {
	if cap(*b) <= outKept+maxDataFrame {
		*b = (*b)[:0]
		outputs.Put(b)
	}
}

// outLocked is what frames are appended to.
func (c *Conn) outLocked() *[]byte {
	if c.out == nil {
		c.out = outputs.Get().(*[]byte)
	}
	return c.out
}

func (c *Conn) dropOutLocked() {
	if c.out != nil {
		putOutput(c.out)
		c.out = nil
	}
}

// roomLocked reports whether a request body may put more into the buffer.
func (c *Conn) roomLocked() bool {
	return !c.flushing || c.out == nil || len(*c.out) < outRoom
}

// flushLocked sends what is in the buffer, unless somebody is at it already: he
// sends this as well. The lock is given back meanwhile.
func (c *Conn) flushLocked() {
	if c.flushing || c.out == nil || len(*c.out) == 0 || c.err != nil {
		return
	}
	c.flushing = true
	if len(c.streams) > 1 {
		// Others are likely to have something to send, too: one system call is
		// dearer than a turn of theirs.
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
	}
	c.sendLocked()
}

// sendLocked sends for all until nothing is left, or the socket takes no more:
// then a goroutine waits for it, since nobody's call must.
func (c *Conn) sendLocked() {
	for c.out != nil && len(*c.out) > 0 && c.err == nil {
		out := c.out
		c.out = nil
		c.answers = 0
		c.taken += int64(len(*out))
		if c.live.unanswered == 0 {
			c.live.unanswered = c.now()
		}
		c.mu.Unlock()
		kept, err := c.socket.WriteNow(*out)
		putOutput(out)
		c.mu.Lock()
		switch {
		case err != nil:
			c.flushing = false
			c.failLocked(&lostError{err})
			return
		case kept:
			c.draining = true
			c.workers.Add(1)
			go c.drain()
			return
		}
		c.wakeBlockedLocked()
	}
	c.flushing = false
	c.wakeBlockedLocked()
}

// drain waits until the socket has taken what it could not take at once, and goes
// on with what has come meanwhile.
func (c *Conn) drain() {
	defer c.workers.Done()
	err := c.socket.Drain()
	c.mu.Lock()
	c.draining = false
	if err != nil {
		c.flushing = false
		if c.err == nil {
			c.failLocked(&lostError{err})
		}
	} else {
		c.sendLocked()
	}
	c.unlock()
}

// wakeBlockedLocked wakes those that waited for room, or for the connection's
// window.
func (c *Conn) wakeBlockedLocked() {
	for i, s := range c.blocked {
		s.listed = false
		c.wakeLocked(&s.send)
		c.blocked[i] = nil
	}
	c.blocked = c.blocked[:0]
}

// answerLocked makes room for an answer to a frame of the peer's. A peer that
// makes us answer and does not read the answers is not to fill our memory.
func (c *Conn) answerLocked() (*[]byte, error) {
	if c.answers++; c.answers > maxAnswers {
		return nil, connFault(frame.EnhanceYourCalm, "the peer asks for more answers than it reads")
	}
	return c.outLocked(), nil
}

// resetLocked tells the peer that a stream is over.
func (c *Conn) resetLocked(id uint32, code frame.ErrCode) {
	out := c.outLocked()
	*out = frame.AppendRSTStream(*out, id, code)
	c.forgotten.add(id)
}
