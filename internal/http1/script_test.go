package http1

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// scriptConn is a connection whose peer has said all it will say. Each element
// of reads is what one Read gives at most; then comes io.EOF.
type scriptConn struct {
	net.Conn
	reads     []string
	wrote     bytes.Buffer
	writes    int
	deadlines int // calls of Set…Deadline
	closed    bool
}

func (s *scriptConn) Read(p []byte) (int, error) {
	if len(s.reads) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.reads[0])
	if s.reads[0] = s.reads[0][n:]; s.reads[0] == "" {
		s.reads = s.reads[1:]
	}
	return n, nil
}

func (s *scriptConn) Write(p []byte) (int, error)      { s.writes++; return s.wrote.Write(p) }
func (s *scriptConn) Close() error                     { s.closed = true; return nil }
func (s *scriptConn) SetDeadline(time.Time) error      { s.deadlines++; return nil }
func (s *scriptConn) SetReadDeadline(time.Time) error  { s.deadlines++; return nil }
func (s *scriptConn) SetWriteDeadline(time.Time) error { s.deadlines++; return nil }

// script returns a codec whose peer sends the given pieces.
func script(reads ...string) (*Conn, *scriptConn) {
	s := &scriptConn{reads: reads}
	return NewConn(s, s), s
}

// bytewise makes a script of which each read gives one byte.
func bytewise(s string) []string { return strings.Split(s, "") }

func get(t testing.TB) *http.Request {
	t.Helper()
	return request(t, "GET", "http://example.com/", nil)
}

func request(t testing.TB, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// answer is what came of one exchange.
type answer struct {
	resp     http.Response
	body     string
	err      error // of the head or the body
	headErr  bool  // err is the head's
	interim  []int // status codes of 1xx responses
	reusable bool
	reason   string
	trailer  http.Header
}

// exchange sends req without a body and reads the answer to its end.
func exchange(c *Conn, req *http.Request, o httpsem.ExchangeOptions) (a answer) {
	c.Begin(o)
	defer func() { a.reusable, a.reason = c.End() }()
	if a.err = c.WriteHead(req, 0); a.err != nil {
		return a
	}
	if a.err = c.Flush(); a.err != nil {
		return a
	}
	for {
		a.resp = http.Response{}
		if a.err = c.ReadHead(req, &a.resp); a.err != nil {
			a.headErr = true
			return a
		}
		if a.resp.StatusCode >= 200 || a.resp.StatusCode == 101 {
			break
		}
		a.interim = append(a.interim, a.resp.StatusCode)
	}
	var body strings.Builder
	var buf [100]byte
	for {
		n, err := c.ReadBody(buf[:])
		body.Write(buf[:n])
		if err != nil {
			if err != io.EOF {
				a.err = err
			}
			break
		}
	}
	a.body, a.trailer = body.String(), c.Trailer()
	return a
}

// receive lets a GET be answered by the given bytes.
func receive(t testing.TB, reads ...string) answer {
	t.Helper()
	c, _ := script(reads...)
	return exchange(c, get(t), httpsem.ExchangeOptions{})
}

func newResponse() *http.Response { return new(http.Response) }

// copyTo copies the whole body; that it is complete is no error.
func copyTo(c *Conn, w io.Writer) (int64, error) {
	n, err := c.WriteBodyTo(w, -1)
	if err == io.EOF {
		err = nil
	}
	return n, err
}
