package mockwebserver

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/http2/hpack"
)

// h2Stream is a stream: its windows, what was received and not yet read, and how
// its two halves end. One goroutine may read it and another write.
type h2Stream struct {
	h  *h2Conn
	id uint32

	// ctx ends when the stream is over, watched also when the client has hung up
	// and can still read.
	ctx     context.Context
	cancel  context.CancelCauseFunc
	watched context.Context
	hungUp  context.CancelFunc

	readable, writable chan struct{} // have an element if there is something new

	// Guarded by h.mu.
	sendWindow int64
	sent       bool // END_STREAM or RST_STREAM was sent, or the client has reset the stream
	resetSent  bool
	failed     error // why the stream is over before its time
	recvWindow int64
	owed       int64 // what was read and not yet given back to the window
	body       bytes.Buffer
	bodyEnd    error // io.EOF, or what failed; nil while more may come
	declared   int64 // length of the body; -1 if it is not
	received   int64
	trailer    Header
}

func (h *h2Conn) newStream(id uint32, declared int64) *h2Stream {
	s := &h2Stream{h: h, id: id, declared: declared, readable: make(chan struct{}, 1), writable: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancelCause(h.c.ctx)
	s.watched, s.hungUp = context.WithCancel(s.ctx)
	return s
}

// failLocked ends the stream; nobody can read or write it any more but for what
// was received before.
func (s *h2Stream) failLocked(err error) {
	if s.failed != nil {
		return
	}
	s.failed = err
	if s.bodyEnd == nil {
		s.bodyEnd = err
	}
	s.cancel(err)
	s.wake()
}

func (s *h2Stream) wake() {
	wake(s.readable)
	wake(s.writable)
}

// failure returns why the stream is over before its time; nil if it is not.
func (s *h2Stream) failure() error {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	return s.failureLocked()
}

func (s *h2Stream) failureLocked() error {
	if s.failed == nil && s.ctx.Err() != nil {
		return net.ErrClosed // the server is closed
	}
	return s.failed
}

// receiveLocked takes a DATA frame.
func (s *h2Stream) receiveLocked(hd frame.Header, f frame.DataFrame) error {
	size, length := int64(hd.Length), int64(len(f.Data))
	switch {
	case s.bodyEnd != nil && s.failed == nil:
		return streamError(frame.StreamClosed, s.id, "DATA after the end of the request")
	case s.failed != nil:
		return nil
	case size > s.recvWindow:
		return streamError(frame.FlowControlError, s.id, "DATA beyond the window of the stream")
	}
	s.recvWindow -= size
	s.owed += size - length // padding is read at once
	s.received += length
	s.body.Write(f.Data)
	end := hd.Flags.Has(frame.EndStream)
	switch {
	case s.declared >= 0 && (s.received > s.declared || end && s.received < s.declared):
		return streamError(frame.ProtocolError, s.id, "DATA does not match the content-length")
	case end:
		s.bodyEnd = io.EOF
	}
	wake(s.readable)
	return nil
}

// trailLocked takes the header block that ends a request.
func (s *h2Stream) trailLocked(fields []hpack.Field, end, tooLarge bool) error {
	if s.failed != nil {
		return nil
	}
	switch reason := trailerFlaw(fields); {
	case !end:
		return streamError(frame.ProtocolError, s.id, "a trailer without END_STREAM")
	case tooLarge:
		return streamError(frame.EnhanceYourCalm, s.id, "the trailer is too large")
	case reason != "":
		return streamError(frame.ProtocolError, s.id, reason)
	case s.declared >= 0 && s.received < s.declared:
		return streamError(frame.ProtocolError, s.id, "DATA does not match the content-length")
	}
	s.trailer = h2Header(fields)
	s.bodyEnd = io.EOF
	wake(s.readable)
	return nil
}

// read reads the body of the request, and gives what it read back to the window.
// It does not wait any longer than until stop is closed; nil is never.
func (s *h2Stream) read(p []byte, stop <-chan struct{}) (int, error) {
	h := s.h
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case s.body.Len() > 0:
			n, _ := s.body.Read(p) // into memory: cannot fail
			s.owed += int64(n)
			s.grantLocked()
			return n, nil
		case s.bodyEnd != nil:
			return 0, s.bodyEnd
		case s.ctx.Err() != nil:
			return 0, s.failureLocked()
		case isClosed(stop):
			return 0, os.ErrDeadlineExceeded
		}
		h.mu.Unlock()
		select {
		case <-s.readable:
		case <-s.ctx.Done():
		case <-stop:
		}
		h.mu.Lock()
	}
}

