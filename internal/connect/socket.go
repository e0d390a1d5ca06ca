package connect

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/okhttp-go/okhttp/internal/http2"
)

// errNothingNow is what ReadNow gives where nothing has arrived.
var errNothingNow = http2.ErrNothing

// socket is what a connection runs on that serves many exchanges at once: none of
// them may keep the others waiting in a write, and the connection must be able
// to look at what has arrived without waiting for it.
//
// One goroutine at a time reads (Read, ReadNow, WaitReadable), and one writes
// (WriteNow, Drain). The others may be called at any time.
type socket interface {
	// Read waits for bytes, until the read deadline. Nothing is lost when that
	// passes.
	Read(p []byte) (int, error)

	// SetReadDeadline bounds Read and WaitReadable, also one that waits already.
	SetReadDeadline(t time.Time) error

	// ReadNow is Read that does not wait: it gives 0 and errNothingNow instead.
	ReadNow(p []byte) (int, error)

	// WriteNow sends what can be sent without waiting and keeps the rest. If it
	// kept something Drain must be called before the next WriteNow.
	WriteNow(p []byte) (kept bool, err error)

	// Drain waits until what was kept is sent.
	Drain() error

	// WaitReadable waits, without a buffer, until Read would not wait, or the read
	// deadline passes. It is for after ReadNow has found nothing. Where that
	// cannot be had it fails with errors.ErrUnsupported.
	WaitReadable() error

	// Close ends everything at once.
	Close() error

	// CloseGracefully says goodbye if that takes no time, waits as long as linger for
	// the peer to close its end, and closes.
	CloseGracefully(linger time.Duration)
}

// newSocket makes a socket of a link, on which nothing but that is used from now
// on.
func newSocket(l Link) socket {
	if l.under != nil {
		if l.under.raw == nil && l.under.ready == nil {
			p := newPump(l.under.Conn)
			l.under.Conn, l.under.ready = p, p
		}
		l.under.box = newOutbox(l.under.Conn, l.under.raw)
		s := &tlsSocket{conn: l.Conn.(*tls.Conn), under: l.under}
		s.wait = waiting(l.under.raw)
		return s
	}
	if s, ok := plainSocket(l.Conn); ok && canPeek {
		if raw, err := s.SyscallConn(); err == nil {
			return newKernelSocket(l.Conn, raw)
		}
	}
	if ready, ok := bottom(l.Conn).(readabler); ok {
		return &lentSocket{Conn: l.Conn, ready: ready, box: newOutbox(l.Conn, nil)}
	}
	p := newPump(l.Conn)
	return &lentSocket{Conn: p, ready: p, box: newOutbox(p, nil)}
}

// kernelSocket is a plain TCP or Unix socket.
type kernelSocket struct {
	net.Conn
	raw  syscall.RawConn
	wait func(fd uintptr) (done bool)

	// Owned by the reader.
	into    []byte
	read    func(fd uintptr) // made once, as send is
	n       int
	readErr error

	// Owned by the writer.
	send sender
	kept []byte
}

func newKernelSocket(c net.Conn, raw syscall.RawConn) *kernelSocket {
	s := &kernelSocket{Conn: c, raw: raw, wait: waiting(raw), send: newSender(raw)}
	s.read = func(fd uintptr) { s.n, s.readErr = readSocket(fd, s.into) }
	return s
}

// waiting returns what RawConn.Read needs to wait for something to read.
func waiting(raw syscall.RawConn) func(fd uintptr) (done bool) {
	if raw == nil {
		return nil
	}
	return func(fd uintptr) bool { return peekSocket(fd) != glanceQuiet }
}

