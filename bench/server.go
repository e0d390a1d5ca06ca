package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

// endpoints says where the server listens. It prints this as one line of JSON.
type endpoints struct {
	Plain   string
	TLS     string // hands out session tickets
	TLSOff  string // does not
	H2C     string // HTTP/2 by prior knowledge
	H2TLS   string // HTTP/2 by ALPN
	Control string
	CA      []byte // the certificate in DER
}

// server answers requests with fixed bytes. It is as lean as it can be so that
// the cores it shares with the client are the client's.
type server struct {
	answers   map[string]answer
	h2Answers map[string]*h2Answer
	counts    counters

	mu      sync.Mutex
	release chan struct{} // closed to let the second halves of /drip go; then replaced
}

// counters are what the server has seen so far, on all doors together.
type counters struct {
	accepted, resumed, bodyBytes atomic.Int64
}

// serverCounts is a snapshot of counters, as the control connection gives it.
type serverCounts struct{ Accepted, Resumed, BodyBytes int64 }

func (c *counters) snapshot() serverCounts {
	return serverCounts{c.accepted.Load(), c.resumed.Load(), c.bodyBytes.Load()}
}

func newServer() *server {
	return &server{answers: answers(), h2Answers: h2Answers(), release: make(chan struct{})}
}

// serve runs the server until standard input ends, which it does when the
// parent is gone.
func serve() error {
	where, err := startListening()
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(where); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// startListening opens the server's doors. They stay open as long as the process
// lasts.
func startListening() (endpoints, error) {
	s := newServer()
	certificate, err := selfSigned()
	if err != nil {
		return endpoints{}, err
	}
	mine := []tls.Certificate{certificate}
	where := endpoints{CA: certificate.Certificate[0]}
	for _, door := range []struct {
		address *string
		handle  func(net.Conn)
	}{
		{&where.Plain, s.handle},
		{&where.TLS, s.overTLS(s.handle, &tls.Config{Certificates: mine, NextProtos: []string{"http/1.1"}})},
		{&where.TLSOff, s.overTLS(s.handle, &tls.Config{Certificates: mine, NextProtos: []string{"http/1.1"}, SessionTicketsDisabled: true})},
		{&where.H2C, s.handleH2},
		{&where.H2TLS, s.overTLS(s.handleH2, &tls.Config{Certificates: mine, NextProtos: []string{"h2"}})},
		{&where.Control, s.control},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return endpoints{}, err
		}
		*door.address = l.Addr().String()
		go accept(l, door.handle)
	}
	return where, nil
}

func accept(l net.Listener, handle func(net.Conn)) {
	for {
		conn, err := l.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, "server:", err)
			return
		}
		go func() {
			defer conn.Close()
			handle(conn)
		}()
	}
}

// overTLS returns a handler that shakes hands first.
func (s *server) overTLS(handle func(net.Conn), config *tls.Config) func(net.Conn) {
	return func(conn net.Conn) {
		secure := tls.Server(conn, config)
		if err := secure.Handshake(); err != nil {
			fmt.Fprintln(os.Stderr, "server: handshake:", err)
			return
		}
		if secure.ConnectionState().DidResume {
			s.counts.resumed.Add(1)
		}
		handle(secure)
	}
}

// handle answers the requests of one connection until the client leaves or has
// asked for the connection to be closed. Clients here never pipeline.
func (s *server) handle(conn net.Conn) {
	s.counts.accepted.Add(1)
	buf := make([]byte, 4*kib)
	var scratch []byte // for request bodies, made when the first large one comes
	for {
		request, rest, err := readHead(conn, buf)
		if err != nil {
			return // the client has left, which is how a connection ends here
		}
		if request.chunked || request.length > int64(len(rest)) {
			if scratch == nil {
				scratch = make([]byte, 256*kib)
			}
			n, err := discardBody(conn, request, rest, scratch)
			s.counts.bodyBytes.Add(n)
			if err != nil {
				return
			}
		} else {
			s.counts.bodyBytes.Add(request.length)
		}
		if err := s.answer(conn, request.path); err != nil || request.close {
			return
		}
	}
}

// requestHead is what the server wants to know about a request. path is a piece
// of the buffer that was read into.
type requestHead struct {
	path    []byte
	length  int64
	chunked bool
	close   bool
}

// readHead reads into buf up to the end of a request's head, and returns what
// was read beyond it.
func readHead(conn net.Conn, buf []byte) (requestHead, []byte, error) {
	n := 0
	for {
		if n == len(buf) {
			return requestHead{}, nil, fmt.Errorf("request head over %d bytes", len(buf))
		}
		got, err := conn.Read(buf[n:])
		n += got
		if end := bytes.Index(buf[:n], []byte("\r\n\r\n")); end >= 0 {
			return parseHead(buf[:end+2]), buf[end+4 : n], nil
		}
		if err != nil {
			return requestHead{}, nil, err
		}
	}
}

// parseHead finds the few fields it looks for only in the spelling that the
// clients measured here use.
func parseHead(head []byte) requestHead {
	var r requestHead
	if _, after, ok := bytes.Cut(head, []byte(" ")); ok {
		r.path, _, _ = bytes.Cut(after, []byte(" "))
	}
	if _, after, ok := bytes.Cut(head, []byte("\r\nContent-Length: ")); ok {
		digits, _, _ := bytes.Cut(after, []byte("\r\n"))
		r.length, _ = strconv.ParseInt(string(digits), 10, 64)
	}
	r.chunked = bytes.Contains(head, []byte("\r\nTransfer-Encoding: chunked\r\n"))
	r.close = bytes.Contains(head, []byte("\r\nConnection: close\r\n"))
	return r
}

// discardBody reads a request's body, of which rest has come already, and
// returns its length.
func discardBody(conn net.Conn, r requestHead, rest, scratch []byte) (int64, error) {
	if r.chunked {
		in := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(rest), conn), 64*kib)
		n, err := io.CopyBuffer(onlyWriter{io.Discard}, httputil.NewChunkedReader(in), scratch)
		if err == nil {
			_, err = in.ReadString('\n') // the empty trailer section
		}
		return n, err
	}
	for left := r.length - int64(len(rest)); left > 0; {
		n, err := conn.Read(scratch[:min(left, int64(len(scratch)))])
		left -= int64(n)
		if err != nil {
			return r.length - left, err
		}
	}
	return r.length, nil
}

// onlyWriter hides all methods of a writer but Write.
type onlyWriter struct{ io.Writer }

func (s *server) answer(conn net.Conn, path []byte) error {
	a, ok := s.answers[string(path)]
	if !ok {
		return fmt.Errorf("no answer for %s", path)
	}
	// Taken before the client can know of this answer, and ask for its release.
	released := s.released()
	if _, err := conn.Write(a.head); err != nil {
		return err
	}
	if a.held {
		<-released
	}
	for range a.times {
		if _, err := conn.Write(a.body); err != nil {
			return err
		}
	}
	return nil
}

// released returns what is closed by the next release.
func (s *server) released() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.release
}

// control answers questions about the server itself: "counts" with a
// serverCounts, "release" with a line once every held /drip may go on.
func (s *server) control(conn net.Conn) {
	lines := bufio.NewScanner(conn)
	out := json.NewEncoder(conn)
	for lines.Scan() {
		switch lines.Text() {
		case "counts":
			out.Encode(s.counts.snapshot())
		case "release":
			s.mu.Lock()
			close(s.release)
			s.release = make(chan struct{})
			s.mu.Unlock()
			out.Encode("released")
		}
	}
}
