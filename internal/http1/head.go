package http1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// field is one header line: offsets into the block that holds it.
type field struct {
	name, nameEnd   int
	value, valueEnd int
}

// AwaitHead waits at most d for the first byte of a response, and reports false
// without an error when d has passed.
func (c *Conn) AwaitHead(d time.Duration) (bool, error) {
	if len(c.in.buffered()) > 0 {
		return true, nil
	}
	c.limitReads(d)
	err := c.in.fill()
	c.freeReads()
	var timeout *httpsem.TimeoutError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &timeout):
		return false, nil
	default:
		return false, c.fail(c.endOfHead(err, true))
	}
}

// ReadHead reads the next response head, informational or final, into resp.
//
// One pass over the buffer finds the lines, checks them and puts the names into
// canonical case where they lie. Then the block becomes one string, of which
// names, values and status are pieces.
func (c *Conn) ReadHead(req *http.Request, resp *http.Response) error {
	if c.response.err != nil {
		return c.response.err
	}
	end, next, err := c.headLine(0)
	if err != nil {
		return c.fail(err)
	}
	line, err := parseStatusLine(c.in.buffered()[:end])
	if err != nil {
		return c.fail(err)
	}
	size, next, err := c.readFields(next)
	if err != nil {
		return c.fail(err)
	}

	block := string(c.in.buffered()[:size])
	c.in.r += next
	resp.Status = block[line.status:end]
	resp.StatusCode = line.code
	resp.Proto = "HTTP/1.1"
	resp.ProtoMajor, resp.ProtoMinor = 1, line.minor
	if line.minor == 0 {
		resp.Proto = "HTTP/1.0"
	}
	resp.Header = buildHeader(block, c.in.page.fields, nil)
	resp.Uncompressed = false
	if err := c.frame(req.Method, resp); err != nil {
		return c.fail(err)
	}
	c.in.rest()
	return nil
}

// headLine is input.line for heads and trailers: it keeps account of their
// bytes, all of one exchange together, without line ends.
func (c *Conn) headLine(off int) (end, next int, err error) {
	end, next, err = c.in.line(off, c.headSpare)
	if err != nil {
		return 0, 0, c.endOfHead(err, off == 0)
	}
	c.headSpare -= int64(end - off)
	return end, next, nil
}

// endOfHead gives the error that stopped the reading of a head its type.
func (c *Conn) endOfHead(err error, atStart bool) error {
	switch {
	case err == errLongLine:
		return &httpsem.ProtocolError{Reason: fmt.Sprintf("server response headers exceeded %d bytes", c.maxHead())}
	case err != io.EOF:
		return err
	case atStart && !c.received.Load():
		return errNoAnswer
	default:
		return errTruncated()
	}
}

// readFields reads header lines through the empty one that ends them, into
// c.in.page.fields. The last line with something in it ends at size, and what
// follows the empty line starts at next, both counted from c.in.r.
func (c *Conn) readFields(off int) (size, next int, err error) {
	c.in.clearFields()
	size = off
	for {
		end, next, err := c.headLine(off)
		if err != nil {
			return 0, 0, err
		}
		if end == off {
			return size, next, nil
		}
		f, err := parseField(c.in.buffered()[off:end])
		if err != nil {
			return 0, 0, err
		}
		f.name, f.nameEnd = f.name+off, f.nameEnd+off
		f.value, f.valueEnd = f.value+off, f.valueEnd+off
		c.in.page.fields = append(c.in.page.fields, f)
		size, off = end, next
	}
}

// clearFields makes room for the fields of a block.
func (in *input) clearFields() {
	if in.page != nil {
		in.page.fields = in.page.fields[:0]
	}
}

// parseField takes a header line apart and puts its name into canonical case in
// place. It is strict where parsers are known to disagree: folded lines, bare
// CR and NUL, whitespace around the name. It is lenient where that harms
// nobody: a name need not be a token.
func parseField(line []byte) (field, error) {
	if line[0] == ' ' || line[0] == '\t' {
		return field{}, &httpsem.ProtocolError{Reason: "malformed response header: folded line"}
	}
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return field{}, &httpsem.ProtocolError{Reason: "malformed response header: no colon"}
	}
	name := line[:colon]
	if !httpsem.TolerableName(name) {
		return field{}, &httpsem.ProtocolError{Reason: "malformed response header: invalid name"}
	}
	start, end := colon+1, len(line)
	for start < end && (line[start] == ' ' || line[start] == '\t') {
		start++
	}
	for end > start && (line[end-1] == ' ' || line[end-1] == '\t') {
		end--
	}
	if !httpsem.IsValue(line[start:end]) {
		return field{}, &httpsem.ProtocolError{Reason: "malformed response header: control character in a value"}
	}
	httpsem.Canonicalize(name)
	return field{name: 0, nameEnd: colon, value: start, valueEnd: end}, nil
}

// buildHeader makes a header of the fields of a block, but for those that drop
// says; nil drops none. All values share one slice.
func buildHeader(block string, fields []field, drop func(name string) bool) http.Header {
	h := make(http.Header, len(fields))
	values := make([]string, len(fields))
	for i, f := range fields {
		name := block[f.name:f.nameEnd]
		if drop != nil && drop(name) {
			continue
		}
		value := block[f.value:f.valueEnd]
		if appearsBefore(h, block, fields[:i], name) {
			h[name] = append(h[name], value)
			continue
		}
		values[i] = value
		h[name] = values[i : i+1 : i+1] // an append must not touch the neighbour
	}
	return h
}

// appearsBefore reports whether h, made of the fields so far, has that name. For
// the usual few it is quicker to compare lengths than to ask the map.
func appearsBefore(h http.Header, block string, fields []field, name string) bool {
	if len(fields) > 32 {
		_, ok := h[name]
		return ok
	}
	for _, f := range fields {
		if f.nameEnd-f.name == len(name) && block[f.name:f.nameEnd] == name {
			_, ok := h[name] // it may have been dropped
			return ok
		}
	}
	return false
}
