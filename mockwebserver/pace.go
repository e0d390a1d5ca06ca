package mockwebserver

import (
	"errors"
	"time"
)

// rate is a throttle: bytes in each period. The zero rate has no limit.
type rate struct {
	bytes  int64
	period time.Duration
}

// errOver says that the connection has come to its scripted end.
var errOver = errors.New("mockwebserver: the connection is over")

// pace leads a body through its throttle and to the effects at its middle. Both
// directions use it: before n bytes are moved, next says how many may be.
type pace struct {
	x    paced
	rate rate
	left int64 // bytes until the throttle's next pause
	at   Trigger
	half int64 // bytes until the effects; halfUnknown, or halfPassed
}

const (
	halfPassed  = -1 // or nothing happens there
	halfUnknown = -2 // the body's length is not known
)

// paced is whose body moves. Its methods report whether that goes on.
type paced interface {
	sleep(time.Duration) bool
	act(Trigger) bool
}

func (x *exchange) newPace(at Trigger, r rate, length int64) *pace {
	return newPace(x, x.response, at, r, length)
}

func (x *exchange) sleep(d time.Duration) bool { return x.c.sleep(d) }

// newPace is for a body of length bytes, -1 if that is not known.
func newPace(x paced, response Response, at Trigger, r rate, length int64) *pace {
	p := &pace{x: x, rate: r, left: r.bytes, at: at, half: length / 2}
	switch {
	case !response.has(at):
		p.half = halfPassed
	case length < 0:
		p.half = halfUnknown
	}
	return p
}

// next waits as the throttle wants, acts when the middle is reached, and
// returns how many of want bytes to move now.
func (p *pace) next(want int) (int, error) {
	if p.half == 0 {
		if err := p.middle(); err != nil {
			return 0, err
		}
	}
	n := int64(want)
	if n == 0 {
		return 0, nil
	}
	if p.half > 0 {
		n = min(n, p.half)
	}
	if p.rate.bytes > 0 {
		if p.left == 0 {
			if !p.x.sleep(p.rate.period) {
				return 0, errOver
			}
			p.left = p.rate.bytes
		}
		n = min(n, p.left)
	}
	return int(n), nil
}

// moved counts n bytes.
func (p *pace) moved(n int) {
	if p.half > 0 {
		p.half -= int64(n)
	}
	if p.rate.bytes > 0 {
		p.left -= int64(n)
	}
}

// middle acts, if that is still to come.
func (p *pace) middle() error {
	if p.half == halfPassed {
		return nil
	}
	p.half = halfPassed
	if !p.x.act(p.at) {
		return errOver
	}
	return nil
}
