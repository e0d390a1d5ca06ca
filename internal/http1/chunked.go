package http1

import (
	"bytes"
	"io"
	"net/http"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// Bounds on what is not data in a chunked body. Nothing of it reaches the
// caller, so without them a peer could keep us busy for ever at no cost.
const (
	maxChunkLine   = 4 << 10  // a size with its extensions
	maxChunkDigits = 16       // of a size
	chunkAllowance = 16       // overhead that each chunk may have, beside twice its data
	maxChunkExcess = 16 << 10 // overhead beyond that, in all
)

// chunks is the place within a chunked body.
type chunks struct {
	left   int64 // bytes of the current chunk to come
	endDue bool  // the line end after a chunk's data is to come
	excess int64 // overhead beyond the allowance, so far
}

// lastChunk is how most chunked bodies end: the end of the data, a last chunk
// without extension, no trailers.
var lastChunk = []byte("\r\n0\r\n\r\n")

// readChunked is ReadBody for a chunked body. It goes on to further chunks only
// as far as that cannot block.
func (c *Conn) readChunked(p []byte) (n int, err error) {
	k := &c.response.chunks
	for n < len(p) {
		if k.left == 0 {
			if n > 0 && !c.nextChunkBuffered() {
				break
			}
			if err := c.nextChunk(); err != nil {
				if n > 0 {
					break // the error sticks, and the data comes first
				}
				return 0, err
			}
			if c.response.state == complete {
				return n, io.EOF
			}
		}
		if n > 0 && len(c.in.buffered()) == 0 {
			break
		}
		m, err := c.readData(p[n:][:min(int64(len(p)-n), k.left)])
		n += m
		k.left -= int64(m)
		if err != nil {
			return n, c.fail(noEOF(err))
		}
		k.endDue = k.left == 0
	}
	if k.endDue && bytes.HasPrefix(c.in.buffered(), lastChunk) {
		// The end is here: saying so now saves the caller a call, and frees the
		// connection earlier.
		c.in.r += len(lastChunk)
		c.response.state = complete
		return n, io.EOF
	}
	return n, nil
}

// nextChunkBuffered reports whether nextChunk would find all it needs in the
// buffer. For a last chunk it says no: there may be trailers to wait for.
func (c *Conn) nextChunkBuffered() bool {
	b := c.in.buffered()
	if c.response.chunks.endDue {
		if len(b) < 3 {
			return false
		}
		b = b[2:]
	}
	return len(b) > 0 && b[0] != '0' && bytes.IndexByte(b, '\n') >= 0
}

// nextChunk reads the line end after a chunk and the size of the next one. After
// the last chunk it reads the trailers and completes the response.
func (c *Conn) nextChunk() error {
	k := &c.response.chunks
	if k.endDue {
		for len(c.in.buffered()) < 2 {
			if err := c.in.fill(); err != nil {
				return c.fail(noEOF(err))
			}
		}
		if b := c.in.buffered(); b[0] != '\r' || b[1] != '\n' {
			return c.fail(&httpsem.ProtocolError{Reason: "malformed chunk: no line end after its data"})
		}
		c.in.r += 2
		k.endDue = false
	}
	_, next, err := c.in.line(0, maxChunkLine)
	if err == errLongLine {
		err = &httpsem.ProtocolError{Reason: "the line of a chunk size is too long"}
	}
	if err != nil {
		return c.fail(noEOF(err))
	}
	line := c.in.buffered()[:next]
	if k.left, err = parseChunkLine(line); err != nil {
		return c.fail(err)
	}
	// The line, and the line end of the data, less what the chunk may cost.
	cost := int64(len(line)) + 2 - chunkAllowance - 2*min(k.left, 1<<32)
	k.excess = max(0, k.excess+cost)
	if k.excess > maxChunkExcess {
		return c.fail(&httpsem.ProtocolError{Reason: "chunked body with too much besides data"})
	}
	c.in.r += next
	if k.left > 0 {
		return nil
	}
	return c.readTrailer()
}

// parseChunkLine reads a chunk size: up to 16 hexadecimal digits, then perhaps
// an extension, which is skipped. Unlike in a head, the line must end in CRLF,
// since here a lone LF is not allowed to anyone (RFC 9112, erratum 7633).
// Whitespace after the digits is tolerated, as OkHttp and net/http do.
func parseChunkLine(line []byte) (size int64, err error) {
	body, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok {
		return 0, &httpsem.ProtocolError{Reason: "malformed chunk: its size does not end in CRLF"}
	}
	digits := 0
	for digits < len(body) {
		d, ok := hexDigit(body[digits])
		if !ok {
			break
		}
		if digits == maxChunkDigits || size > (1<<63-1)>>4 {
			return 0, &httpsem.ProtocolError{Reason: "malformed chunk: its size is too large"}
		}
		size = size<<4 | int64(d)
		digits++
	}
	rest := body[digits:]
	for len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
		rest = rest[1:]
	}
	if digits == 0 || len(rest) > 0 && rest[0] != ';' || !httpsem.IsValue(rest) {
		return 0, &httpsem.ProtocolError{Reason: "malformed chunk: its size is not a hexadecimal number"}
	}
	return size, nil
}

func hexDigit(b byte) (byte, bool) {
	switch {
	case '0' <= b && b <= '9':
		return b - '0', true
	case 'a' <= b && b <= 'f':
		return b - 'a' + 10, true
	case 'A' <= b && b <= 'F':
		return b - 'A' + 10, true
	}
	return 0, false
}

// readTrailer reads the trailers after the last chunk, which may be none, and
// completes the response. Those that would say how to read the message come too
// late and are dropped.
func (c *Conn) readTrailer() error {
	size, next, err := c.readFields(0)
	if err != nil {
		return c.fail(noEOF(err))
	}
	if fields := c.in.page.fields; len(fields) > 0 {
		block := string(c.in.buffered()[:size])
		trailer := buildHeader(block, fields, httpsem.IsFraming)
		if len(trailer) > 0 {
			c.response.trailer = trailer
		}
	}
	c.in.r += next
	c.response.state = complete
	return nil
}

// Trailer returns the trailers after the body's end; nil if there were none.
func (c *Conn) Trailer() http.Header { return c.response.trailer }

// noEOF turns the end of the connection within a message into what it means.
func noEOF(err error) error {
	if err == io.EOF || err == errNoAnswer {
		return errTruncated()
	}
	return err
}
