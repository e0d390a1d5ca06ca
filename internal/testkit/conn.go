package testkit

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// bufferSize is how much one direction of a connection holds that was written
// and not yet read; a writer blocks beyond it, as on a socket.
const bufferSize = 64 << 10

// Conn is one end of an in-memory connection that behaves like TCP: buffered
// both ways, with deadlines, half-close, and resets. Its errors are those of
// package net. Everything that blocks does so durably in a synctest bubble.
type Conn struct {
	wire          *wire
	in, out       *stream
	local, remote net.Addr
	onClose       func() // called once, without a lock; may be nil

	// Guarded by wire.mu.
	closed        bool
	linger        bool // Close ends in order; false after SetLinger(0)
	readDeadline  deadline
	writeDeadline deadline
}

// wire is what the two ends share.
type wire struct {
	mu     sync.Mutex
	silent bool // nothing passes any more, not even an end
	ab, ba stream
}

// stream is one direction, guarded by wire.mu.
type stream struct {
	buf      []byte
	budget   int64 // bytes that pass before the wire falls silent; negative: no limit
	lost     int   // bytes that were sent into silence and fill the sender's buffer
	readErr  error // met once buf is empty
	writeErr error
	changed  chan struct{} // closed and replaced at each change
}

// Pipe returns the two ends of a connection that belongs to no network. Call it
// in the synctest bubble in which the ends are used.
func Pipe() (client, server *Conn) {
	return newPair(
		&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 49152},
		&net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 80},
	)
}

func newPair(a, b net.Addr) (*Conn, *Conn) {
	w := &wire{
		ab: stream{budget: -1, changed: make(chan struct{})},
		ba: stream{budget: -1, changed: make(chan struct{})},
	}
	return &Conn{wire: w, in: &w.ba, out: &w.ab, local: a, remote: b, linger: true},
		&Conn{wire: w, in: &w.ab, out: &w.ba, local: b, remote: a, linger: true}
}

// wake lets everybody who waits on the stream look again.
func (s *stream) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Read reads what has arrived. After a close of the peer it returns what is
// left, then io.EOF; after a reset nothing but ECONNRESET.
func (c *Conn) Read(p []byte) (int, error) {
	w := c.wire
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		switch s := c.in; {
		case c.closed:
			return 0, c.opError("read", net.ErrClosed)
		case c.readDeadline.passed():
			return 0, c.opError("read", os.ErrDeadlineExceeded)
		case len(p) == 0:
			return 0, nil
		case len(s.buf) > 0:
			n := copy(p, s.buf)
			s.buf = s.buf[n:]
			s.wake()
			return n, nil
		case s.readErr == io.EOF:
			return 0, io.EOF
		case s.readErr != nil:
			return 0, c.opError("read", s.readErr)
		}
		c.wait(c.in)
	}
}

// Write hands p over, and blocks while the buffer of this direction is full.
// After a close of the peer it fails with EPIPE, after a reset with ECONNRESET.
func (c *Conn) Write(p []byte) (int, error) {
	w := c.wire
	w.mu.Lock()
	defer w.mu.Unlock()
	for n := 0; ; {
		s := c.out
		switch {
		case c.closed:
			return n, c.opError("write", net.ErrClosed)
		case c.writeDeadline.passed():
			return n, c.opError("write", os.ErrDeadlineExceeded)
		case s.writeErr != nil:
			return n, c.opError("write", s.writeErr)
		}
		n += w.send(s, p[n:])
		if n == len(p) {
			return n, nil
		}
		c.wait(s)
	}
}

// WriteNow is Write that does not wait: it hands over what there is room for.
func (c *Conn) WriteNow(p []byte) (int, error) {
	w := c.wire
	w.mu.Lock()
	defer w.mu.Unlock()
	switch s := c.out; {
	case c.closed:
		return 0, c.opError("write", net.ErrClosed)
	case s.writeErr != nil:
		return 0, c.opError("write", s.writeErr)
	default:
		return max(0, w.send(s, p)), nil
	}
}

// WaitReadable waits until Read would not, or the read deadline has passed.
func (c *Conn) WaitReadable() error {
	w := c.wire
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		switch s := c.in; {
		case c.closed:
			return c.opError("read", net.ErrClosed)
		case c.readDeadline.passed():
			return c.opError("read", os.ErrDeadlineExceeded)
		case len(s.buf) > 0, s.readErr != nil:
			return nil
		}
		c.wait(c.in)
	}
}

