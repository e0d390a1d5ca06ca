package okhttp_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/internal/testkit"
)

// badInput is one way in which a server, a network or a request body misbehaves.
type badInput struct {
	name string

	// What the first connection does; later ones behave. send goes out after the
	// request was read; then the server stalls, unless it is told to close.
	send   string
	closes bool
	serve  func(c *rawConn) // in place of send, after the request head

	method string
	header http.Header
	body   func() io.Reader // a request body; needs length
	length int64            // of body; -1 for unknown
	opts   []okhttp.Option  // of the call

	// What must come of it.
	phase   okhttp.Phase
	text    string // part of the error
	is      error  // found by errors.Is
	as      func(error) bool
	reads   bool // the head is good, the body is not
	timeout bool // one of the client's timeouts, which is short here
	next    int  // connections at the end; 0 means 2
}

func isProtocolError(err error) bool { var e *okhttp.ProtocolError; return errors.As(err, &e) }
func isBodyError(err error) bool     { var e *okhttp.BodyError; return errors.As(err, &e) }

const shortWait = 60 * time.Millisecond

// badHeads, badBodies and so on are parts of the list of bad input.
var badHeads = []badInput{
	{name: "closes before the head", closes: true, phase: okhttp.PhaseReceive, is: io.EOF, text: "without an answer"},
	{name: "resets before the head", serve: (*rawConn).reset, phase: okhttp.PhaseReceive, is: syscall.ECONNRESET},
	{name: "closes within the version", send: "HTT", closes: true, phase: okhttp.PhaseReceive, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes within the status line", send: "HTTP/1.1 20", closes: true, phase: okhttp.PhaseReceive, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes after the status line", send: "HTTP/1.1 200 OK\r\n", closes: true, phase: okhttp.PhaseReceive, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes within a header", send: "HTTP/1.1 200 OK\r\nContent-Le", closes: true, phase: okhttp.PhaseReceive, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes before the empty line", send: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n", closes: true, phase: okhttp.PhaseReceive, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes within the empty line", send: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r", closes: true, phase: okhttp.PhaseReceive, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes after an interim head", send: "HTTP/1.1 103 Early Hints\r\n\r\n", closes: true, phase: okhttp.PhaseReceive, as: isProtocolError, is: io.ErrUnexpectedEOF},

	{name: "stalls before the head", phase: okhttp.PhaseReceive, timeout: true},
	{name: "stalls within the status line", send: "HTTP/1.1 20", phase: okhttp.PhaseReceive, timeout: true},
	{name: "stalls within a header", send: "HTTP/1.1 200 OK\r\nContent-Le", phase: okhttp.PhaseReceive, timeout: true},
	{name: "stalls before the empty line", send: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n", phase: okhttp.PhaseReceive, timeout: true},
	{name: "stalls after an interim head", send: "HTTP/1.1 100 Continue\r\n\r\n", phase: okhttp.PhaseReceive, timeout: true},

	{name: "garbage", send: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 what is this\n\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "status line"},
	{name: "another protocol", send: "SSH-2.0-OpenSSH_9.6\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "status line"},
	{name: "HTTP/2 frames", send: "\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80\n", phase: okhttp.PhaseReceive, as: isProtocolError},
	{name: "HTTP/0.9", send: "<html>hello</html>\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "status line"},
	{name: "HTTP/2.0", send: "HTTP/2.0 200 OK\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "status line"},
	{name: "status 99", send: "HTTP/1.1 099 Low\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "status line"},
	{name: "status -200", send: "HTTP/1.1 -20 OK\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "status line"},
	{name: "NUL in the reason", send: "HTTP/1.1 200 O\x00K\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "status line"},
	{name: "NUL in a name", send: "HTTP/1.1 200 OK\r\nX\x00Y: 1\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "invalid name"},
	{name: "NUL in a value", send: "HTTP/1.1 200 OK\r\nX: 1\x002\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "control character"},
	{name: "bare CR in a value", send: "HTTP/1.1 200 OK\r\nX: 1\rContent-Length: 3\r\n\r\nabc", phase: okhttp.PhaseReceive, as: isProtocolError, text: "control character"},
	{name: "folded header", send: "HTTP/1.1 200 OK\r\nX: 1\r\n 2\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "folded"},
	{name: "space before the colon", send: "HTTP/1.1 200 OK\r\nContent-Length : 4\r\n\r\nfine", phase: okhttp.PhaseReceive, as: isProtocolError, text: "invalid name"},
	{name: "header without colon", send: "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "no colon"},
	{name: "header without name", send: "HTTP/1.1 200 OK\r\n: nameless\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "invalid name"},

	{name: "endless status line", serve: func(c *rawConn) { c.send("HTTP/1.1 200 "); c.flood("so much to say ") }, phase: okhttp.PhaseReceive, as: isProtocolError},
	{name: "endless garbage", serve: func(c *rawConn) { c.flood("\x00\x01\x02\x03 garbage") }, phase: okhttp.PhaseReceive, as: isProtocolError},
	{name: "endless header", serve: func(c *rawConn) { c.send("HTTP/1.1 200 OK\r\nX: "); c.flood("more and ") }, phase: okhttp.PhaseReceive, as: isProtocolError},
	{name: "endless header name", serve: func(c *rawConn) { c.send("HTTP/1.1 200 OK\r\n"); c.flood("name-") }, phase: okhttp.PhaseReceive, as: isProtocolError},
	{name: "endless headers", serve: func(c *rawConn) { c.send("HTTP/1.1 200 OK\r\n"); c.flood("X: y\r\n") }, phase: okhttp.PhaseReceive, as: isProtocolError},
	{name: "endless 1xx", serve: func(c *rawConn) { c.flood("HTTP/1.1 100 Continue\r\n\r\n") }, phase: okhttp.PhaseReceive, as: isProtocolError, text: "too many informational"},
	{name: "endless 103 with headers", serve: func(c *rawConn) {
		c.flood("HTTP/1.1 103 Early Hints\r\nLink: " + strings.Repeat("x", 20<<10) + "\r\n\r\n")
	}, phase: okhttp.PhaseReceive, as: isProtocolError},

	{name: "negative Content-Length", send: "HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nfine", phase: okhttp.PhaseReceive, as: isProtocolError, text: "Content-Length"},
	{name: "Content-Length with a sign", send: "HTTP/1.1 200 OK\r\nContent-Length: +4\r\n\r\nfine", phase: okhttp.PhaseReceive, as: isProtocolError, text: "Content-Length"},
	{name: "Content-Length beyond int64", send: "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nfine", phase: okhttp.PhaseReceive, as: isProtocolError, text: "Content-Length"},
	{name: "Content-Length in hex", send: "HTTP/1.1 200 OK\r\nContent-Length: 0x4\r\n\r\nfine", phase: okhttp.PhaseReceive, as: isProtocolError, text: "Content-Length"},
	{name: "empty Content-Length", send: "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nfine", phase: okhttp.PhaseReceive, as: isProtocolError, text: "Content-Length"},
	{name: "two Content-Lengths", send: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nfine", phase: okhttp.PhaseReceive, as: isProtocolError, text: "Content-Length"},
	{name: "bad Content-Length beside chunked", send: "HTTP/1.1 200 OK\r\nContent-Length: abc\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "Content-Length"},
	{name: "unknown transfer coding", send: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "Transfer-Encoding"},
	{name: "chunked twice", send: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "Transfer-Encoding"},
	{name: "obscured transfer coding", send: "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", phase: okhttp.PhaseReceive, as: isProtocolError, text: "Transfer-Encoding"},
	{name: "204 with a body", send: "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nfine", phase: okhttp.PhaseReceive, as: isProtocolError, text: "204"},
}

const chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

var badBodies = []badInput{
	{name: "closes after the head", send: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes with one byte missing", send: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfine", closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "resets with one byte missing", serve: func(c *rawConn) {
		c.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfine")
		c.reset()
	}, reads: true, as: func(err error) bool {
		return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrUnexpectedEOF)
	}},
	{name: "closes within a long body", send: "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + strings.Repeat("x", 199_999), closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "stalls within a long body", send: "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + strings.Repeat("x", 199_999), reads: true, timeout: true},
	{name: "10 GiB Content-Length, then closes", send: "HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\nfine", closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "8 EiB Content-Length, then closes", send: "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nfine", closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes before the first chunk", send: chunkedHead, closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes within a chunk size", send: chunkedHead + "1", closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes within a chunk", send: chunkedHead + "4\r\nfi", closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes after a chunk's data", send: chunkedHead + "4\r\nfine", closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes after a chunk", send: chunkedHead + "4\r\nfine\r\n", closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes after the last chunk", send: chunkedHead + "4\r\nfine\r\n0\r\n", closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes within the trailer", send: chunkedHead + "4\r\nfine\r\n0\r\nX: y\r\n", closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "closes one byte before the end", send: chunkedHead + "4\r\nfine\r\n0\r\n\r", closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},

	{name: "stalls after the head", send: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", reads: true, timeout: true},
	{name: "stalls with one byte missing", send: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfine", reads: true, timeout: true},
	{name: "stalls in a body without length", send: "HTTP/1.1 200 OK\r\n\r\nfine", reads: true, timeout: true},
	{name: "stalls within a chunk size", send: chunkedHead + "1", reads: true, timeout: true},
	{name: "stalls within a chunk", send: chunkedHead + "4\r\nfi", reads: true, timeout: true},
	{name: "stalls after the last chunk", send: chunkedHead + "4\r\nfine\r\n0\r\n", reads: true, timeout: true},
	{name: "stalls within the trailer", send: chunkedHead + "4\r\nfine\r\n0\r\nX: y\r\n", reads: true, timeout: true},

	{name: "negative chunk size", send: chunkedHead + "-4\r\nfine\r\n", reads: true, as: isProtocolError, text: "chunk"},
	{name: "chunk size that is no number", send: chunkedHead + "four\r\nfine\r\n", reads: true, as: isProtocolError, text: "chunk"},
	{name: "chunk size beyond int64", send: chunkedHead + "8000000000000000\r\nfine\r\n", reads: true, as: isProtocolError, text: "chunk"},
	{name: "chunk size of many digits", serve: func(c *rawConn) { c.send(chunkedHead); c.flood("0") }, reads: true, as: isProtocolError, text: "chunk"},
	{name: "no chunk size", send: chunkedHead + "\r\nfine\r\n", reads: true, as: isProtocolError, text: "chunk"},
	{name: "chunk longer than its size", send: chunkedHead + "2\r\nfine\r\n0\r\n\r\n", reads: true, as: isProtocolError, text: "chunk"},
	{name: "chunk size ended by LF", send: chunkedHead + "4\nfine\r\n0\r\n\r\n", reads: true, as: isProtocolError, text: "CRLF"},
	{name: "endless chunk extension", serve: func(c *rawConn) { c.send(chunkedHead, "4;"); c.flood("x=y;") }, reads: true, as: isProtocolError, text: "chunk"},
	{name: "tiny chunks with large extensions", serve: func(c *rawConn) {
		c.send(chunkedHead)
		c.flood("1;" + strings.Repeat("x", 2000) + "\r\na\r\n")
	}, reads: true, as: isProtocolError, text: "chunk"},
	{name: "endless trailer", serve: func(c *rawConn) { c.send(chunkedHead, "0\r\n"); c.flood("X: y\r\n") }, reads: true, as: isProtocolError},
	{name: "endless trailer line", serve: func(c *rawConn) { c.send(chunkedHead, "0\r\nX: "); c.flood("y") }, reads: true, as: isProtocolError},
	{name: "malformed trailer", send: chunkedHead + "0\r\nno colon\r\n\r\n", reads: true, as: isProtocolError, text: "no colon"},
	{name: "NUL in a trailer", send: chunkedHead + "0\r\nX: \x00\r\n\r\n", reads: true, as: isProtocolError, text: "control character"},

	{name: "gzip that is none", send: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 17\r\n\r\nnot gzip, is it?!", reads: true, text: "gzip", next: 1},
	{name: "truncated gzip", send: gzipAnswer(gzipped("fine")[:20]), reads: true, text: "gzip", is: io.ErrUnexpectedEOF, next: 1},
	{name: "gzip with its last byte missing", send: gzipAnswer(gzipped("fine")[:len(gzipped("fine"))-1]), reads: true, text: "gzip", is: io.ErrUnexpectedEOF, next: 1},
	{name: "gzip with a wrong checksum", send: gzipAnswer(flipped(gzipped("fine"), -5)), reads: true, text: "gzip", next: 1},
	{name: "gzip with garbage behind", send: gzipAnswer(gzipped("fine") + "garbage behind the stream"), reads: true, text: "gzip", next: 1},
	{name: "gzip with a little garbage behind", send: gzipAnswer(gzipped("fine") + "x"), reads: true, text: "gzip", next: 1},
	{name: "gzip with zeros behind", send: gzipAnswer(gzipped("fine") + strings.Repeat("\x00", 512)), reads: true, text: "gzip", next: 1},
	{name: "gzip with a truncated member behind", send: gzipAnswer(gzipped("fine") + gzipped("more")[:15]), reads: true, text: "gzip", is: io.ErrUnexpectedEOF, next: 1},
	{name: "gzip on a connection that closes", send: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzipped("fine")[:20], closes: true, reads: true, text: "gzip", is: io.ErrUnexpectedEOF},
	{name: "gzip in a truncated body", send: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n" + gzipped("fine")[:20], closes: true, reads: true, as: isProtocolError, is: io.ErrUnexpectedEOF},
	{name: "gzip that stalls", send: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n" + gzipped("fine")[:12], reads: true, timeout: true},
}

func TestBadInput(t *testing.T) {
	for _, list := range [][]badInput{badHeads, badBodies, badUploads()} {
		for _, test := range list {
			t.Run(test.name, func(t *testing.T) { test.run(t, func(b io.Reader) error { _, err := io.ReadAll(b); return err }) })
		}
	}
	// A body has other ways out than Read with a large buffer.
	file := func(b io.Reader) error {
		f, err := os.Create(filepath.Join(t.TempDir(), "body"))
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(f, b)
		return err
	}
	bytewise := func(b io.Reader) error { _, err := io.ReadAll(iotest.OneByteReader(b)); return err }
	memory := func(b io.Reader) error { _, err := io.Copy(new(bytes.Buffer), b); return err }
	for _, test := range badBodies {
		if !test.timeout {
			t.Run(test.name+", byte by byte", func(t *testing.T) { test.run(t, bytewise) })
			t.Run(test.name+", copied", func(t *testing.T) { test.run(t, memory) })
		}
		t.Run(test.name+", into a file", func(t *testing.T) { test.run(t, file) })
	}
}

// Where a test puts its secrets, none of which may reach an error.
const (
	secretUser   = "hunter2"
	secretQuery  = "tok3n"
	secretHeader = "s3cret"
)

func (b badInput) run(t *testing.T, read func(io.Reader) error) {
	testkit.CheckGoroutines(t)
	server := serveRaw(t, func(n int, c *rawConn) {
		if n > 0 {
			c.answerFine()
			return
		}
		if b.body == nil {
			c.head()
		}
		if b.serve != nil {
			b.serve(c)
			return
		}
		c.send(b.send)
		if b.closes {
			c.finish()
		} else if b.next == 1 {
			c.answerFine()
		}
	})
	client := okhttp.New()
	defer client.Close()
	var body *trackedBody
	req := newRequest(t, b.method, "http://user:"+secretUser+"@"+server.Addr()+"/path?key="+secretQuery, nil)
	req.Header.Set("Authorization", "Bearer "+secretHeader)
	req.Header.Set("X-Api-Key", secretHeader)
	for name, values := range b.header {
		req.Header[name] = values
	}
	if b.body != nil {
		body = &trackedBody{Reader: b.body()}
		req.Body, req.ContentLength = body, b.length
	}
	opts := b.opts
	if b.timeout {
		opts = append(opts, okhttp.WithReadTimeout(shortWait))
	}

	start := time.Now()
	resp, err := client.NewCall(req, opts...).Execute()
	if b.reads && err != nil {
		t.Errorf("failed before the body: %v", err)
	}
	if err == nil {
		err = read(resp.Body)
		if _, again := resp.Body.Read(make([]byte, 1)); again == nil || again == io.EOF {
			t.Errorf("the error does not stick: %v", again)
		}
		resp.Body.Close()
	}
	took := time.Since(start)
	phase := b.phase
	if b.reads {
		phase = okhttp.PhaseBody
	}
	checkBadInputError(t, err, phase, server.Addr(), b)
	if took > 3*time.Second {
		t.Errorf("took %v", took)
	}
	if body != nil {
		waitForCloses(t, body)
	}
	if b.next != 1 {
		server.WaitOpen(0)
	}
	wantFine(t, client, server.URL("/next"))
	want := 2
	if b.next > 0 {
		want = b.next
	}
	if got := server.Accepted(); got != want {
		t.Errorf("%d connections, want %d", got, want)
	}
	client.Close()
	server.WaitOpen(0)
	if s := client.Pool().Stats(); s.Open != 0 || s.Idle != 0 || s.Waiting != 0 || s.Dialing != 0 {
		t.Errorf("the pool is left with %+v", s)
	}
}

// checkBadInputError holds an error to what all errors must be, and to what this
// one must be.
func checkBadInputError(t *testing.T, err error, phase okhttp.Phase, host string, b badInput) {
	t.Helper()
	var e *okhttp.Error
	if !errors.As(err, &e) {
		t.Fatalf("no *okhttp.Error: %T %v", err, err)
	}
	text := err.Error()
	t.Log(text)
	if !strings.HasPrefix(text, "okhttp: "+string(phase)+": ") || strings.Count(text, "okhttp") != 1 {
		t.Errorf("error does not begin with its phase %q: %s", phase, text)
	}
	if e.Phase != phase || e.Host != host {
		t.Errorf("phase %q host %q, want %q %q", e.Phase, e.Host, phase, host)
	}
	if !strings.Contains(text, host) || strings.Contains(text, "\n") {
		t.Errorf("error does not name %s in one line: %q", host, text)
	}
	if phase != okhttp.PhaseRequest && phase != okhttp.PhaseDNS && e.Addr == "" {
		t.Errorf("error names no address: %#v", e)
	}
	all := text
	for _, prior := range e.Prior {
		all += prior.Error()
	}
	for _, secret := range []string{secretUser, secretQuery, secretHeader, "key=", "user:"} {
		if strings.Contains(all, secret) {
			t.Errorf("error holds a secret: %s", all)
		}
	}
	if !strings.Contains(text, b.text) {
		t.Errorf("error does not say %q: %s", b.text, text)
	}
	if b.is != nil && !errors.Is(err, b.is) {
		t.Errorf("error is no %v: %v", b.is, err)
	}
	if b.as != nil && !b.as(err) {
		t.Errorf("error is of another type: %#v", e.Err)
	}
	if e.Timeout() != b.timeout {
		t.Errorf("Timeout() = %t, want %t", e.Timeout(), b.timeout)
	}
	if b.timeout && b.is == nil {
		var timeout *okhttp.TimeoutError
		if !errors.As(err, &timeout) || !errors.Is(err, okhttp.ErrReadTimeout) || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("no read timeout: %v", err)
		}
	}
}

// waitForCloses checks that a request body was closed once. An upload may
// outlive its call only where its reader cannot be stopped.
func waitForCloses(t *testing.T, body *trackedBody) {
	t.Helper()
	if n := body.closes.Load(); n != 1 {
		t.Errorf("the request body was closed %d times", n)
	}
}

// badUploads are request bodies that do not keep their promise.
func badUploads() []badInput {
	var all []badInput
	reads := func(c *rawConn) { io.Copy(io.Discard, c) } //nolint:errcheck // until the client gives up
	for _, length := range []int64{-1, 1 << 20, 100} {
		suffix := fmt.Sprintf(" (length %d)", length)
		all = append(all,
			badInput{name: "body fails at once" + suffix, length: length, serve: reads, method: "PUT",
				body:  func() io.Reader { return readerFunc(func([]byte) (int, error) { return 0, errBodyBroke }) },
				phase: okhttp.PhaseSend, is: errBodyBroke, as: isBodyError},
			badInput{name: "body fails in the middle" + suffix, length: length, serve: reads, method: "POST",
				body: func() io.Reader {
					return io.MultiReader(strings.NewReader("some bytes"), readerFunc(func([]byte) (int, error) { return 0, errBodyBroke }))
				}, phase: okhttp.PhaseSend, is: errBodyBroke, as: isBodyError},
			badInput{name: "body blocks until Close" + suffix, length: length, serve: reads, method: "POST",
				body:  func() io.Reader { r, _ := io.Pipe(); return r },
				phase: okhttp.PhaseSend, is: okhttp.ErrCallTimeout, timeout: true,
				opts: []okhttp.Option{okhttp.WithCallTimeout(shortWait)}},
		)
		if length < 0 {
			continue
		}
		all = append(all,
			badInput{name: "body is shorter" + suffix, length: length, serve: reads, method: "POST",
				body:  func() io.Reader { return io.LimitReader(zeros{}, length-1) },
				phase: okhttp.PhaseSend, is: io.ErrUnexpectedEOF, as: isBodyError, text: "shorter"},
			badInput{name: "body is longer" + suffix, length: length, serve: reads, method: "POST",
				body:  func() io.Reader { return io.LimitReader(zeros{}, length+1) },
				phase: okhttp.PhaseSend, as: isBodyError, text: "longer"},
			badInput{name: "body is endless" + suffix, length: length, serve: reads, method: "POST",
				body:  func() io.Reader { return zeros{} },
				phase: okhttp.PhaseSend, as: isBodyError, text: "longer"},
			badInput{name: "body gives impossible counts" + suffix, length: length, serve: reads, method: "POST",
				body:  func() io.Reader { return readerFunc(func(p []byte) (int, error) { return len(p) + 1, nil }) },
				phase: okhttp.PhaseSend, as: isBodyError, text: "impossible"},
			badInput{name: "body makes no progress" + suffix, length: length, serve: reads, method: "POST",
				body:  func() io.Reader { return readerFunc(func([]byte) (int, error) { return 0, nil }) },
				phase: okhttp.PhaseSend, as: isBodyError, is: io.ErrNoProgress},
		)
	}
	for _, expect := range []struct {
		name string
		badInput
	}{
		{"closes", badInput{closes: true, is: io.EOF}},
		{"answers with garbage", badInput{send: "garbage\r\n\r\n", as: isProtocolError}},
		{"closes within the head", badInput{send: "HTTP/1.1 10", closes: true, as: isProtocolError, is: io.ErrUnexpectedEOF}},
		{"sends 100 without end", badInput{serve: func(c *rawConn) { c.head(); c.flood("HTTP/1.1 102 Processing\r\n\r\n") }, as: isProtocolError}},
	} {
		b := expect.badInput
		b.name = "expecting 100, the server " + expect.name
		b.method, b.length, b.phase = "PUT", 1<<20, okhttp.PhaseSend
		b.header = http.Header{"Expect": {"100-continue"}}
		b.body = func() io.Reader { return io.LimitReader(zeros{}, 1<<20) }
		if b.serve == nil {
			send, closes := b.send, b.closes
			b.serve = func(c *rawConn) {
				c.head()
				c.send(send)
				if closes {
					c.finish()
				}
			}
		}
		all = append(all, b)
	}
	return all
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestBodyReaderThatCannotBeStopped: the call ends although the body's Read does
// not come back, not even when it is closed, and nothing is read or closed twice
// when it does.
func TestBodyReaderThatCannotBeStopped(t *testing.T) {
	testkit.CheckGoroutines(t)
	server := serveRaw(t, func(n int, c *rawConn) {
		if n > 0 {
			c.answerFine()
			return
		}
		c.head()
	})
	client := okhttp.New()
	defer client.Close()
	release := make(chan struct{})
	body := &trackedBody{Reader: readerFunc(func([]byte) (int, error) { <-release; return 0, io.EOF })}
	req := newRequest(t, "POST", server.URL("/"), body)
	start := time.Now()
	_, _, err := fetch(client, req, okhttp.WithCallTimeout(shortWait))
	if !errors.Is(err, okhttp.ErrCallTimeout) {
		t.Error(err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
	server.WaitOpen(0)
	wantFine(t, client, server.URL("/"))
	close(release)
	server.WaitOpen(1)
	client.Close()
	waitForCloses(t, body)
	if body.reads.Load() != 1 {
		t.Errorf("%d reads", body.reads.Load())
	}
}