// grantLocked gives read bytes back to the window of the stream, if they are
// worth a frame.
func (s *h2Stream) grantLocked() {
	if s.bodyEnd != nil || s.owed == 0 || s.owed < s.recvWindow {
		return
	}
	n := s.owed
	s.owed = 0
	s.recvWindow += n
	s.h.sendLocked(func(dst []byte) []byte { return frame.AppendWindowUpdate(dst, s.id, uint32(n)) })
}

// grantLocked is that for the window of the connection.
func (h *h2Conn) grantLocked() {
	if h.owed == 0 || h.owed < h.recvWindow {
		return
	}
	n := h.owed
	h.owed = 0
	h.recvWindow += n
	h.sendLocked(func(dst []byte) []byte { return frame.AppendWindowUpdate(dst, 0, uint32(n)) })
}

// write sends body bytes as DATA frames, as fast as the windows allow. With end
// the last one, which may be empty, ends the stream. It does not wait any longer
// than until stop is closed; nil is never.
func (s *h2Stream) write(p []byte, end bool, stop <-chan struct{}) (written int, err error) {
	for written < len(p) || end {
		n, err := s.writeSome(p[written:], end, stop)
		if err != nil {
			return written, err
		}
		written += n
		end = end && written < len(p)
	}
	return written, nil
}

// writeSome sends one DATA frame.
func (s *h2Stream) writeSome(p []byte, end bool, stop <-chan struct{}) (int, error) {
	h := s.h
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		if err := s.writeErrorLocked(); err != nil {
			return 0, err
		}
		n := min(int64(len(p)), int64(h.peer.maxFrame), s.sendWindow, h.sendWindow)
		switch {
		case (n > 0 || len(p) == 0) && h.backlogLocked() < dataBacklog:
			end = end && n == int64(len(p))
			s.sent = s.sent || end
			s.sendWindow -= n
			h.sendWindow -= n
			h.sendLocked(func(dst []byte) []byte { return frame.AppendData(dst, s.id, p[:n], end) })
			return int(n), nil
		case n <= 0 && h.inputOver:
			return 0, io.ErrUnexpectedEOF // no window will grow
		case isClosed(stop):
			return 0, os.ErrDeadlineExceeded
		}
		h.mu.Unlock()
		select {
		case <-s.writable:
		case <-s.ctx.Done():
		case <-stop:
		}
		h.mu.Lock()
	}
}

// writeErrorLocked returns why nothing can be sent on the stream.
func (s *h2Stream) writeErrorLocked() error {
	switch {
	case s.failureLocked() != nil:
		return s.failureLocked()
	case s.h.out.err != nil:
		return s.h.out.err
	case s.h.out.shut || s.sent:
		return errOver
	}
	return nil
}

// writeHeaders sends a header block; status is "" for a trailer.
func (s *h2Stream) writeHeaders(status string, fields []Field, end bool) error {
	h := s.h
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := s.writeErrorLocked(); err != nil {
		return err
	}
	s.sent = s.sent || end
	h.sendHeadersLocked(s.id, status, fields, end)
	return nil
}

// isSent reports whether nothing more can be sent.
func (s *h2Stream) isSent() bool {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	return s.sent
}

// reset sends RST_STREAM, whatever was sent before.
func (s *h2Stream) reset(code ErrorCode) {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	s.sent, s.resetSent = true, true
	s.h.sendLocked(func(dst []byte) []byte { return frame.AppendRSTStream(dst, s.id, frame.ErrCode(code)) })
}

// leave ends what is not at its end yet and forgets the stream.
func (s *h2Stream) leave() {
	s.h.mu.Lock()
	over := s.failureLocked() != nil || s.h.closing // a connection that is closed tells nothing of its streams
	unread, unsent := s.bodyEnd == nil, !s.sent
	s.h.mu.Unlock()
	switch {
	case over || s.resetSent:
	case unsent:
		s.reset(CodeCancel)
	case unread:
		s.reset(CodeNoError) // the client may stop sending (RFC 9113, 8.1)
	}
	s.h.forget(s, over || unread || s.resetSent)
}
