package connect

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// Why a connection that was idle is not used again.
var (
	errClosedByPeer = errors.New("closed by the peer")
	errUnsolicited  = errors.New("the peer sent bytes that nobody asked for")
	errOwes         = errors.New("the peer waits for an answer of TLS")
)

// glance is what a look at a socket, without reading from it, can tell.
type glance uint8

const (
	// glanceUnknown: the platform or the connection has no way to look; only a
	// read will tell.
	glanceUnknown glance = iota

	// glanceQuiet: open, and nothing has arrived.
	glanceQuiet

	// glanceReadable: bytes have arrived. On an idle HTTP/1 connection they are
	// unsolicited; below TLS they may be a session ticket, which means nothing.
	glanceReadable

	// glanceEnded: the peer has closed or reset the connection.
	glanceEnded
)

// probeWait bounds a read that is there to find out whether the bytes that have
// arrived mean anything. They have arrived, so it takes no time as a rule.
const probeWait = time.Millisecond

// probe tells whether an idle connection is still good, without blocking: the
// peer may have closed it while nobody was reading. What it learns can be out
// of date a moment later; it makes failures rare, not impossible.
//
// A probe is made once for each connection, so that a check allocates nothing.
// It must not be used while another goroutine reads from the connection.
type probe struct {
	link  Link
	bare  bool            // the bytes of the socket are those of the connection: no TLS, no wrapper
	raw   syscall.RawConn // nil where there is none
	peek  func(fd uintptr)
	saw   glance
	one   [1]byte
	ready readabler // nil for all but in-memory connections

	// idle reads where nothing else can tell; nil: like read.
	idle func() (n int, err error)
}

// readabler is implemented by in-memory connections that can be asked what a
// socket's peek would tell: how many bytes wait, and io.EOF or another error
// once nothing will come after them.
type readabler interface{ Readable() (n int, err error) }

func newProbe(l Link) *probe {
	p := &probe{link: l}
	below := bottom(l.Raw)
	if r, ok := below.(readabler); ok {
		p.ready = r
	} else if s, ok := below.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			p.raw = raw
		}
	}
	p.bare = l.TLS == nil && isBottom(l.Conn)
	p.peek = func(fd uintptr) { p.saw = peekSocket(fd) }
	return p
}

// check returns nil if the connection seems good, else why it is not.
func (p *probe) check() error {
	if under := p.link.under; under != nil && under.canGlance() {
		return p.glanceThrough(under)
	}
	for range maxReads {
		again, err := p.checkOnce()
		if !again {
			return err
		}
	}
	return errUnsolicited // it keeps coming, though nothing of it can be read
}

// glanceThrough asks TLS for a byte and keeps it from waiting for one. That also
// finds what TLS has read ahead, where the socket is empty.
func (p *probe) glanceThrough(under *floor) error {
	under.glancing = true
	n, err := p.link.Conn.Read(p.one[:])
	under.glancing = false
	switch {
	case n > 0:
		return errUnsolicited
	case under.wrote:
		return errOwes
	case err == errNothing:
		return nil
	case err == nil: // a read that gives nothing makes no sense
		return errClosedByPeer
	default:
		return endOfRead(err)
	}
}

// maxReads bounds how often bytes that have arrived are looked into.
const maxReads = 3

// checkOnce is check for connections that can only be looked at from below. It
// asks to be called again if a read found nothing although bytes had arrived: it
// may have been given too little time to get at them.
func (p *probe) checkOnce() (again bool, err error) {
	saw, err := p.look()
	if err != nil {
		return false, err
	}
	switch saw {
	case glanceQuiet:
		if !p.bare {
			// What lies between may have read ahead.
			return false, p.read(longPast)
		}
		return false, nil
	case glanceEnded:
		return false, errClosedByPeer
	case glanceReadable:
		if p.bare {
			return false, errUnsolicited
		}
		if err := p.read(probeWait); err != nil {
			return false, err
		}
		after, err := p.look()
		return err == nil && after == glanceReadable, err
	case glanceUnknown:
		if p.raw != nil {
			return false, p.read(probeWait) // a socket, on a platform without peek
		}
		return false, p.readIdle()
	}
	panic("BUG: unknown glance")
}

// longPast is a wait that is over before it begins.
const longPast = -time.Second

func (p *probe) look() (glance, error) {
	switch {
	case p.raw != nil:
		p.saw = glanceUnknown
		// Control, not Read: a read deadline left from the last exchange does not
		// matter to it.
		if err := p.raw.Control(p.peek); err != nil {
			return glanceEnded, err
		}
		return p.saw, nil
	case p.ready != nil:
		n, err := p.ready.Readable()
		switch {
		case n > 0:
			return glanceReadable, nil
		case err != nil:
			return glanceEnded, nil
		default:
			return glanceQuiet, nil
		}
	default:
		return glanceUnknown, nil
	}
}

// read tries to read one byte within d. Only silence is a good answer.
func (p *probe) read(d time.Duration) error {
	c := p.link.Conn
	if err := c.SetReadDeadline(time.Now().Add(d)); err != nil {
		return endOfRead(err)
	}
	n, err := c.Read(p.one[:])
	switch {
	case n > 0:
		return errUnsolicited
	case errors.Is(err, os.ErrDeadlineExceeded):
		return c.SetReadDeadline(time.Time{})
	case err == nil: // a read that gives nothing makes no sense
		return errClosedByPeer
	default:
		return endOfRead(err)
	}
}

// readIdle is for connections below which there is no socket to look at: a read
// with a deadline that has passed tells of an end, if they know deadlines.
func (p *probe) readIdle() error {
	if p.idle == nil {
		return p.read(longPast)
	}
	switch n, err := p.idle(); {
	case n > 0:
		return errUnsolicited
	case err != nil:
		return endOfRead(err)
	default:
		return nil
	}
}

// endOfRead names the usual ends. A pipe whose other end is closed says EOF to
// a read, but ErrClosedPipe to a new deadline.
func endOfRead(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.ECONNRESET) {
		return errClosedByPeer
	}
	return err
}
