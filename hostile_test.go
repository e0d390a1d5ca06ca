package okhttp_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp"
)

// rawServer is a server whose answers are bytes, right or wrong. It hands each
// connection, numbered from 0, to a script; what the script leaves open it keeps
// until the client closes it, so that a socket which is left open is noticed.
type rawServer struct {
	t      testing.TB
	ln     net.Listener
	script func(n int, c *rawConn)
	tls    *tls.Config

	mu       sync.Mutex
	accepted int
	conns    map[net.Conn]bool
	changed  chan struct{} // closed and replaced at each change
	done     sync.WaitGroup
}

// rawConn is the server's end of a connection.
type rawConn struct {
	net.Conn
	br *bufio.Reader
}

// serveRaw starts a server on a loopback port, to be closed with the test.
func serveRaw(t testing.TB, script func(n int, c *rawConn)) *rawServer {
	t.Helper()
	return serveRawTLS(t, nil, script)
}

func serveRawTLS(t testing.TB, config *tls.Config, script func(n int, c *rawConn)) *rawServer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveRawOn(t, ln, config, script)
}

func serveRawOn(t testing.TB, ln net.Listener, config *tls.Config, script func(n int, c *rawConn)) *rawServer {
	s := &rawServer{t: t, ln: ln, script: script, tls: config, conns: map[net.Conn]bool{}, changed: make(chan struct{})}
	s.done.Go(s.accept)
	t.Cleanup(s.Close)
	return s
}

// Close ends the server and all its connections.
func (s *rawServer) Close() {
	s.ln.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.done.Wait()
}

func (s *rawServer) accept() {
	for n := 0; ; n++ {
		c, err := s.ln.Accept()
		if err != nil {
			return
		}
		s.change(func() { s.accepted++; s.conns[c] = true })
		s.done.Go(func() {
			defer s.change(func() { delete(s.conns, c) })
			defer c.Close()
			over := c
			if s.tls != nil {
				over = tls.Server(c, s.tls)
			}
			s.script(n, &rawConn{over, bufio.NewReader(over)})
			io.Copy(io.Discard, c) //nolint:errcheck // until the client closes, in whatever way
		})
	}
}

func (s *rawServer) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Accepted returns how many connections there were.
func (s *rawServer) Accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Open returns how many connections the client has not closed.
func (s *rawServer) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// WaitOpen waits until the client has closed all but n connections.
func (s *rawServer) WaitOpen(n int) {
	s.t.Helper()
	timeout := time.After(5 * time.Second)
	for {
		s.mu.Lock()
		open, changed := len(s.conns), s.changed
		s.mu.Unlock()
		if open <= n {
			return
		}
		select {
		case <-changed:
		case <-timeout:
			s.t.Errorf("%d connections are left open, want %d", open, n)
			return
		}
	}
}

// Addr is the server's host:port, and URL an address on it.
func (s *rawServer) Addr() string { return s.ln.Addr().String() }

func (s *rawServer) URL(path string) string {
	if s.tls != nil {
		return "https://" + s.Addr() + path
	}
	return "http://" + s.Addr() + path
}

// head reads one request head, "" if there is none.
func (c *rawConn) head() string {
	var b strings.Builder
	for {
		line, err := c.br.ReadString('\n')
		b.WriteString(line)
		if err != nil || line == "\r\n" {
			if b.Len() == len(line) {
				return ""
			}
			return b.String()
		}
	}
}

// request reads one request with its body.
func (c *rawConn) request() (head, body string) {
	head = c.head()
	if _, rest, ok := strings.Cut(head, "\r\nContent-Length: "); ok {
		length, _, _ := strings.Cut(rest, "\r\n")
		n, _ := strconv.Atoi(length)
		b := make([]byte, n)
		n, _ = io.ReadFull(c.br, b)
		return head, string(b[:n])
	}
	if strings.Contains(head, "\r\nTransfer-Encoding: chunked\r\n") {
		req, err := http.ReadRequest(bufio.NewReader(io.MultiReader(strings.NewReader(head), c.br)))
		if err == nil {
			b, _ := io.ReadAll(req.Body)
			return head, string(b)
		}
	}
	return head, ""
}

// send writes the bytes as they are.
func (c *rawConn) send(parts ...string) {
	for _, p := range parts {
		io.WriteString(c, p) //nolint:errcheck // the client may have gone; the test looks at the client
	}
}

// finish ends the sending half, as a server that closes does, but still sees
// whether the client closes, too.
func (c *rawConn) finish() {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}

// reset ends the connection with a reset.
func (c *rawConn) reset() {
	below := c.Conn
	if over, ok := below.(interface{ NetConn() net.Conn }); ok {
		below = over.NetConn()
	}
	if socket, ok := below.(interface{ SetLinger(int) error }); ok {
		socket.SetLinger(0)
	}
	below.Close()
}

const fineAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"

// answerFine serves good answers until the client leaves.
func (c *rawConn) answerFine() {
	for {
		if head, _ := c.request(); head == "" {
			return
		}
		c.send(fineAnswer)
	}
}

// wantFine makes a call that must succeed.
func wantFine(t testing.TB, c *okhttp.Client, url string) {
	t.Helper()
	resp, err := c.Get(context.Background(), url)
	if err != nil {
		t.Fatalf("the next call: %v", err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || string(body) != "fine" {
		t.Fatalf("the next call: %q, %v", body, err)
	}
}

// fetch makes a call and reads its body.
func fetch(c *okhttp.Client, req *http.Request, opts ...okhttp.Option) (*http.Response, string, error) {
	resp, err := c.NewCall(req, opts...).Execute()
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// trackedBody is a request body that knows what is done to it.
type trackedBody struct {
	io.Reader
	reads, closes atomic.Int32
}

func (b *trackedBody) Read(p []byte) (int, error) {
	b.reads.Add(1)
	return b.Reader.Read(p)
}

func (b *trackedBody) Close() error {
	b.closes.Add(1)
	if c, ok := b.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// readerFunc is an io.Reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

var errBodyBroke = errors.New("the disk caught fire")

// flood sends the same again and again until the client hangs up.
func (c *rawConn) flood(s string) {
	s = strings.Repeat(s, 1+(32<<10)/len(s))
	for {
		if _, err := io.WriteString(c, s); err != nil {
			return
		}
	}
}

func newReader(c net.Conn) *bufio.Reader { return bufio.NewReader(c) }

// gzipped compresses s.
func gzipped(s string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	io.WriteString(w, s) //nolint:errcheck // into memory
	w.Close()
	return b.String()
}

// flipped changes one byte of s, counted from the end if at is negative.
func flipped(s string, at int) string {
	b := []byte(s)
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 0xff
	return string(b)
}

func gzipAnswer(compressed string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(compressed), compressed)
}
