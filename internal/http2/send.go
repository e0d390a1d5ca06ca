package http2

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

var (
	errBodyLonger = errors.New("longer than its declared length")
	errBadCount   = errors.New("its Read returned an impossible count")
	errBadTrailer = errors.New("it set a trailer that cannot be sent")

	errBodyShorter error = shortError{}
)

type shortError struct{}

func (shortError) Error() string { return "shorter than its declared length" }
func (shortError) Unwrap() error { return io.ErrUnexpectedEOF }

// maxEmptyReads is how often in a row a request body may give nothing.
const maxEmptyReads = 100

// uploads are buffers that request bodies are read into.
var uploads = sync.Pool{New: func() any { return new([uploadSize]byte) }}

// Flush sends what is buffered.
func (s *Stream) Flush() error {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	if s.sendErr != nil {
		return s.sendErr
	}
	c.flushLocked()
	if c.err != nil && s.sendErr != nil {
		return s.sendErr
	}
	return nil
}

// WriteBody sends the body and, after it, the trailer. If inline, the body is
// small and in memory, and goes out together with the head; else the head is sent
// first and each read of the body at once. It returns how many bytes of the body
// were put on their way.
func (s *Stream) WriteBody(body io.Reader, contentLength int64, inline bool, trailer http.Header) (int64, error) {
	if body == nil {
		body = http.NoBody
	}
	w := &bodyWriter{stream: s, left: contentLength, trailer: trailer}
	var err error
	wt, writesItself := body.(io.WriterTo)
	switch _, file := body.(*os.File); {
	case inline:
		err = w.copyFrom(body)
	default:
		if err := s.Flush(); err != nil {
			return 0, err
		}
		if writesItself && !file && contentLength > 0 && len(trailer) == 0 {
			err = w.takeFrom(wt)
		} else {
			err = w.copyFrom(body)
		}
	}
	if err != nil {
		s.endSend(err)
	}
	return w.sent, err
}

// endSend notes that the request will not be complete.
func (s *Stream) endSend(err error) {
	c := s.conn
	c.mu.Lock()
	if s.sendErr == nil && !s.finished {
		s.sendErr = err
	}
	c.unlock()
}

// bodyWriter sends a request body. It is the io.Writer for those that write
// themselves.
type bodyWriter struct {
	stream  *Stream
	left    int64 // of the declared length; negative if there is none
	sent    int64
	trailer http.Header
	err     error // why nothing more can be sent
}

func bodyError(err error) error { return &httpsem.BodyError{Err: err} }

// copyFrom sends what the body's Read gives, each read at once.
func (w *bodyWriter) copyFrom(body io.Reader) error {
	buf := uploads.Get().(*[uploadSize]byte)
	defer uploads.Put(buf)
	declared := w.left >= 0
	for {
		room := buf[:]
		if declared && int64(len(room)) > w.left+1 {
			room = room[:w.left+1] // one more, to see whether it keeps its word
		}
		n, err := readBody(body, room)
		if declared && int64(n) > w.left {
			return bodyError(errBodyLonger)
		}
		end := err == io.EOF
		if err != nil && !end {
			return err
		}
		if declared {
			w.left -= int64(n)
			if end && w.left > 0 {
				return bodyError(errBodyShorter)
			}
			if !end && w.left == 0 {
				if end, err = atEnd(body); err != nil {
					return err
				}
			}
		}
		if err := w.send(buf[:n], end); err != nil || end {
			return err
		}
	}
}

// atEnd makes sure that a body that has given all that it promised has no more.
func atEnd(body io.Reader) (bool, error) {
	var one [1]byte
	switch n, err := readBody(body, one[:]); {
	case n > 0:
		return false, bodyError(errBodyLonger)
	case err == io.EOF:
		return true, nil
	default:
		return false, err
	}
}

// readBody is one Read of a request body that makes progress. Any error but
// io.EOF is a *httpsem.BodyError.
func readBody(body io.Reader, p []byte) (int, error) {
	for range maxEmptyReads {
		n, err := body.Read(p)
		switch {
		case n < 0 || n > len(p):
			return 0, bodyError(errBadCount)
		case err == io.EOF:
			return n, err
		case err != nil:
			return n, bodyError(err)
		case n > 0:
			return n, nil
		}
	}
	return 0, bodyError(io.ErrNoProgress)
}

