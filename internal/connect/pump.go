package connect

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pump reads ahead from a connection that can neither be looked at nor read
// without waiting, and may know no deadlines: one that a dialer made of its own.
// With that it can do both. Its goroutine begins with the first read and lives
// as long as the connection.
type pump struct {
	net.Conn
	signal chan struct{} // has a token when something has changed for the reader
	more   chan struct{} // has a token when the buffer is empty
	ended  chan struct{} // closed by Close

	mu       sync.Mutex
	started  bool
	closed   bool
	arrived  []byte // in the goroutine's buffer, which it leaves alone meanwhile
	err      error  // after what has arrived
	deadline time.Time
}

// pumpSize is how much is read ahead.
const pumpSize = 16 << 10

// maxIdleReads is how many reads in a row may bring neither bytes nor an error.
const maxIdleReads = 100

func newPump(c net.Conn) *pump {
	return &pump{Conn: c, signal: make(chan struct{}, 1), more: make(chan struct{}, 1), ended: make(chan struct{})}
}

// NetConn returns the connection itself.
func (p *pump) NetConn() net.Conn { return p.Conn }

// Read waits for what has arrived, until the read deadline. One goroutine at a
// time may read.
func (p *pump) Read(into []byte) (int, error) {
	if err := p.WaitReadable(); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.arrived) == 0 {
		return 0, p.err
	}
	n := copy(into, p.arrived)
	p.arrived = p.arrived[n:]
	if len(p.arrived) == 0 && p.err == nil {
		tell(p.more)
	}
	return n, nil
}

// Readable says how many bytes have arrived, or else why none will.
func (p *pump) Readable() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.startLocked()
	if len(p.arrived) > 0 {
		return len(p.arrived), nil
	}
	return 0, p.err
}

// WaitReadable waits until Read has something to give, or the read deadline
// passes.
func (p *pump) WaitReadable() error {
	var timer *time.Timer
	for {
		p.mu.Lock()
		p.startLocked()
		ready, deadline := len(p.arrived) > 0 || p.err != nil, p.deadline
		closed := p.closed
		p.mu.Unlock()
		if closed {
			return net.ErrClosed
		}
		var late <-chan time.Time
		if !deadline.IsZero() {
			left := time.Until(deadline)
			if left <= 0 {
				return os.ErrDeadlineExceeded
			}
			if !ready {
				if timer == nil {
					timer = time.NewTimer(left)
					defer timer.Stop()
				} else {
					timer.Reset(left)
				}
				late = timer.C
			}
		}
		if ready {
			return nil
		}
		select {
		case <-p.signal:
		case <-late:
		}
	}
}

// SetReadDeadline bounds reads, also one that waits already.
func (p *pump) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return net.ErrClosed
	}
	p.deadline = t
	tell(p.signal)
	return nil
}

// SetDeadline sets both deadlines.
func (p *pump) SetDeadline(t time.Time) error {
	if err := p.SetReadDeadline(t); err != nil {
		return err
	}
	return p.SetWriteDeadline(t)
}

// Close closes the connection; the goroutine ends when its read does.
func (p *pump) Close() error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		p.arrived, p.err = nil, net.ErrClosed
		close(p.ended)
		tell(p.signal)
	}
	p.mu.Unlock()
	return p.Conn.Close()
}

func (p *pump) startLocked() {
	if !p.started && !p.closed {
		p.started = true
		go p.run()
	}
}

func (p *pump) run() {
	buffer := make([]byte, pumpSize)
	for idle := 0; ; {
		n, err := p.Conn.Read(buffer)
		if n == 0 && err == nil {
			if idle++; idle < maxIdleReads {
				continue
			}
			err = io.ErrNoProgress
		}
		idle = 0
		p.mu.Lock()
		if !p.closed {
			p.arrived, p.err = buffer[:n], err
		}
		p.mu.Unlock()
		tell(p.signal)
		if err != nil {
			return
		}
		select {
		case <-p.more:
		case <-p.ended:
			return
		}
	}
}

// tell leaves a token, if there is none.
func tell(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