// send takes what fits of p.
func (w *wire) send(s *stream, p []byte) int {
	taken := min(len(p), bufferSize-len(s.buf)-s.lost)
	if taken <= 0 {
		return 0
	}
	passed := taken
	if s.budget >= 0 {
		passed = int(min(int64(taken), s.budget))
		s.budget -= int64(passed)
	}
	if w.silent {
		passed = 0
	}
	s.buf = append(s.buf, p[:passed]...)
	s.lost += taken - passed
	if s.budget == 0 {
		w.silent = true
	}
	if passed > 0 {
		s.wake()
	}
	return taken
}

// wait gives the lock back until the stream changes.
func (c *Conn) wait(s *stream) {
	changed := s.changed
	c.wire.mu.Unlock()
	<-changed
	c.wire.mu.Lock()
}

// Readable tells what a peek at a socket would: the number of bytes that can be
// read at once, and, where there are none, the error that a Read would return
// at once: io.EOF, a reset, net.ErrClosed, or nil if it would block.
func (c *Conn) Readable() (int, error) {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	switch {
	case c.closed:
		return 0, net.ErrClosed
	case len(c.in.buf) > 0:
		return len(c.in.buf), nil
	default:
		return 0, c.in.readErr
	}
}

// Close ends this end in order: the peer reads what was written, then io.EOF,
// and can write no more. After SetLinger(0) it is [Conn.Abort].
func (c *Conn) Close() error { return c.end(false) }

// Abort resets the connection: the peer's next read or write, also one that is
// blocked, fails with ECONNRESET, and what it had not read yet is lost.
func (c *Conn) Abort() error { return c.end(true) }

func (c *Conn) end(reset bool) error {
	w := c.wire
	w.mu.Lock()
	if c.closed {
		w.mu.Unlock()
		return c.opError("close", net.ErrClosed)
	}
	c.closed = true
	c.in.buf = nil
	c.readDeadline.stop()
	c.writeDeadline.stop()
	if !w.silent {
		if reset || !c.linger {
			c.out.buf = nil
			c.out.readErr = os.NewSyscallError("read", syscall.ECONNRESET)
			c.in.writeErr = os.NewSyscallError("write", syscall.ECONNRESET)
		} else {
			if c.out.readErr == nil {
				c.out.readErr = io.EOF
			}
			c.in.writeErr = os.NewSyscallError("write", syscall.EPIPE)
		}
	}
	c.in.wake()
	c.out.wake()
	w.mu.Unlock()
	if c.onClose != nil {
		c.onClose()
	}
	return nil
}

// CloseWrite ends what this end sends: the peer reads the rest, then io.EOF.
func (c *Conn) CloseWrite() error {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	if c.closed {
		return c.opError("close", net.ErrClosed)
	}
	if c.out.writeErr == nil {
		c.out.writeErr = os.NewSyscallError("write", syscall.EPIPE)
	}
	if c.out.readErr == nil && !c.wire.silent {
		c.out.readErr = io.EOF
	}
	c.out.wake()
	return nil
}

// SetLinger makes Close a reset if seconds is 0, as a TCP connection does.
func (c *Conn) SetLinger(seconds int) error {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	c.linger = seconds != 0
	return nil
}

// Silence makes the connection half-dead, as a NAT gateway does that forgot it:
// from now on nothing passes either way, not even an end, and nobody is told.
// What had passed can still be read; writes succeed until the buffer is full.
func (c *Conn) Silence() {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	c.wire.silent = true
}

// LocalAddr returns the address of this end.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the address of the other end.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline bounds reads, also one that is blocked.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.setDeadline(&c.readDeadline, c.in, t)
}

// SetWriteDeadline bounds writes, also one that is blocked.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.setDeadline(&c.writeDeadline, c.out, t)
}

func (c *Conn) setDeadline(d *deadline, s *stream, t time.Time) error {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	if c.closed {
		return c.opError("set", net.ErrClosed)
	}
	d.stop()
	d.at = t
	if wait := time.Until(t); !t.IsZero() && wait > 0 {
		d.timer = time.AfterFunc(wait, func() {
			c.wire.mu.Lock()
			defer c.wire.mu.Unlock()
			s.wake()
		})
	}
	s.wake()
	return nil
}

// deadline is a point in time at which whoever waits is woken.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

func (c *Conn) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}
