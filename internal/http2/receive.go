package http2

import (
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/http2/hpack"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// errShortBody is a body that ends before its Content-Length.
var errShortBody error = &httpsem.ProtocolError{Reason: "the response body is shorter than its Content-Length", Err: io.ErrUnexpectedEOF}

// dataLocked takes in the header of a DATA frame of the stream.
func (s *Stream) dataLocked(h frame.Header, d incoming) error {
	c := s.conn
	s.any = true
	c.live.quiet = 0
	switch {
	case s.ended:
		return c.offenceLocked(s.id, frame.StreamClosed, "DATA after the end of the response")
	case !s.recv.take(int64(h.Length)):
		s.refuseLocked(frame.FlowControlError, malformed("more DATA than the stream's window allows"))
		return nil
	}
	s.recv.give(int64(h.Length) - int64(d.left))
	s.arrived += int64(d.left)
	switch {
	case !s.responded:
		s.refuseLocked(frame.ProtocolError, malformed("DATA before the response head"))
	case s.noBody && d.left > 0:
		s.refuseLocked(frame.ProtocolError, malformed("a body where none belongs"))
	case s.declared >= 0 && s.arrived > s.declared:
		s.refuseLocked(frame.ProtocolError, malformed("the response body is longer than its Content-Length"))
	case d.left == 0 && d.padding == 0 && h.Flags.Has(frame.EndStream):
		s.endLocked()
	}
	return nil
}

// deliverLocked takes in bytes of the body: straight to whoever waits for them,
// or into the queue. more is what comes next.
func (s *Stream) deliverLocked(b []byte, more int) {
	if s.into != nil && s.queue.len() == 0 {
		n := copy(s.into[s.got:], b)
		s.got += n
		b = b[n:]
	}
	if len(b) > 0 {
		s.queue.add(b, more)
	}
	s.conn.notifyLocked(&s.receive)
}

// AwaitHead waits at most d for a response head. It reports false, without error,
// when d passed in silence.
func (s *Stream) AwaitHead(d time.Duration) (bool, error) {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	s.wantsHead, s.patience = true, max(d, 1)
	c.await(&s.receive)
	s.patience = 0
	late := s.receive.late
	s.receive.late = false
	switch {
	case s.heads.len() > 0:
		return true, nil
	case s.recvErr != nil:
		return false, s.recvErr
	case late:
		return false, nil
	}
	return false, errNoStream
}

// ReadHead reads the next response head into resp.
func (s *Stream) ReadHead(req *http.Request, resp *http.Response) error {
	c := s.conn
	c.mu.Lock()
	s.wantsHead = true
	handed := c.await(&s.receive)
	if s.heads.len() == 0 {
		err := s.failedLocked()
		c.unlock()
		return err
	}
	if !handed {
		s.own = s.receive.takesOverLocked()
	}
	m := s.heads.next()
	over := s.ended && s.queue.len() == 0
	if !handed {
		c.unlock()
	}

	resp.StatusCode = m.status
	resp.Status = statusText(m.status)
	resp.Proto, resp.ProtoMajor, resp.ProtoMinor = "HTTP/2.0", 2, 0
	resp.Header = hpack.Header(m.block.Fields)
	resp.Uncompressed = false
	resp.TransferEncoding, resp.Close = nil, false
	putBlock(m.block)
	if m.lengths > 1 {
		resp.Header["Content-Length"] = []string{strconv.FormatInt(m.declared, 10)}
	}
	resp.Trailer = httpsem.AnnouncedTrailer(resp.Header)
	switch {
	case m.status < 200:
		resp.ContentLength = 0
	case s.noBody && req.Method != http.MethodHead:
		resp.ContentLength = 0
	case m.declared < 0 && over && req.Method != http.MethodHead && !s.tunnels():
		resp.ContentLength = 0
	default:
		resp.ContentLength = m.declared
	}
	return nil
}

// takesOverLocked reports whether the whole response is here for one who wants its
// head, and nothing can come or go on the stream any more.
func (h *half) takesOverLocked() bool {
	s := h.stream
	return h == &s.receive && s.wantsHead && s.patience == 0 && s.heads.len() == 1 && s.heads.first.status >= 200 &&
		s.finished && s.ended && !s.open && s.reset == nil && s.recvErr == nil && !s.canceled && !h.late
}

// failedLocked says why the response cannot be had, and ends the stream if its
// time was up.
func (s *Stream) failedLocked() error {
	switch {
	case s.recvErr != nil:
		return s.recvErr
	case s.receive.late:
		s.receive.late = false
		err := &httpsem.TimeoutError{Op: httpsem.TimeoutRead, After: s.options.ReadTimeout}
		s.timedOutLocked(err)
		return err
	case s.canceled:
		return errCanceled
	}
	return errNoStream
}

// timedOutLocked ends the stream because we have waited long enough.
func (s *Stream) timedOutLocked(err error) {
	c := s.conn
	c.doubtLocked(s)
	s.giveUpLocked(frame.Cancel, err)
	c.flushLocked()
}

// tunnels reports whether the stream is a tunnel: what goes through it is no
// body.
func (s *Stream) tunnels() bool { return s.connect }

// statusText is the status as net/http has it.
func statusText(code int) string {
	if code == http.StatusOK {
		return "200 OK"
	}
	n := strconv.Itoa(code)
	if text := http.StatusText(code); text != "" {
		return n + " " + text
	}
	return n + " "
}

// BodyLength returns the number of body bytes still to come, or -1 if that is
// unknown, after a final head.
func (s *Stream) BodyLength() int64 {
	if !s.own {
		s.conn.mu.Lock()
		defer s.conn.mu.Unlock()
	}
	switch {
	case s.ended && s.queue.len() == 0, s.noBody:
		return 0
	case s.declared >= 0:
		return s.declared - s.taken
	default:
		return -1
	}
}

// ReadBody reads the response body. At its end it returns io.EOF, possibly
// together with the last bytes.
func (s *Stream) ReadBody(p []byte) (int, error) {
	if s.own {
		if len(p) == 0 && !s.endedLocked() {
			return 0, nil
		}
		return s.readLocked(s.queue.read(p))
	}
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	if len(p) == 0 && !s.endedLocked() && s.recvErr == nil {
		return 0, nil
	}
	if s.queue.len() == 0 && !s.ended && s.recvErr == nil {
		s.wantsHead = false
		s.into, s.got = p, 0
		c.await(&s.receive)
		n := s.got
		s.into, s.got = nil, 0
		if n > 0 {
			s.receive.late = false
			// What has come since lies in the queue: it is the next read's.
			return s.readLocked(n)
		}
	}
	if s.canceled {
		return 0, errCanceled
	}
	return s.readLocked(s.queue.read(p))
}

// endedLocked reports whether the body was read to its end.
func (s *Stream) endedLocked() bool { return s.ended && s.queue.len() == 0 }

// readLocked counts n bytes as read, and says whether the body goes on.
func (s *Stream) readLocked(n int) (int, error) {
	if n > 0 {
		s.consumeLocked(int64(n))
	}
	switch {
	case s.endedLocked():
		return n, io.EOF
	case n > 0:
		return n, nil
	}
	return 0, s.failedLocked()
}

// consumeLocked opens the stream's window again when enough was read.
func (s *Stream) consumeLocked(n int64) {
	c := s.conn
	s.taken += n
	s.recv.give(n)
	if s.ended || !s.open {
		return
	}
	if n := s.recv.due(c.live.heard, c.rtt); n > 0 {
		out := c.outLocked()
		*out = frame.AppendWindowUpdate(*out, s.id, uint32(n))
		c.flushLocked()
	}
}

// WriteBodyTo copies the response body to w, at most limit bytes of it if that is
// not negative. It returns io.EOF if that was the end of the body.
func (s *Stream) WriteBodyTo(w io.Writer, limit int64) (written int64, err error) {
	if limit < 0 {
		limit = math.MaxInt64
	}
	for {
		p, err := s.takePiece(limit - written)
		if p == nil {
			return written, err
		}
		n := int(min(int64(p.w-p.r), limit-written))
		m, err := w.Write(p.b[p.r : p.r+n])
		m = min(max(m, 0), n)
		if err == nil && m < n {
			err = io.ErrShortWrite
		}
		p.r += m
		written += int64(m)
		s.returnPiece(p, m)
		if err != nil {
			return written, &httpsem.SinkError{Err: err}
		}
	}
}

// takePiece waits for bytes of the body and takes some out of the queue. It
// returns nil, and why, at the end of the body, or when no more are wanted.
func (s *Stream) takePiece(wanted int64) (*piece, error) {
	c := s.conn
	if !s.own {
		c.mu.Lock()
		defer c.unlock()
	}
	if s.endedLocked() {
		return nil, io.EOF
	}
	if wanted <= 0 {
		return nil, nil
	}
	if s.queue.len() == 0 {
		s.wantsHead = false
		c.await(&s.receive)
	}
	switch {
	case s.canceled:
		return nil, errCanceled
	case s.queue.len() > 0:
		s.receive.late = false
		return s.queue.take(), nil
	case s.ended:
		return nil, io.EOF
	}
	return nil, s.failedLocked()
}

// returnPiece puts back what is left of a piece, of which n bytes were read.
func (s *Stream) returnPiece(p *piece, n int) {
	c := s.conn
	if !s.own {
		c.mu.Lock()
		defer c.unlock()
	}
	if p.r < p.w && !s.over {
		s.queue.back(p)
	} else {
		putPiece(p)
	}
	s.consumeLocked(int64(n))
}

// Trailer returns the trailers after the body's EOF; nil if there were none.
func (s *Stream) Trailer() http.Header {
	if !s.own {
		s.conn.mu.Lock()
	}
	b := s.trailer
	s.trailer = nil
	if !s.own {
		s.conn.mu.Unlock()
	}
	if b == nil {
		return nil
	}
	h := hpack.Header(b.Fields)
	putBlock(b)
	return h
}

// Drain drops the rest of the body, and reports whether that was its end, or is
// within d. It waits only if what is to come is known to be at most limit bytes:
// to reset a stream costs less than to read on, but servers count resets.
func (s *Stream) Drain(limit int64, d time.Duration) bool {
	if s.own {
		s.queue.drop()
		return true
	}
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	s.patience = max(d, 1)
	defer func() { s.patience = 0 }()
	for {
		if n := s.queue.drop(); n > 0 {
			s.consumeLocked(n)
		}
		switch {
		case s.ended:
			return true
		case s.recvErr != nil, s.canceled, s.receive.late:
			s.receive.late = false
			return false
		case s.declared < 0, s.declared-s.arrived > limit:
			return false
		}
		s.wantsHead = false
		c.await(&s.receive)
	}
}
