package http1

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// lateWait is how long a read may take whose deadline has passed before it is
// clear that the connection knows no deadlines.
const lateWait = 50 * time.Millisecond

// late is a read that outlasted the question whether anything has arrived. What
// it brings belongs to the next exchange.
type late struct {
	one  [1]byte
	n    int
	err  error
	done chan struct{}
}

// Idle tells, between exchanges, whether the connection is still good, by
// reading from it: a byte or an error says that it is not. It is for connections
// that offer no other way. Most of them, a net.Pipe, a wrapper around a socket,
// take a deadline that has passed as the wish not to wait. Some ignore deadlines,
// or refuse them, as a tunnel through SSH does: there the read is left waiting,
// and the next exchange begins with what it brings.
func (c *Conn) Idle() (n int, err error) {
	l := c.late
	if l == nil {
		refused := c.conn.SetReadDeadline(longAgo)
		if refused != nil && (errors.Is(refused, net.ErrClosed) || errors.Is(refused, io.ErrClosedPipe)) {
			return 0, refused
		}
		l = &late{done: make(chan struct{})}
		go func() {
			l.n, l.err = c.conn.Read(l.one[:])
			close(l.done)
		}()
		if refused != nil || !waitLate(l.done) {
			_ = c.conn.SetReadDeadline(time.Time{})
			c.late = l
			return 0, nil
		}
	} else {
		select {
		case <-l.done:
			c.late = nil
		default:
			return 0, nil
		}
	}
	switch {
	case l.n > 0:
		return l.n, nil
	case errors.Is(l.err, os.ErrDeadlineExceeded):
		return 0, c.conn.SetReadDeadline(time.Time{})
	case l.err == nil: // a read that gives nothing makes no sense
		return 0, io.EOF
	default:
		return 0, l.err
	}
}

func waitLate(done <-chan struct{}) bool {
	t := time.NewTimer(lateWait)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// take waits for the late read and gives what it brought.
func (l *late) take(p []byte) (int, error) {
	<-l.done
	return copy(p, l.one[:l.n]), l.err
}
