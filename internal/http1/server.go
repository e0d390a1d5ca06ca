package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// This file is the server's side of reading: a request head, how its body is
// framed, and the chunked coding. The functions are pure over a *bufio.Reader.
// They are strict, because the server they serve exists to find faults in
// clients: what a conforming client never sends is an error that says why.

// ServerField is one header or trailer line as it arrived, without the
// whitespace around the value.
type ServerField struct {
	Name, Value string
}

// ServerHead is a request line with its header lines, in order and verbatim.
type ServerHead struct {
	Method  string
	Target  string // as sent: a path, an absolute URL, an authority, or "*"
	Version string // "HTTP/1.1" or "HTTP/1.0"
	Fields  []ServerField
}

// ServerError says that a request broke the rules. Status is the answer it
// deserves.
type ServerError struct {
	Status int
	Reason string
}

func (e *ServerError) Error() string { return e.Reason }

func serverErrorf(format string, args ...any) error {
	return &ServerError{Status: http.StatusBadRequest, Reason: fmt.Sprintf(format, args...)}
}

// ServerReadHead reads one request head of at most limit bytes. It returns
// io.EOF if the peer ended before the first byte, io.ErrUnexpectedEOF if it
// ended later, and a *ServerError if the head is malformed or too long. What
// was understood before the error is in the returned head.
func ServerReadHead(br *bufio.Reader, limit int) (ServerHead, error) {
	block, err := serverReadBlock(br, &limit, true)
	line, rest, _ := strings.Cut(block, "\r\n")
	var head ServerHead
	if line != "" && (err == nil || rest != "") {
		lineErr := head.parseLine(line)
		if err == nil {
			err = lineErr
		}
	}
	if err != nil {
		return head, err
	}
	head.Fields, err = serverParseFields(rest)
	return head, err
}

// serverReadBlock reads lines through the empty line that ends a head or a
// trailer, and returns them with their line ends, the empty one left out.
// limit is reduced by what was read. Empty lines at the start are skipped if
// skipEmpty says so (RFC 9112, 2.2).
func serverReadBlock(br *bufio.Reader, limit *int, skipEmpty bool) (string, error) {
	var block []byte
	start := 0 // of the current line within block
	for {
		part, err := br.ReadSlice('\n')
		*limit -= len(part)
		if *limit < 0 {
			return string(block), &ServerError{Status: http.StatusRequestHeaderFieldsTooLarge, Reason: "request head is too long"}
		}
		block = append(block, part...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(block) > 0:
			return string(block), io.ErrUnexpectedEOF
		case err != nil:
			return string(block), err
		}
		line := block[start:]
		if !bytes.HasSuffix(line, []byte("\r\n")) {
			return string(block), serverErrorf("line ends with LF alone: %.60q", line)
		}
		if len(line) > 2 {
			start = len(block)
			continue
		}
		block = block[:start]
		if start > 0 || !skipEmpty {
			return string(block), nil
		}
	}
}

func (h *ServerHead) parseLine(line string) error {
	parts := strings.Split(line, " ")
	if len(parts) != 3 {
		return serverErrorf("request line does not have three words: %.60q", line)
	}
	h.Method, h.Target, h.Version = parts[0], parts[1], parts[2]
	if !httpsem.IsToken(h.Method) {
		return serverErrorf("method is not a token: %.60q", h.Method)
	}
	if h.Target == "" || strings.ContainsFunc(h.Target, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return serverErrorf("request target is malformed: %.60q", h.Target)
	}
	if h.Version != "HTTP/1.1" && h.Version != "HTTP/1.0" {
		return &ServerError{Status: http.StatusHTTPVersionNotSupported, Reason: fmt.Sprintf("unknown version %.20q", h.Version)}
	}
	return nil
}

func serverParseFields(block string) ([]ServerField, error) {
	if block == "" {
		return nil, nil
	}
	fields := make([]ServerField, 0, strings.Count(block, "\r\n"))
	for block != "" {
		var line string
		line, block, _ = strings.Cut(block, "\r\n")
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return fields, serverErrorf("header line without a colon: %.60q", line)
		}
		if !httpsem.IsToken(name) {
			return fields, serverErrorf("header name is not a token: %.60q", name)
		}
		value = strings.Trim(value, " \t")
		if strings.ContainsAny(value, "\r\x00") {
			return fields, serverErrorf("value of header %.60q has a CR or NUL", name)
		}
		fields = append(fields, ServerField{name, value})
	}
	return fields, nil
}

