package mockwebserver

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// pipeCapacity is how much one direction of a pipe holds.
const pipeCapacity = 64 << 10

const errRefused = syscall.ECONNREFUSED

func pipeError(op string, err error) error {
	return &net.OpError{Op: op, Net: "pipe", Addr: pipeAddr("localhost:80"), Err: err}
}

// pipeConn is one end of a connection in memory.
type pipeConn struct {
	in, out       *pipeBuffer
	readDeadline  deadline
	writeDeadline deadline
	local, remote pipeAddr

	mu     sync.Mutex
	linger int // as in net.TCPConn.SetLinger; 0 makes Close a reset
}

func newPipeConns() (client, server *pipeConn) {
	up, down := new(pipeBuffer), new(pipeBuffer)
	client = &pipeConn{in: down, out: up, local: "client", remote: "localhost:80", linger: -1}
	server = &pipeConn{in: up, out: down, local: "localhost:80", remote: "client", linger: -1}
	return client, server
}

func (c *pipeConn) Read(p []byte) (int, error) {
	n, err := c.in.read(p, &c.readDeadline)
	if err != nil && err != io.EOF {
		err = pipeError("read", err)
	}
	return n, err
}

func (c *pipeConn) Write(p []byte) (int, error) {
	n, err := c.out.write(p, &c.writeDeadline)
	if err != nil {
		err = pipeError("write", err)
	}
	return n, err
}

// CloseWrite lets the peer read io.EOF after what was written so far.
func (c *pipeConn) CloseWrite() error {
	c.out.update(func(b *pipeBuffer) { b.writerDone = true })
	return nil
}

// CloseRead makes reads return io.EOF at once, and the peer's writes fail.
func (c *pipeConn) CloseRead() error {
	c.in.update(func(b *pipeBuffer) { b.readerDone, b.data = true, nil })
	return nil
}

// SetLinger with 0 makes a later Close reset the connection: what the peer has
// not read yet is lost.
func (c *pipeConn) SetLinger(seconds int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.linger = seconds
	return nil
}

func (c *pipeConn) Close() error {
	c.mu.Lock()
	reset := c.linger == 0
	c.mu.Unlock()
	for _, b := range []*pipeBuffer{c.in, c.out} {
		mine := b == c.out
		b.update(func(b *pipeBuffer) {
			switch {
			case mine:
				b.writerClosed, b.writerDone = true, true
			default:
				b.readerClosed, b.readerDone, b.data = true, true, nil
			}
			if reset {
				b.reset, b.data = true, nil
			}
		})
	}
	return nil
}

func (c *pipeConn) LocalAddr() net.Addr  { return c.local }
func (c *pipeConn) RemoteAddr() net.Addr { return c.remote }

func (c *pipeConn) SetDeadline(t time.Time) error {
	c.readDeadline.set(t)
	c.writeDeadline.set(t)
	return nil
}

func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.readDeadline.set(t)
	return nil
}

func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.writeDeadline.set(t)
	return nil
}

// pipeBuffer is one direction of a pipe.
type pipeBuffer struct {
	mu      sync.Mutex
	data    []byte        // not read yet
	store   []byte        // what data is a part of, for reuse
	changed chan struct{} // closed at the next change; nil while nobody waits

	writerDone   bool // no more data will come: reads end with io.EOF
	readerDone   bool // nobody will read: writes fail
	writerClosed bool // the writing end was closed by its owner
	readerClosed bool // the reading end was closed by its owner
	reset        bool // either end was closed with a reset
}

// update changes the buffer and wakes all who wait.
func (b *pipeBuffer) update(change func(*pipeBuffer)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
	b.wakeLocked()
}

func (b *pipeBuffer) wakeLocked() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

func (b *pipeBuffer) waitLocked() <-chan struct{} {
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.changed
}

func (b *pipeBuffer) read(p []byte, d *deadline) (int, error) {
	for {
		n, changed, err := b.tryRead(p, d)
		if changed == nil {
			return n, err
		}
		select {
		case <-changed:
		case <-d.passed():
		}
	}
}

// tryRead reads what is there. If nothing is, it returns a channel that is
// closed once that may have changed.
func (b *pipeBuffer) tryRead(p []byte, d *deadline) (int, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.readerClosed:
		return 0, nil, net.ErrClosed
	case b.reset:
		return 0, nil, syscall.ECONNRESET
	case d.isPassed():
		return 0, nil, os.ErrDeadlineExceeded
	case len(p) == 0:
		return 0, nil, nil
	case len(b.data) > 0:
		n := copy(p, b.data)
		b.data = b.data[n:]
		b.wakeLocked()
		return n, nil, nil
	case b.writerDone || b.readerDone:
		return 0, nil, io.EOF
	}
	return 0, b.waitLocked(), nil
}

func (b *pipeBuffer) write(p []byte, d *deadline) (int, error) {
	written := 0
	for {
		n, changed, err := b.tryWrite(p[written:], d)
		written += n
		if changed == nil {
			return written, err
		}
		select {
		case <-changed:
		case <-d.passed():
		}
	}
}

func (b *pipeBuffer) tryWrite(p []byte, d *deadline) (int, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.writerClosed:
		return 0, nil, net.ErrClosed
	case b.reset:
		return 0, nil, syscall.ECONNRESET
	case b.writerDone || b.readerDone:
		return 0, nil, syscall.EPIPE
	case d.isPassed():
		return 0, nil, os.ErrDeadlineExceeded
	}
	n := min(len(p), pipeCapacity-len(b.data))
	if n > 0 {
		b.appendLocked(p[:n])
		b.wakeLocked()
	}
	if n == len(p) {
		return n, nil, nil
	}
	return n, b.waitLocked(), nil
}

// appendLocked adds to data, which moves to the front of its store once it
// would not fit behind.
func (b *pipeBuffer) appendLocked(p []byte) {
	if cap(b.data)-len(b.data) < len(p) && cap(b.store) >= len(b.data)+len(p) {
		b.data = append(b.store[:0], b.data...)
	}
	b.data = append(b.data, p...)
	if cap(b.data) > cap(b.store) {
		b.store = b.data
	}
}

// deadline is a point in time that a waiting goroutine can wait for while it
// is moved. The zero value never passes.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	done  chan struct{} // closed when the deadline has passed
}

func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if d.done == nil || isClosed(d.done) {
		d.done = make(chan struct{})
	}
	if t.IsZero() {
		return
	}
	wait := time.Until(t)
	if wait <= 0 {
		close(d.done)
		return
	}
	done := d.done
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.timer == timer && !isClosed(done) { // not moved meanwhile
			close(done)
		}
	})
	d.timer = timer
}

func (d *deadline) passed() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done == nil {
		d.done = make(chan struct{})
	}
	return d.done
}

func (d *deadline) isPassed() bool { return isClosed(d.passed()) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
