package connect

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// Why a connection that was idle is not used again.
var (
	errClosedByPeer = errors.New("closed by the peer")
	errUnsolicited  = errors.New("the peer sent bytes that nobody asked for")
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
	ready readabler // nil for all but in-memory connections
}

// readabler is implemented by in-memory connections that can be asked what a
// socket's peek would tell: how many bytes wait, and io.EOF or another error
// once nothing will come after them.
type readabler interface{ Readable() (n int, err error) }

func newProbe(l Link) *probe {
	p := &probe{link: l}
	below := l.Raw
	for {
		if r, ok := below.(readabler); ok {
			p.ready = r
			break
		}
		if s, ok := below.(syscall.Conn); ok {
			if raw, err := s.SyscallConn(); err == nil {
				p.raw = raw
			}
			break
		}
		// The same convention as tls.Conn's, for wrappers that count or log.
		w, ok := below.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		below = w.NetConn()
	}
	p.bare = below == l.Conn
	p.peek = func(fd uintptr) { p.saw = peekSocket(fd) }
	return p
}

// check returns nil if the connection seems good, else why it is not.
func (p *probe) check() error {
	saw, err := p.look()
	if err != nil {
		return err
	}
	switch saw {
	case glanceQuiet:
		return nil
	case glanceEnded:
		return errClosedByPeer
	case glanceReadable:
		if p.bare {
			return errUnsolicited
		}
		return p.read(probeWait)
	case glanceUnknown:
		if p.raw != nil {
			return p.read(probeWait) // a socket, on a platform without peek
		}
		// In memory: a deadline that has passed is enough to learn of an end.
		return p.read(-time.Second)
	}
	panic("BUG: unknown glance")
}

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
	var one [1]byte
	n, err := c.Read(one[:])
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

// endOfRead names the usual ends. A pipe whose other end is closed says EOF to
// a read, but ErrClosedPipe to a new deadline.
func endOfRead(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return errClosedByPeer
	}
	return err
}
