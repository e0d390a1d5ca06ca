package http1

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// headOf encodes a head and returns it with visible line ends.
func headOf(t *testing.T, req *http.Request, length int64, order ...string) string {
	t.Helper()
	c, s := script()
	c.Begin(httpsem.ExchangeOptions{HeaderOrder: order})
	defer c.End()
	if err := c.WriteHead(req, length); err != nil {
		t.Fatal(err)
	}
	if s.writes != 0 {
		t.Error("WriteHead sent something")
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	return s.wrote.String()
}

func lines(l ...string) string { return strings.Join(l, "\r\n") + "\r\n\r\n" }

func TestHeadOnTheWire(t *testing.T) {
	req := request(t, "GET", "http://user:pass@example.com:8080/a%20b?c=d#e", nil)
	req.Header = http.Header{"b": {"2", "3"}, "Zz": {" trimmed\t"}, "Aa": {"1"}, "User-Agent": {"ua"}, "host": {"example.com:8080"}}
	want := lines("GET /a%20b?c=d HTTP/1.1", "Host: example.com:8080", "User-Agent: ua", "Aa: 1", "Zz: trimmed", "b: 2", "b: 3")
	if got := headOf(t, req, 0); got != want {
		t.Errorf("got %q", got)
	}

	req = request(t, "", "http://[fe80::1%25eth0]/", nil)
	req.Method = ""
	if got := headOf(t, req, 0); got != lines("GET / HTTP/1.1", "Host: [fe80::1]") {
		t.Errorf("got %q", got)
	}

	req = request(t, "CONNECT", "http://example.com:443", nil)
	req.URL.Path = ""
	if got := headOf(t, req, 0); got != lines("CONNECT example.com:443 HTTP/1.1", "Host: example.com:443") {
		t.Errorf("got %q", got)
	}

	for _, tt := range []struct {
		method string
		length int64
		want   string
	}{
		{"POST", 0, "Content-Length: 0\r\n"},
		{"PUT", 0, "Content-Length: 0\r\n"},
		{"PATCH", 0, "Content-Length: 0\r\n"},
		{"GET", 0, ""},
		{"DELETE", 0, ""},
		{"GET", 5, "Content-Length: 5\r\n"},
		{"POST", -1, "Transfer-Encoding: chunked\r\nTrailer: X-A,X-B\r\n"},
		{"POST", 5, "Content-Length: 5\r\n"},
	} {
		req := request(t, tt.method, "http://a", nil)
		req.Trailer = http.Header{"X-B": nil, "x-a": nil}
		want := tt.method + " / HTTP/1.1\r\nHost: a\r\n" + tt.want + "\r\n"
		if got := headOf(t, req, tt.length); got != want {
			t.Errorf("%s, %d: got %q", tt.method, tt.length, got)
		}
	}
}

func TestConnectionClose(t *testing.T) {
	req := request(t, "GET", "http://a", nil)
	req.Close = true
	if got := headOf(t, req, 0); got != lines("GET / HTTP/1.1", "Host: a", "Connection: close") {
		t.Errorf("got %q", got)
	}
	req.Header["connection"] = []string{"x, Close"}
	if got := headOf(t, req, 0); got != lines("GET / HTTP/1.1", "Host: a", "connection: x, Close") {
		t.Errorf("got %q", got)
	}
	for _, viaHeader := range []bool{false, true} {
		req := get(t)
		if viaHeader {
			req.Header.Set("Connection", "close")
		} else {
			req.Close = true
		}
		c, _ := script("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		if a := exchange(c, req, httpsem.ExchangeOptions{}); a.err != nil || a.reusable || a.resp.Close {
			t.Errorf("reusable %v, %v", a.reusable, a.err)
		}
	}
}

func TestHeaderOrder(t *testing.T) {
	req := request(t, "POST", "http://a", nil)
	req.Header = http.Header{"Accept": {"x"}, "X-Multi": {"1", "2"}, "Zeta": {"z"}, "Alpha": {"a"}, "x-lower": {"l"}}
	req.Close = true
	got := headOf(t, req, 5, "x-MULTI", "content-length", "Missing", "HOST", "accept", "Accept", "\u212Aonnection")
	want := lines("POST / HTTP/1.1", "x-MULTI: 1", "x-MULTI: 2", "content-length: 5", "HOST: a", "accept: x",
		"Connection: close", "Alpha: a", "Zeta: z", "x-lower: l")
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	got = headOf(t, req, -1, "Zeta", "Transfer-Encoding", "Connection")
	want = lines("POST / HTTP/1.1", "Host: a", "Zeta: z", "Transfer-Encoding: chunked", "Connection: close",
		"Accept: x", "Alpha: a", "X-Multi: 1", "X-Multi: 2", "x-lower: l")
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestBadRequestSendsNothing(t *testing.T) {
	for _, change := range []func(*http.Request){
		func(r *http.Request) { r.Header["X"] = []string{"a\r\nEvil: b"} },
		func(r *http.Request) { r.Header["a b"] = []string{"c"} },
		func(r *http.Request) { r.Header["transfer-encoding"] = []string{"chunked"} },
		func(r *http.Request) { r.Host = "a\nb" },
		func(r *http.Request) { r.Method = "A B" },
	} {
		req := get(t)
		change(req)
		c, s := script()
		c.Begin(httpsem.ExchangeOptions{})
		var re *httpsem.RequestError
		if err := c.WriteHead(req, 5); !errors.As(err, &re) {
			t.Errorf("got %v", err)
		}
		if c.Sent() || s.writes != 0 {
			t.Error("something was sent")
		}
		c.End()
	}
}

// What net/http would send for a request is what goes out here too.
func TestSameBytesAsNetHTTP(t *testing.T) {
	for _, tt := range []struct {
		method string
		body   string
		header http.Header
		close  bool
	}{
		{"GET", "", http.Header{"User-Agent": {"ua"}, "Accept": {"b", "a"}, "x-lower": {"1"}, "Accept-Encoding": {"gzip"}}, false},
		{"POST", "hello", http.Header{"User-Agent": {"ua"}, "Content-Type": {"text/plain"}}, true},
		{"PUT", "", http.Header{"User-Agent": {"ua"}}, false},
	} {
		req := request(t, tt.method, "http://example.com/a/b?c", strings.NewReader(tt.body))
		if tt.body == "" {
			req.Body = nil
		}
		req.Header, req.Close = tt.header, tt.close
		c, s := script()
		c.Begin(httpsem.ExchangeOptions{})
		if err := c.WriteHead(req, int64(len(tt.body))); err != nil {
			t.Fatal(err)
		}
		if _, err := c.WriteBody(strings.NewReader(tt.body), int64(len(tt.body)), true, nil); err != nil {
			t.Fatal(err)
		}
		c.End()
		var want bytes.Buffer
		if err := req.Write(&want); err != nil {
			t.Fatal(err)
		}
		if s.wrote.String() != want.String() {
			t.Errorf("got  %q\nwant %q", s.wrote.String(), want.String())
		}
	}
}

// Sent says no only where it is certain that nothing has left, because a request
// that may have left is not sent again lightly.
func TestSent(t *testing.T) {
	client, server := tcpPair(t)
	c := NewConn(client, client)
	c.Begin(httpsem.ExchangeOptions{})
	req := get(t)
	if err := c.WriteHead(req, 0); err != nil {
		t.Fatal(err)
	}
	if c.Sent() {
		t.Error("sent before Flush")
	}
	if err := c.Flush(); err != nil || !c.Sent() {
		t.Error("not sent", err)
	}
	c.End()
	server.Close()
	client.Close()

	c.Begin(httpsem.ExchangeOptions{})
	if err := c.WriteHead(req, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err == nil || c.Sent() {
		t.Errorf("on a closed socket: sent %v, %v", c.Sent(), err)
	}
	if ok, _ := c.End(); ok {
		t.Error("reusable")
	}
}
