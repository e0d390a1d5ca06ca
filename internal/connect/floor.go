package connect

import (
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// floor is the socket below TLS. It lets crypto/tls be asked two things that it
// has no words for: whether anything waits to be read, in the socket or already
// in TLS's own buffers, without waiting for it; and to say goodbye without
// waiting for a peer that does not listen.
type floor struct {
	net.Conn
	raw   syscall.RawConn // nil where there is no descriptor that can be read without waiting
	ready readabler       // nil for all but in-memory connections

	// Owned by whoever reads.
	glancing bool // Read must not wait
	into     []byte
	read     func(fd uintptr)
	n        int
	err      error

	wrote bool // TLS had something to say while glancing

	// box takes the writes of a connection that serves many exchanges at once, none
	// of which may wait. Nil for others; set before it is used.
	box *outbox

	leaving  atomic.Bool  // the write deadline is final
	writeEnd atomic.Int64 // the write deadline in Unix nanoseconds, 0 for none
}

// ownWriteTime bounds what TLS writes on its own account, from within a Read:
// the answer to a key update.
const ownWriteTime = time.Second

func newFloor(c net.Conn) *floor {
	f := &floor{Conn: c}
	if below, ok := bottom(c).(readabler); ok {
		f.ready = below
	}
	if s, ok := plainSocket(c); ok && canPeek {
		if raw, err := s.SyscallConn(); err == nil {
			f.raw = raw
			f.read = func(fd uintptr) { f.n, f.err = readSocket(fd, f.into) }
		}
	}
	return f
}

// plainSocket leaves out what only embeds a socket: its own Read may count the
// bytes or make others of them, and must not be passed by.
func plainSocket(c net.Conn) (syscall.Conn, bool) {
	switch c := c.(type) {
	case *net.TCPConn:
		return c, true
	case *net.UnixConn:
		return c, true
	}
	return nil, false
}

// canGlance reports whether a Read can be kept from waiting.
func (f *floor) canGlance() bool { return f.raw != nil || f.ready != nil }

// NetConn returns the socket itself.
func (f *floor) NetConn() net.Conn { return f.Conn }

// errNothing is what a Read that must not wait gives where it would have to. To
// crypto/tls it is one of the errors after which reading can go on.
var errNothing net.Error = nothingError{}

type nothingError struct{}

func (nothingError) Error() string   { return "nothing has arrived" }
func (nothingError) Timeout() bool   { return true }
func (nothingError) Temporary() bool { return true }

func (f *floor) Read(p []byte) (int, error) {
	switch {
	case !f.glancing || len(p) == 0:
		return f.Conn.Read(p)
	case f.ready != nil:
		n, err := f.ready.Readable()
		switch {
		case n > 0:
			return f.Conn.Read(p[:min(n, len(p))])
		case err != nil:
			return 0, err
		default:
			return 0, errNothing
		}
	}
	f.into = p
	// Control, not Read: a read deadline left from the last exchange does not
	// matter to it.
	err := f.raw.Control(f.read)
	f.into = nil
	switch {
	case err != nil:
		return 0, err
	case f.err != nil:
		return 0, f.err
	case f.n == 0:
		return 0, io.EOF
	}
	return f.n, nil
}

// aborted is beyond any deadline that means "at once", and before all others.
const aborted = int64(365 * 24 * time.Hour)

// Write gives a write of TLS's own a deadline of its own. Such a one can be told
// by a deadline that has passed before it begins: the codec sets a new one before
// each of its writes. Were it to fail for that, TLS would keep the error for the
// next request. While glancing nothing is written, since it could block.
func (f *floor) Write(p []byte) (int, error) {
	if f.box != nil {
		if err := f.box.put(p); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	if f.glancing {
		f.wrote = true
		return 0, errNothing
	}
	if end := f.writeEnd.Load(); end > aborted && !f.leaving.Load() {
		if now := time.Now(); now.UnixNano() >= end {
			_ = f.SetWriteDeadline(now.Add(ownWriteTime)) // if it fails, so does the write
		}
	}
	return f.Conn.Write(p)
}

// SetWriteDeadline sets the deadline unless the connection is being closed:
// tls.Conn.Close would allow a peer five seconds.
func (f *floor) SetWriteDeadline(t time.Time) error {
	if f.leaving.Load() {
		return nil
	}
	end := int64(0)
	if !t.IsZero() {
		end = t.UnixNano()
	}
	f.writeEnd.Store(end)
	return f.Conn.SetWriteDeadline(t)
}

// SetDeadline sets both deadlines, with the same exception.
func (f *floor) SetDeadline(t time.Time) error {
	if err := f.SetWriteDeadline(t); err != nil {
		return err
	}
	return f.Conn.SetReadDeadline(t)
}

// leave gives the last writes d, whatever is asked for later.
func (f *floor) leave(d time.Duration) {
	f.leaving.Store(true)
	_ = f.Conn.SetWriteDeadline(time.Now().Add(d)) // fails only on a closed socket
}

// Close closes the socket, after what TLS has to say where that could only be
// kept.
func (f *floor) Close() error {
	if f.box != nil {
		f.box.goodbye()
	}
	return f.Conn.Close()
}

// isBottom reports whether bottom stops at c, for connections that it can look
// at. Connections must not be compared: they may be structs that cannot be.
func isBottom(c net.Conn) bool {
	_, ready := c.(readabler)
	_, socket := c.(syscall.Conn)
	return ready || socket
}

// Close ends the link in the way the protocol has it: over TLS with close_notify,
// if that can be sent at once.
func (l Link) Close() error {
	if l.under != nil {
		l.under.leave(goodbyeTime)
	}
	return l.Conn.Close()
}

// bottom unwraps a connection by the convention of tls.Conn, which wrappers that
// count or log follow.
func bottom(c net.Conn) net.Conn {
	for {
		if _, ok := c.(readabler); ok {
			return c
		}
		if _, ok := c.(syscall.Conn); ok {
			return c
		}
		w, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = w.NetConn()
	}
}
