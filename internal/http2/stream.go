package http2

import (
	"net"
	"time"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/http2/hpack"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// Stream is one exchange (RFC 9113, 5). Its methods are those of the codec that
// the client drives: one goroutine may send while another receives, and Cancel,
// AbortWrite and the read timeout's methods may be called from any.
//
// Its two sides end on their own. A side has an error that is nil while it goes
// on; what has been received before an error can still be read.
type Stream struct {
	conn    *Conn
	options httpsem.ExchangeOptions

	// Guarded by conn.mu, all of it.
	id       uint32 // 0 before WriteHead
	open     bool   // it is in conn.streams: the peer may send on it
	over     bool   // End was called
	canceled bool
	reset    *httpsem.StreamError // the reset that ended it, of either side

	// The sending half.
	send     half
	window   int64 // what the peer will take
	sendErr  error
	abort    bool
	finished bool  // END_STREAM was sent
	start    int64 // where its HEADERS begin in all that was put on its way
	bodyDue  bool
	listed   bool // it is in conn.blocked

	// The receiving half.
	receive       half
	held          bool          // the read timeout does not run
	patience      time.Duration // in its place; 0: none
	wantsHead     bool          // what is waited for
	head, connect bool          // the method is HEAD, CONNECT
	asked         *origin       // nil where pushes are refused
	heads         messages
	headSpare     int64 // bytes that heads and trailers may still have
	interim       int
	responded     bool  // the final head has come
	noBody        bool  // no body belongs to it
	declared      int64 // its Content-Length, -1 for none
	arrived       int64 // bytes of the body
	queue         queue
	into          []byte // of a reader that waits
	got           int    // bytes in it
	taken         int64  // bytes of the body that were read
	trailer       *hpack.Block
	ended         bool // END_STREAM came
	recvErr       error
	recv          window
	began         int64 // when its head was sent
	any           bool  // something has come

	// own is set once the whole response is here and its head is being read: the
	// receiving side belongs to its reader then, without the lock. Only that one may
	// look at own without it.
	own bool
}

// NewStream returns a stream that is begun by WriteHead.
func (c *Conn) NewStream() *Stream {
	s := &Stream{conn: c, declared: -1}
	s.send.init(s, true)
	s.receive.init(s, false)
	return s
}

// Begin sets what the exchange asks for.
func (s *Stream) Begin(o httpsem.ExchangeOptions) {
	s.options = o
	s.headSpare = o.MaxHead
	if s.headSpare <= 0 {
		s.headSpare = httpsem.DefaultMaxHead
	}
}

// Sent reports whether any byte of the request may have left.
func (s *Stream) Sent() bool {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	return s.id != 0 && s.start < s.conn.taken
}

// Received reports whether anything has come on the stream.
func (s *Stream) Received() bool {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	return s.any
}

// HoldReadTimeout suspends the read timeout until StartReadTimeout.
func (s *Stream) HoldReadTimeout() {
	s.conn.mu.Lock()
	s.held = true
	s.receive.due = 0
	s.conn.mu.Unlock()
}

// StartReadTimeout lets the read timeout count from now on, for a read that is
// blocked as well.
func (s *Stream) StartReadTimeout() {
	c := s.conn
	c.mu.Lock()
	s.held = false
	if h := &s.receive; h.waits || c.reader == h {
		if limit := h.limitLocked(); limit > 0 {
			h.due = c.now() + int64(limit)
			c.armLocked(h.due)
		}
	}
	c.mu.Unlock()
}

// AbortWrite makes a blocked or later write fail at once. The response can be
// read on.
func (s *Stream) AbortWrite() {
	s.conn.mu.Lock()
	s.abort = true
	s.conn.wakeLocked(&s.send)
	s.conn.mu.Unlock()
}

// Cancel ends the exchange at once, on both sides.
func (s *Stream) Cancel() {
	c := s.conn
	c.mu.Lock()
	if !s.over && !s.canceled && !s.own {
		s.canceled = true
		c.doubtLocked(s)
		s.giveUpLocked(frame.Cancel, errCanceled)
		c.flushLocked()
	}
	c.unlock()
}

// giveUpLocked ends the stream from our side, unless it has ended by itself.
func (s *Stream) giveUpLocked(code frame.ErrCode, err error) {
	c := s.conn
	if s.open {
		s.closeLocked()
		c.resetLocked(s.id, code)
		if s.reset == nil {
			s.reset = streamError(code, false)
		}
	}
	s.failLocked(err, err)
}

// failLocked ends the halves that have not ended, and wakes who waits.
func (s *Stream) failLocked(send, recv error) {
	s.open = false
	if s.sendErr == nil && !s.finished && send != nil {
		s.sendErr = send
	}
	if s.recvErr == nil && !s.ended && recv != nil {
		s.recvErr = recv
	}
	s.conn.wakeLocked(&s.send)
	s.conn.wakeLocked(&s.receive)
}

// closeLocked takes the stream out of the connection: nothing of it is expected
// any more.
func (s *Stream) closeLocked() {
	c := s.conn
	if s.open {
		s.open = false
		delete(c.streams, s.id)
		if len(c.streams) == 0 && c.err == nil {
			c.armLocked(c.now() + int64(idleTick))
		}
	}
}

// settleLocked closes the stream if both sides have ended.
func (s *Stream) settleLocked() {
	if s.finished && s.ended {
		s.closeLocked()
	}
}

// End ends the exchange, and reports whether the connection may carry others;
// reason says why not.
func (s *Stream) End() (reusable bool, reason string) {
	c := s.conn
	if s.own && !c.unfit.Load() {
		s.queue.drop()
		dropBlock(s.trailer)
		s.trailer = nil
		return true, ""
	}
	c.mu.Lock()
	if s.open {
		s.giveUpLocked(frame.Cancel, errCanceled)
	}
	s.over = true
	s.queue.drop()
	s.heads.drop()
	dropBlock(s.trailer)
	s.trailer = nil
	reason = s.doubtLocked()
	c.flushLocked()
	c.unlock()
	return reason == "", reason
}

// doubtLocked says why the connection should carry no other exchange, or "".
func (s *Stream) doubtLocked() string {
	c := s.conn
	switch {
	case c.err != nil:
		return c.err.Error()
	case c.retired != "":
		return c.retired
	case s.reset == nil:
		return ""
	}
	switch code := frame.ErrCode(s.reset.Code); {
	case s.reset.Remote && code == frame.RefusedStream:
		if c.refused++; c.refused > 1 {
			return "the peer keeps refusing streams"
		}
	case code == frame.NoError, code == frame.Cancel:
	default:
		return s.reset.Error()
	}
	return ""
}

// Hijack is for connections that are handed over as a whole, which those of
// HTTP/2 never are.
func (s *Stream) Hijack() (conn net.Conn, readAhead []byte) { return nil, nil }