func (s *kernelSocket) ReadNow(p []byte) (int, error) {
	s.into = p
	err := s.raw.Control(s.read)
	s.into = nil
	switch {
	case err != nil:
		return 0, err
	case s.readErr == errNothing:
		return 0, errNothingNow
	case s.readErr != nil:
		return 0, os.NewSyscallError("read", s.readErr)
	case s.n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return s.n, nil
}

func (s *kernelSocket) WriteNow(p []byte) (bool, error) {
	n, err := s.send.now(p)
	if err != nil || n == len(p) {
		return false, err
	}
	s.kept = append(s.kept, p[n:]...)
	return true, nil
}

func (s *kernelSocket) Drain() error {
	_, err := s.Conn.Write(s.kept)
	s.kept = nil // it is rare, and a connection is idle most of the time
	return err
}

func (s *kernelSocket) WaitReadable() error { return s.raw.Read(s.wait) }

// CloseGracefully reads what the peer has sent: closing a socket with bytes unread
// resets it, and then the peer may not see what was written last.
func (s *kernelSocket) CloseGracefully(linger time.Duration) {
	defer s.Conn.Close()
	half, ok := s.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	discard(s.Conn, linger)
}

// maxLinger bounds what is read of a peer that was told that nothing more is wanted.
const maxLinger = 1 << 20

// discard reads c until its end, an error, or the time given has passed.
func discard(c net.Conn, d time.Duration) {
	if d <= 0 || c.SetReadDeadline(time.Now().Add(d)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, c, maxLinger)
}

// tlsSocket is TLS over a socket of any kind.
type tlsSocket struct {
	conn  *tls.Conn
	under *floor
	wait  func(fd uintptr) (done bool)
}

func (s *tlsSocket) Read(p []byte) (int, error) { return s.conn.Read(p) }

// SetReadDeadline sets the deadline of the socket below, which is enough: TLS
// waits for nothing else.
func (s *tlsSocket) SetReadDeadline(t time.Time) error { return s.under.Conn.SetReadDeadline(t) }

func (s *tlsSocket) ReadNow(p []byte) (int, error) {
	s.under.glancing = true
	n, err := s.conn.Read(p)
	s.under.glancing = false
	if err == errNothing {
		err = errNothingNow
	}
	return n, err
}

// WriteNow lets TLS make records of p and sends them together.
func (s *tlsSocket) WriteNow(p []byte) (bool, error) {
	s.under.box.hold(len(p))
	_, err := s.conn.Write(p)
	kept, sendErr := s.under.box.letGo()
	if err == nil {
		err = sendErr
	}
	return kept && err == nil, err
}

func (s *tlsSocket) Drain() error { return s.under.box.drain() }

func (s *tlsSocket) WaitReadable() error {
	if s.wait != nil {
		return s.under.raw.Read(s.wait)
	}
	return waitReadable(s.under.ready)
}

// Close closes the socket below, since TLS would say goodbye first.
func (s *tlsSocket) Close() error { return s.under.Conn.Close() }

func (s *tlsSocket) CloseGracefully(linger time.Duration) {
	if linger > 0 {
		s.under.leave(goodbyeTime)
		if s.conn.CloseWrite() == nil {
			discard(s.under.Conn, linger)
		}
	}
	s.under.leave(goodbyeTime)
	s.conn.Close()
}

// lentSocket is a connection that somebody else made: in memory, or a dialer's
// own. It cannot be written to without waiting.
type lentSocket struct {
	net.Conn
	ready readabler
	box   *outbox
}

func (s *lentSocket) ReadNow(p []byte) (int, error) {
	switch n, err := s.ready.Readable(); {
	case n > 0:
		return s.Conn.Read(p[:min(n, len(p))])
	case err != nil:
		return 0, err
	default:
		return 0, errNothingNow
	}
}

func (s *lentSocket) WriteNow(p []byte) (bool, error) {
	s.box.hold(len(p))
	s.box.put(p)
	return s.box.letGo()
}

func (s *lentSocket) Drain() error { return s.box.drain() }

func (s *lentSocket) WaitReadable() error { return waitReadable(s.ready) }

func (s *lentSocket) CloseGracefully(time.Duration) {
	s.box.goodbye()
	s.Conn.Close()
}

func waitReadable(r readabler) error {
	if w, ok := r.(interface{ WaitReadable() error }); ok {
		return w.WaitReadable()
	}
	return errors.ErrUnsupported
}