// takeFrom lets a body of declared length write itself, which spares a copy for
// those in memory.
func (w *bodyWriter) takeFrom(body io.WriterTo) error {
	_, err := body.WriteTo(w)
	switch {
	case w.err != nil:
		return w.err
	case err != nil:
		return bodyError(err)
	case w.left > 0:
		return bodyError(errBodyShorter)
	}
	return w.send(nil, true)
}

// Write sends p.
func (w *bodyWriter) Write(p []byte) (int, error) {
	if w.err == nil && int64(len(p)) > w.left {
		w.err = bodyError(errBodyLonger)
	}
	if w.err != nil {
		return 0, w.err
	}
	before := w.sent
	w.err = w.send(p, false)
	n := w.sent - before
	w.left -= n
	return int(n), w.err
}

// WriteString is for strings.Reader, which would otherwise make one huge copy.
func (w *bodyWriter) WriteString(s string) (n int, err error) {
	buf := uploads.Get().(*[uploadSize]byte)
	defer uploads.Put(buf)
	for len(s) > 0 {
		m := copy(buf[:], s)
		m, err := w.Write(buf[:m])
		n += m
		if err != nil {
			return n, err
		}
		s = s[m:]
	}
	return n, nil
}

// send puts p into DATA frames, as the windows allow, and sends them. With end it
// ends the request, by the trailer if there is one.
func (w *bodyWriter) send(p []byte, end bool) error {
	var names []string
	if end && len(w.trailer) > 0 {
		var err error
		if names, err = trailerFields(w.trailer); err != nil {
			return err
		}
	}
	s := w.stream
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	for len(p) > 0 {
		n, err := s.grantLocked(len(p))
		if err != nil {
			return err
		}
		out := c.outLocked()
		*out = frame.AppendData(*out, s.id, p[:n], end && n == len(p) && names == nil)
		w.sent += int64(n)
		p = p[n:]
		if end && len(p) == 0 && names == nil {
			s.finishLocked()
			c.flushLocked()
			return nil
		}
		if len(*out) >= outRoom {
			c.flushLocked()
		}
	}
	if end {
		if err := s.mayLocked(); err != nil {
			return err
		}
		out := c.outLocked()
		if names == nil {
			*out = frame.AppendData(*out, s.id, nil, true)
		} else {
			start := len(*out)
			b := frame.BeginHeaders(*out)
			for _, name := range names {
				for _, v := range w.trailer[name] {
					b = c.encoder.AppendField(b, name, httpsem.TrimSpace(v), false)
				}
			}
			*out = frame.FinishHeaders(b, start, s.id, true, uint32(c.peerFrame))
		}
		s.finishLocked()
	}
	c.flushLocked()
	return nil
}

// trailerFields lists the names of the trailers that have a value by now.
func trailerFields(trailer http.Header) ([]string, error) {
	var names []string
	for name, values := range trailer {
		if len(values) == 0 {
			continue
		}
		if err := httpsem.CheckField(name, values); err != nil || httpsem.IsFraming(name) {
			return nil, bodyError(errBadTrailer)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// mayLocked says why the request cannot go on.
func (s *Stream) mayLocked() error {
	switch {
	case s.sendErr != nil:
		return s.sendErr
	case s.abort:
		return httpsem.ErrWriteAborted
	case !s.open:
		return errNoStream
	}
	return nil
}

// grantLocked waits until some of n bytes may be sent, and takes their room in
// the windows.
func (s *Stream) grantLocked(n int) (int, error) {
	c := s.conn
	for {
		if err := s.mayLocked(); err != nil {
			return 0, err
		}
		if s.window > 0 && c.sendWindow > 0 && c.roomLocked() {
			m := min(n, c.peerFrame, maxDataFrame, int(min(s.window, c.sendWindow, maxDataFrame)))
			s.window -= int64(m)
			c.sendWindow -= int64(m)
			c.updates += 2 + m/fairFrame
			return m, nil
		}
		c.flushLocked()
		if s.send.ready() {
			continue
		}
		if !s.listed {
			s.listed = true
			c.blocked = append(c.blocked, s)
		}
		c.await(&s.send)
		if s.send.late && !s.canSendLocked() {
			s.send.late = false
			err := &httpsem.TimeoutError{Op: httpsem.TimeoutWrite, After: s.options.WriteTimeout}
			s.timedOutLocked(err)
			return 0, err
		}
		s.send.late = false
	}
}

func (s *Stream) canSendLocked() bool {
	return s.window > 0 && s.conn.sendWindow > 0 && s.conn.roomLocked()
}

// finishLocked notes that the request is complete.
func (s *Stream) finishLocked() {
	s.finished = true
	s.settleLocked()
}
