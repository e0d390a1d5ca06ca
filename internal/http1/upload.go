package http1

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// sliceSize is how much of a request is handed to the kernel per call.
const sliceSize = 1 << 20

var (
	errBodyLonger  = errors.New("longer than its declared length")
	errBadCount    = errors.New("its Read returned an impossible count")
	errBodyShorter = &shortBodyError{}
)

type shortBodyError struct{}

func (*shortBodyError) Error() string { return "shorter than its declared length" }
func (*shortBodyError) Unwrap() error { return io.ErrUnexpectedEOF }

// WriteBody sends the body, and the head before it if that is still buffered.
// It returns how many bytes of the body were handed to the socket.
func (c *Conn) WriteBody(body io.Reader, contentLength int64, inline bool, trailer http.Header) (n int64, err error) {
	if c.sendErr != nil {
		return 0, c.sendErr
	}
	if body == nil {
		body = http.NoBody
	}
	if !inline && contentLength != 0 && c.out != nil {
		c.bodyDue = true
		if err := c.Flush(); err != nil {
			return 0, err
		}
	}
	switch {
	case c.tunnel:
		n, err = c.writeTunnel(body)
	case contentLength < 0:
		n, err = c.writeChunked(body, trailer)
	case contentLength == 0, inline && contentLength <= keptSize/2:
		n, err = c.writeInline(body, contentLength)
	default:
		n, err = c.writeFixed(body, contentLength)
	}
	if err != nil {
		if c.sendErr == nil {
			c.sendErr = err // the body's fault: the request stays incomplete
		}
		return n, err
	}
	c.finishSend()
	return n, nil
}

// bodyError marks an error as the request body's.
func bodyError(err error) error { return &httpsem.BodyError{Err: err} }

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

// checkEnd makes sure that a body of declared length has no more.
func checkEnd(body io.Reader) error {
	var one [1]byte
	n, err := readBody(body, one[:])
	switch {
	case n > 0:
		return bodyError(errBodyLonger)
	case err == io.EOF:
		return nil
	default:
		return err
	}
}

// writeInline sends head and body in one write. The body is read and checked
// first, so that nothing is sent if it does not keep its promise.
func (c *Conn) writeInline(body io.Reader, length int64) (int64, error) {
	out := c.output()
	b := *out
	headEnd := len(b)
	want := headEnd + int(length)
	if cap(b) < want {
		b = append(make([]byte, 0, want), b...)
		*out = b
	}
	atEnd := false
	for len(b) < want {
		n, err := readBody(body, b[len(b):want])
		b = b[:len(b)+n]
		if err == io.EOF {
			if atEnd = true; len(b) < want {
				return 0, bodyError(errBodyShorter)
			}
		} else if err != nil {
			return 0, err
		}
	}
	if !atEnd {
		if err := checkEnd(body); err != nil {
			return 0, err
		}
	}
	if len(b) == 0 {
		return 0, nil
	}
	n, err := c.writeSocket(b)
	*out = b[:0]
	return int64(max(0, n-headEnd)), err
}

// writeFixed sends a body of declared length, and never more than that.
func (c *Conn) writeFixed(body io.Reader, length int64) (int64, error) {
	w := &bodyWriter{c: c, left: length}
	var err error
	if file := regularFile(body); file != nil && c.files != nil {
		err = c.sendFile(body, w)
	} else if wt, ok := body.(io.WriterTo); ok && !isFile(body) {
		err = w.takeFrom(wt)
	} else {
		err = w.copyFrom(body)
	}
	if err == nil && w.left > 0 {
		err = bodyError(errBodyShorter)
	}
	if err == nil && w.checkEnd {
		err = checkEnd(body)
	}
	return w.sent, err
}

// bodyWriter puts a body of declared length on the wire. It is the io.Writer for
// bodies that write themselves.
type bodyWriter struct {
	c        *Conn
	left     int64 // of the declared length
	sent     int64
	err      error // why nothing more can be written
	checkEnd bool  // the body has not shown its end yet
}

