package http1

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"net"
	"net/http"
	"os"
	"syscall"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

const (
	// spliceFrom is the length from which it pays to let the kernel move a body.
	spliceFrom = 64 << 10

	// spliceSize is how much of a response the kernel moves per call. Smaller
	// calls end in many small moves: 1 MiB costs a third more than this.
	spliceSize = 64 << 20
)

// WriteBodyTo copies the response body to w, up to limit bytes if that is not
// negative. The error is io.EOF if the body is complete then, w's, as a
// *httpsem.SinkError, or one of ReadBody's.
func (c *Conn) WriteBodyTo(w io.Writer, limit int64) (written int64, err error) {
	if limit < 0 {
		limit = math.MaxInt64
	}
	if len(c.in.buffered()) > 0 && c.response.state == fixedLength {
		if written, err = c.writeBuffered(w, limit); err != nil {
			return written, err
		}
	}
	if written == limit && c.response.state != complete {
		return written, nil
	}
	var n int64
	if rf, ok := kernelCopier(w); ok && c.tcp != nil && c.response.err == nil &&
		c.response.state == fixedLength && c.response.left >= spliceFrom && c.in.err == nil {
		n, err = c.splice(rf, limit-written)
	} else {
		n, err = c.copyBody(w, limit-written)
	}
	return written + n, err
}

// writeBuffered writes what was read ahead of a body of known length straight
// from the buffer.
func (c *Conn) writeBuffered(w io.Writer, limit int64) (int64, error) {
	r := &c.response
	b := c.in.buffered()
	b = b[:min(int64(len(b)), r.left, limit)]
	n, err := writeAll(w, b)
	if err != nil {
		err = &httpsem.SinkError{Err: err}
	}
	c.in.r += n
	c.in.rest()
	r.left -= int64(n)
	if r.left == 0 {
		r.state = complete
	}
	return int64(n), err
}

// copyBody copies through memory. It never asks w for a ReadFrom of its own:
// that one's buffer is smaller, io.Discard's 8 KiB.
func (c *Conn) copyBody(w io.Writer, limit int64) (written int64, err error) {
	if c.BodyLength() == 0 && c.response.err == nil {
		return 0, io.EOF
	}
	buf := copies.Get().(*[copySize]byte)
	defer copies.Put(buf)
	for written < limit {
		n, err := c.ReadBody(buf[:min(copySize, limit-written)])
		if n > 0 {
			m, err := writeAll(w, buf[:n])
			written += int64(m)
			if err != nil {
				return written, &httpsem.SinkError{Err: err}
			}
		}
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

func writeAll(w io.Writer, p []byte) (int, error) {
	n, err := w.Write(p)
	n = min(max(n, 0), len(p))
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

// kernelCopier returns w's ReadFrom if that can move bytes from a socket
// without bringing them into memory. Others are left out: their ReadFrom may
// lose what it has read when it meets a timeout.
func kernelCopier(w io.Writer) (io.ReaderFrom, bool) {
	switch w := w.(type) {
	case *net.TCPConn:
		return w, true
	case *os.File:
		return w, true
	case http.ResponseWriter:
		rf, ok := w.(io.ReaderFrom)
		return rf, ok
	}
	return nil, false
}

// splice has the kernel move a body of known length. One call moves
// many reads' worth under one deadline, so a timeout after some progress is not
// the end: it means that the peer is slow, not that it is silent.
func (c *Conn) splice(w io.ReaderFrom, limit int64) (written int64, err error) {
	r := &c.response
	for r.left > 0 {
		if written >= limit {
			return written, nil
		}
		c.beforeRead()
		slice := io.LimitedReader{R: c.tcp, N: min(r.left, spliceSize, limit-written)}
		n, err := w.ReadFrom(&slice)
		written += n
		r.left -= n
		switch {
		case err != nil && n > 0 && c.isReadTimeout(err):
			continue
		case err != nil && c.isReadTimeout(err) && c.resumeRead(err):
			continue
		case err != nil && c.isReadTimeout(err):
			return written, c.fail(c.readError(err))
		case err != nil:
			// What came cannot be told from what was lost on the way to w, so the
			// body is over even if w is at fault.
			if sink, cause := fileFault(err); sink {
				err = &httpsem.SinkError{Err: err}
			} else {
				err = cause
			}
			return written, c.fail(err)
		case n == 0 && slice.N > 0:
			return written, c.fail(errTruncated())
		}
	}
	r.state = complete
	return written, io.EOF
}

// fileFault tells whether a copy failed because of the file to which it went.
// Package os names that file in every error, the socket's as well, so what lies
// within must tell: the socket is closed, by us or by the peer, or has timed out.
func fileFault(err error) (sink bool, cause error) {
	var path *fs.PathError
	if !errors.As(err, &path) {
		return false, err
	}
	for _, socket := range []error{net.ErrClosed, os.ErrDeadlineExceeded, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.ENOTCONN, syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN} {
		if errors.Is(path.Err, socket) {
			return false, path.Err
		}
	}
	return true, err
}

// isReadTimeout tells our timeout from one that w has for itself.
func (c *Conn) isReadTimeout(err error) bool {
	return c.readPassed() && errors.Is(err, os.ErrDeadlineExceeded)
}
