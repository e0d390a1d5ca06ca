package http2

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// liveness is what is known of whether the peer lives. A connection from which a
// router on the way has taken its state looks open for ever, so a peer that is
// silent while somebody waits for it is asked, one question at a time. If it does
// not answer the connection is given up.
type liveness struct {
	started    int64  // when the preface was written
	heard      int64  // when something came last
	unanswered int64  // when something was sent after which nothing has come; 0: something has
	asked      int64  // when a ping was sent that is not answered; 0: none is
	question   uint64 // what was in it
	quiet      int64  // how long the peer may be silent before it is asked next
	suspect    bool
}

// heardLocked notes that something has come.
func (c *Conn) heardLocked() {
	l := &c.live
	l.heard = c.now()
	l.unanswered = 0
	if l.suspect {
		l.suspect = false
		c.pending = append(c.pending, func() { c.config.Reports.Suspect("") })
	}
}

// pongLocked takes an answer, and reports whether it was asked for.
func (c *Conn) pongLocked(data [8]byte) bool {
	l := &c.live
	if l.asked == 0 || binary.BigEndian.Uint64(data[:]) != l.question {
		return false
	}
	if rtt := l.heard - l.asked; c.rtt == 0 || rtt < c.rtt {
		c.rtt = rtt
	}
	l.asked = 0
	return true
}

// pingLocked asks the peer whether it lives, unless that has been asked already.
// The time for the answer runs from now, whenever the question can be sent.
func (c *Conn) pingLocked() {
	l := &c.live
	if l.asked != 0 || c.err != nil || !c.began {
		return
	}
	l.asked = c.now()
	l.question++
	var data [8]byte
	binary.BigEndian.PutUint64(data[:], l.question)
	out := c.outLocked()
	*out = frame.AppendPing(*out, false, data)
	c.armLocked(l.asked + int64(c.patienceLocked()))
	if l.unanswered == 0 {
		l.unanswered = l.asked
	}
}

// patienceLocked is how long an answer may take.
func (c *Conn) patienceLocked() time.Duration {
	if d := c.config.PingInterval; d > 0 {
		return min(d, pingTime)
	}
	return pingTime
}

// doubtLocked puts the connection in doubt because a stream was given up on which
// the peer has been silent. A peer that says something on other streams lives.
func (c *Conn) doubtLocked(s *Stream) {
	l := &c.live
	if !s.open || c.err != nil || l.unanswered == 0 {
		return
	}
	if c.now()-l.unanswered < int64(doubtTime) {
		return
	}
	if !l.suspect {
		l.suspect = true
		c.pending = append(c.pending, func() { c.config.Reports.Suspect("the peer has not answered") })
	}
	c.pingLocked()
}

// armLocked has tick called at the time given, or before.
func (c *Conn) armLocked(at int64) {
	if c.err != nil || c.timerAt != 0 && c.timerAt <= at {
		return
	}
	c.timerAt = at
	d := max(time.Duration(at-c.now()), 0)
	if c.timer == nil {
		c.timer = time.AfterFunc(d, c.tick)
	} else {
		c.timer.Reset(d)
	}
}

func (c *Conn) stopTimerLocked() {
	if c.timer != nil {
		c.timer.Stop()
	}
	c.timerAt = 0
}

// tick does all that is due.
func (c *Conn) tick() {
	c.mu.Lock()
	c.timerAt = 0
	if c.err == nil {
		now := c.now()
		next := c.expireLocked(now)
		next = min(next, c.askLocked(now))
		if c.err == nil {
			next = min(next, c.mindLocked(now))
		}
		if next < math.MaxInt64 {
			c.armLocked(next)
		}
		c.flushLocked()
	}
	c.unlock()
}

// expireLocked wakes those whose time is over, and returns when that of the next
// will be.
func (c *Conn) expireLocked(now int64) (next int64) {
	next = math.MaxInt64
	for _, s := range c.streams {
		for _, h := range [...]*half{&s.send, &s.receive} {
			switch {
			case h.due == 0:
			case h.due <= now:
				h.due = 0
				h.late = true
				c.wakeLocked(h)
			default:
				next = min(next, h.due)
			}
		}
	}
	return next
}

// askLocked sees whether the peer must be asked for a sign of life, or has failed
// to give one, and returns when to look again.
func (c *Conn) askLocked(now int64) (next int64) {
	l := &c.live
	if l.asked != 0 {
		patience := c.patienceLocked()
		if now-l.asked < int64(patience) {
			return l.asked + int64(patience)
		}
		if l.heard < l.asked {
			c.closeLocked(&httpsem.LivenessError{After: patience}, frame.NoError, true)
			return math.MaxInt64
		}
		l.asked = 0 // it lives, if it does not answer
	}
	next = math.MaxInt64
	last := max(l.heard, l.started)
	if d := int64(c.config.PingInterval); d > 0 {
		if now-last >= d {
			c.pingLocked()
		}
		next = max(last+d, now+d/8)
	}
	if len(c.streams) == 0 {
		l.quiet = 0
		return next
	}
	if l.quiet == 0 {
		l.quiet = int64(silence)
	}
	since := max(last, l.unanswered)
	if c.waiting == 0 {
		return min(next, now+int64(idleTick))
	}
	if now-since >= l.quiet {
		c.pingLocked()
		l.quiet = min(l.quiet*silenceGrowth, int64(maxSilence))
		return next
	}
	return min(next, since+l.quiet)
}

// mindLocked sees to it that somebody reads the connection, and returns when to
// look again.
func (c *Conn) mindLocked(now int64) (next int64) {
	switch c.reading {
	case nobodyReads:
		if c.releases == c.idleFor {
			c.startLoopLocked()
			break
		}
		c.idleFor = c.releases
		return now + int64(idleTick)
	case loopReads:
		if c.parked && len(c.streams) == 0 {
			c.kickLocked() // it needs no buffer now
		}
	case callerReads:
	}
	if len(c.streams) > 0 {
		return now + int64(idleTick)
	}
	return math.MaxInt64
}