// BodyLength says how the body of the request is framed: chunked, or with a
// length, which is 0 where the request has no body.
func (h *ServerHead) BodyLength() (length int64, chunked bool, err error) {
	var codings []string
	lengths := 0
	for _, f := range h.Fields {
		switch {
		case strings.EqualFold(f.Name, "Transfer-Encoding"):
			for coding := range strings.SplitSeq(f.Value, ",") {
				codings = append(codings, strings.Trim(coding, " \t"))
			}
		case strings.EqualFold(f.Name, "Content-Length"):
			n, ok := serverParseLength(f.Value)
			if !ok {
				return 0, false, serverErrorf("Content-Length is not a number: %.60q", f.Value)
			}
			if lengths > 0 && n != length {
				return 0, false, serverErrorf("two different Content-Length values")
			}
			length = n
			lengths++
		}
	}
	if len(codings) == 0 {
		return length, false, nil
	}
	switch {
	case lengths > 0:
		return 0, false, serverErrorf("both Content-Length and Transfer-Encoding")
	case h.Version == "HTTP/1.0":
		return 0, false, serverErrorf("Transfer-Encoding in an HTTP/1.0 request")
	}
	for i, coding := range codings {
		if last := i == len(codings)-1; strings.EqualFold(coding, "chunked") != last {
			return 0, false, serverErrorf("chunked is not the last and only the last Transfer-Encoding")
		}
	}
	return 0, true, nil
}

func serverParseLength(s string) (int64, bool) {
	if s == "" || len(s) > 18 {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// maxServerChunkSizes bounds how many chunk sizes are remembered per request.
const maxServerChunkSizes = 1 << 16

// ServerChunks decodes a chunked request body. After Read returned io.EOF,
// Sizes and Trailer are complete.
type ServerChunks struct {
	// Sizes are the sizes of the chunks, without the last, empty one; at most
	// the first 65536.
	Sizes []int64

	// Trailer is what followed the last chunk.
	Trailer []ServerField

	br     *bufio.Reader
	limit  int   // of size lines beyond the sizes themselves, and the trailer
	left   int64 // data bytes left in the current chunk
	inside bool  // a chunk was begun and its closing CRLF not read
	err    error // sticky
}

// NewServerChunks decodes from br. Chunk extensions and trailer together may
// have limit bytes.
func NewServerChunks(br *bufio.Reader, limit int) *ServerChunks {
	return &ServerChunks{br: br, limit: limit}
}

// Read reads data of at most one chunk, so that a caller that counts sees the
// chunk's end. It returns io.EOF after the trailer, io.ErrUnexpectedEOF if the
// peer ended earlier, and *ServerError for a malformed body.
func (c *ServerChunks) Read(p []byte) (int, error) {
	if err := c.Next(); err != nil || len(p) == 0 {
		return 0, err
	}
	n, err := c.br.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if err != nil {
		c.err = serverNoEOF(err)
		return n, c.err
	}
	return n, nil
}

// Next waits until there is data to read; at the end of a chunk it goes on to
// the next one. It returns the error that Read would return.
func (c *ServerChunks) Next() error {
	if c.err == nil && c.left == 0 {
		c.err = c.next()
	}
	return c.err
}

// AtBoundary reports whether every byte of the chunks begun so far was read.
func (c *ServerChunks) AtBoundary() bool { return c.left == 0 }

// next ends the current chunk and begins another, or ends the body.
func (c *ServerChunks) next() error {
	if c.inside {
		if err := c.endChunk(); err != nil {
			return err
		}
	}
	line, err := c.br.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return serverErrorf("chunk size line is too long")
	}
	if err != nil {
		return serverNoEOF(err)
	}
	_, extension, _ := bytes.Cut(line, []byte(";"))
	c.limit -= len(extension)
	if c.limit < 0 {
		return serverErrorf("chunk extensions are too long")
	}
	n, err := parseChunkLine(line)
	if err != nil {
		return serverErrorf("%v: %.40q", err, line)
	}
	if n > 0 {
		c.left, c.inside = n, true
		if len(c.Sizes) < maxServerChunkSizes {
			c.Sizes = append(c.Sizes, n)
		}
		return nil
	}
	block, err := serverReadBlock(c.br, &c.limit, false)
	if err != nil {
		return serverNoEOF(err)
	}
	if c.Trailer, err = serverParseFields(block); err != nil {
		return err
	}
	return io.EOF
}

func (c *ServerChunks) endChunk() error {
	var end [2]byte
	if _, err := io.ReadFull(c.br, end[:]); err != nil {
		return serverNoEOF(err)
	}
	if end != [2]byte{'\r', '\n'} {
		return serverErrorf("chunk is not followed by CRLF but by %q", end[:])
	}
	c.inside = false
	return nil
}

func serverNoEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