// takeFrom lets a body write itself, which spares a copy for those in memory.
func (w *bodyWriter) takeFrom(body io.WriterTo) error {
	_, err := body.WriteTo(w)
	switch {
	case w.err != nil:
		return w.err
	case err != nil:
		return bodyError(err)
	}
	return nil
}

// Write sends p in pieces, each of which has the write timeout for itself.
func (w *bodyWriter) Write(p []byte) (n int, err error) {
	if w.err != nil {
		return 0, w.err
	}
	longer := int64(len(p)) > w.left
	if longer {
		p = p[:w.left]
	}
	for n < len(p) {
		m, err := w.send(p[n:min(len(p), n+w.c.pieceSize())])
		n += m
		if err != nil {
			return n, err
		}
	}
	if longer {
		w.err = bodyError(errBodyLonger)
		return n, w.err
	}
	return n, nil
}

// pieceSize is the most that goes out under one write timeout.
func (c *Conn) pieceSize() int {
	if c.tcp != nil {
		return sliceSize
	}
	return uploadSize
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

// send writes p, with the head before it if that is still there.
func (w *bodyWriter) send(p []byte) (int, error) {
	c := w.c
	if c.out != nil && len(*c.out) > 0 {
		if err := c.Flush(); err != nil {
			w.err = err
			return 0, err
		}
	}
	n, err := c.writeSocket(p)
	w.left -= int64(n)
	w.sent += int64(n)
	w.err = err
	return n, err
}

// copyFrom sends what the body's Read gives, each read at once.
func (w *bodyWriter) copyFrom(body io.Reader) error {
	buf := uploads.Get().(*[uploadSize]byte)
	defer uploads.Put(buf)
	w.checkEnd = true
	for w.left > 0 {
		start := 0
		if out := w.c.out; out != nil && len(*out) > 0 && len(*out) <= uploadSize/2 {
			start = copy(buf[:], *out) // one write for the head and the first read
		}
		n, err := readBody(body, buf[start:min(uploadSize, int64(start)+w.left)])
		if n > 0 {
			if err := w.sendWithHead(buf[:start+n], start); err != nil {
				return err
			}
		}
		if err == io.EOF {
			w.checkEnd = false
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sendWithHead writes p, of which the first head bytes are the request's head.
func (w *bodyWriter) sendWithHead(p []byte, head int) error {
	if head == 0 {
		_, err := w.send(p)
		return err
	}
	*w.c.out = (*w.c.out)[:0]
	n, err := w.c.writeSocket(p)
	body := int64(max(0, n-head))
	w.left -= body
	w.sent += body
	w.err = err
	return err
}

// regularFile returns the file that a body is or is a part of, if the kernel can
// send it. The reading of anything but a regular file could block while the
// write timeout counts.
func regularFile(body io.Reader) *os.File {
	if lr, ok := body.(*io.LimitedReader); ok {
		body = lr.R
	}
	f, ok := body.(*os.File)
	if !ok || f == nil {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return f
}

// isFile tells files, whose WriteTo reads in small pieces.
func isFile(body io.Reader) bool {
	_, ok := body.(*os.File)
	return ok
}

// fileSlice is how much of a file goes out per call. A TCP connection says how
// far it came before a timeout, so there the calls may be long.
func (c *Conn) fileSlice() int64 {
	if c.tcp != nil {
		return spliceSize
	}
	return sliceSize
}

// sendFile has the kernel send a file, one slice per call, because each call has
// one deadline.
func (c *Conn) sendFile(body io.Reader, w *bodyWriter) error {
	if err := c.Flush(); err != nil {
		return err
	}
	w.checkEnd = true
	for w.left > 0 {
		if err := c.beforeWrite(); err != nil {
			return err
		}
		c.sent.Store(true)
		slice := io.LimitedReader{R: body, N: min(w.left, c.fileSlice())}
		if lr, ok := body.(*io.LimitedReader); ok {
			// One limit inside another would hide the file from the kernel.
			slice.R = lr.R
			slice.N = min(slice.N, lr.N)
		}
		want := slice.N
		n, err := c.files.ReadFrom(&slice)
		if lr, ok := body.(*io.LimitedReader); ok {
			lr.N -= n
		}
		w.left -= n
		w.sent += n
		var path *fs.PathError
		switch {
		case err == nil && n < want, err == nil && want == 0:
			return nil // the file is shorter than declared
		case err == nil:
		case errors.As(err, &path):
			return bodyError(err)
		case n > 0 && c.tcp != nil && errors.Is(err, os.ErrDeadlineExceeded):
			// Slow, not stuck; and the kernel loses nothing on the way. If the write was
			// aborted, the next round says so.
		case c.tcp != nil && c.resumeWrite(err):
		default:
			err = c.writeError(err)
			c.sendErr = err
			return err
		}
	}
	return nil
}

// writeTunnel sends bytes as they come, each read at once.
func (c *Conn) writeTunnel(body io.Reader) (sent int64, err error) {
	buf := uploads.Get().(*[uploadSize]byte)
	defer uploads.Put(buf)
	for {
		n, readErr := readBody(body, buf[:])
		if n > 0 {
			m, err := c.writeSocket(buf[:n])
			sent += int64(m)
			if err != nil {
				return sent, err
			}
		}
		if readErr == io.EOF {
			return sent, nil
		}
		if readErr != nil {
			return sent, readErr
		}
	}
}

// Room for the size line before a chunk's data and the line end after it.
const (
	chunkHead = maxChunkDigits + 2
	chunkTail = 2
)

// writeChunked sends a body of unknown length. Each read becomes one chunk and
// goes out at once, in one write with all that surrounds it.
func (c *Conn) writeChunked(body io.Reader, trailer http.Header) (sent int64, err error) {
	buf := uploads.Get().(*[uploadSize]byte)
	defer uploads.Put(buf)
	for {
		head := 0
		if c.out != nil {
			head = len(*c.out)
		}
		if head > uploadSize/2 {
			c.bodyDue = true
			if err := c.Flush(); err != nil {
				return sent, err
			}
			head = 0
		}
		data := head + chunkHead
		n, readErr := readBody(body, buf[data:uploadSize-chunkTail-len(endOfChunks)])
		start, end := data, data
		if n > 0 {
			// Right to left: the size line ends where the data starts, and the head
			// ends where the size line starts.
			var line [chunkHead]byte
			size := append(strconv.AppendInt(line[:0], int64(n), 16), "\r\n"...)
			start = data - len(size)
			copy(buf[start:], size)
			end = data + n + copy(buf[data+n:], "\r\n")
		}
		if readErr == io.EOF && len(trailer) == 0 {
			end += copy(buf[end:], endOfChunks)
		}
		if head > 0 && end > start {
			start -= head
			copy(buf[start:], *c.out)
			*c.out = (*c.out)[:0]
		}
		if end > start {
			m, err := c.writeSocket(buf[start:end])
			sent += int64(min(n, max(0, m-(data-start))))
			if err != nil {
				return sent, err
			}
		}
		switch {
		case readErr == io.EOF && len(trailer) > 0:
			return sent, c.writeTrailer(trailer)
		case readErr == io.EOF:
			return sent, nil
		case readErr != nil:
			return sent, readErr
		}
	}
}

// endOfChunks is the last chunk with no trailers after it.
const endOfChunks = "0\r\n\r\n"

// writeTrailer ends a chunked body with trailers. The values are known only
// now, so they are checked now: a bad one leaves the request incomplete.
func (c *Conn) writeTrailer(trailer http.Header) error {
	h := head{b: append(*c.output(), "0\r\n"...), req: &http.Request{Header: trailer}, extra: new([3]httpsem.Field)}
	for name, values := range trailer {
		err := httpsem.CheckTrailerName(name)
		if err == nil {
			err = httpsem.CheckField(name, values)
		}
		if err != nil {
			return bodyError(err)
		}
	}
	for _, name := range h.keys(nil) {
		for _, v := range trailer[name] {
			h.field(name, v)
		}
	}
	*c.out = append(h.b, "\r\n"...)
	_, err := c.writeSocket(*c.out)
	return err
}
