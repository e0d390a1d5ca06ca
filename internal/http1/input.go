package http1

import (
	"bytes"
	"io"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// errNoAnswer says that the peer closed the connection before the first byte of
// a response. It wraps io.EOF: the request may not have been processed.
var errNoAnswer error = &closedError{}

type closedError struct{}

func (*closedError) Error() string {
	return "unexpected end of stream: the server closed the connection without an answer"
}
func (*closedError) Unwrap() error { return io.EOF }

// errTruncated says that a response ended within.
func errTruncated() error {
	return &httpsem.ProtocolError{Reason: "unexpected end of stream", Err: io.ErrUnexpectedEOF}
}

// maxEmptyReads is how often a reader may say "0 bytes, no error" in a row.
const maxEmptyReads = 100

// input is the read half of a connection: a buffer over the socket, present
// during an exchange only. page.bytes[r:w] has been read and not yet consumed.
type input struct {
	conn *Conn
	page *page
	r, w int
	err  error // came together with bytes; the next read reports it
}

// buffered returns the bytes that were read ahead.
func (in *input) buffered() []byte {
	if in.page == nil {
		return nil
	}
	return in.page.bytes[in.r:in.w]
}

// rest gives the buffer back if nothing is in it: a body that nobody is reading
// needs none.
func (in *input) rest() {
	if in.r == in.w && in.page != nil {
		freePage(in.page)
		in.page, in.r, in.w = nil, 0, 0
	}
}

// free gives the buffer back.
func (in *input) free() {
	if in.page != nil {
		freePage(in.page)
	}
	in.page, in.r, in.w, in.err = nil, 0, 0, nil
}

// read reads from the socket past the buffer, which must be empty.
func (in *input) read(p []byte) (int, error) {
	if err := in.err; err != nil {
		in.err = nil
		return 0, err
	}
	for range maxEmptyReads {
		n, err := in.conn.readSocket(p)
		if n > 0 {
			in.err = err
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, io.ErrNoProgress
}

// fill reads at least one more byte into the buffer. If it is full, it grows:
// whoever asks for more than it holds has a bound of their own.
func (in *input) fill() error {
	if in.page == nil {
		in.page = pages.Get().(*page)
	}
	b := in.page.bytes
	if in.r == in.w {
		in.r, in.w = 0, 0
	}
	if in.w == len(b) {
		if in.r > 0 {
			copy(b, b[in.r:in.w])
		} else {
			b = make([]byte, 2*len(b))
			copy(b, in.page.bytes)
			in.page.bytes = b
		}
		in.w -= in.r
		in.r = 0
	}
	n, err := in.read(b[in.w:])
	in.w += n
	return err
}

// line finds the line that starts off bytes after the first unconsumed one, and
// reads more if it must. The line is at [off, end) and the next one starts at
// next; both count from in.r, which outlives a move of the buffer. A line of
// more than limit bytes, without its end, is errLongLine.
func (in *input) line(off int, limit int64) (end, next int, err error) {
	seen := off // no line end before this
	for {
		b := in.buffered()
		if i := bytes.IndexByte(b[min(seen, len(b)):], '\n'); i >= 0 {
			end = seen + i
			next = end + 1
			if end > off && b[end-1] == '\r' {
				end--
			}
			if int64(end-off) > limit {
				return 0, 0, errLongLine
			}
			return end, next, nil
		}
		seen = max(seen, len(b))
		// One byte more than the limit may be the CR of the end.
		if int64(seen-off) > limit+1 {
			return 0, 0, errLongLine
		}
		if err := in.fill(); err != nil {
			return 0, 0, err
		}
	}
}

// errLongLine is turned into a *httpsem.ProtocolError by whoever set the limit.
var errLongLine = &httpsem.ProtocolError{Reason: "line too long"}
