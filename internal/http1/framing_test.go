package http1

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"testing"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// The table of framing and reuse: a response to a method, what its body is, and
// whether the connection lives on.
func TestFramingAndReuse(t *testing.T) {
	for _, tt := range []struct {
		name     string
		method   string // GET if empty
		raw      string
		length   int64
		body     string
		close    bool
		reusable bool
	}{
		{name: "fixed", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", length: 5, body: "hello", reusable: true},
		{name: "empty", raw: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", reusable: true},
		{name: "length with zeros", raw: "HTTP/1.1 200 OK\r\nContent-Length: 005\r\n\r\nhello", length: 5, body: "hello", reusable: true},
		{name: "equal lengths", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", length: 5, body: "hello", reusable: true},
		{name: "equal lengths, list", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello", length: 5, body: "hello", reusable: true},
		{name: "chunked", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", length: -1, body: "hello", reusable: true},
		{name: "chunked in capitals", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n", length: -1, body: "hello", reusable: true},
		{name: "chunked beats length", raw: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", length: -1, body: "hello"},
		{name: "until close", raw: "HTTP/1.1 200 OK\r\n\r\nhello", length: -1, body: "hello", close: true},
		{name: "until close, empty", raw: "HTTP/1.1 200 OK\r\n\r\n", length: -1, close: true},
		{name: "close", raw: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", length: 5, body: "hello", close: true},
		{name: "close in a list", raw: "HTTP/1.1 200 OK\r\nConnection: foo, CLOSE\r\nContent-Length: 0\r\n\r\n", close: true},
		{name: "close in the second field", raw: "HTTP/1.1 200 OK\r\nConnection: foo\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", close: true},
		{name: "closed is not close", raw: "HTTP/1.1 200 OK\r\nConnection: closed\r\nContent-Length: 0\r\n\r\n", reusable: true},
		{name: "Proxy-Connection is nothing", raw: "HTTP/1.1 200 OK\r\nProxy-Connection: close\r\nContent-Length: 0\r\n\r\n", reusable: true},
		{name: "HTTP/1.0", raw: "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", length: 5, body: "hello", close: true},
		{name: "HTTP/1.0 keep-alive", raw: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\nhello", length: 5, body: "hello", reusable: true},
		{name: "HTTP/1.0 both", raw: "HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 0\r\n\r\n", close: true},
		{name: "HTTP/1.0 keep-alive until close", raw: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nhello", length: -1, body: "hello", close: true},
		{name: "HTTP/1.0 chunked", raw: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello", length: 5, body: "hello"},
		{name: "ICY", raw: "ICY 200 OK\r\n\r\nhello", length: -1, body: "hello", close: true},
		{name: "204", raw: "HTTP/1.1 204 No Content\r\n\r\n", reusable: true},
		{name: "204 with length 0", raw: "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", reusable: true},
		{name: "204 chunked", raw: "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"},
		{name: "205 with length 0", raw: "HTTP/1.1 205 Reset\r\nContent-Length: 0\r\n\r\n", reusable: true},
		{name: "205 chunked", raw: "HTTP/1.1 205 Reset\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", length: -1, reusable: true},
		{name: "205 by close", raw: "HTTP/1.1 205 Reset\r\n\r\n", length: -1, close: true},
		{name: "304 with length", raw: "HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", reusable: true},
		{name: "304 chunked", raw: "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", reusable: true},
		{name: "HEAD", method: "HEAD", raw: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", length: 10, reusable: true},
		{name: "HEAD without length", method: "HEAD", raw: "HTTP/1.1 200 OK\r\n\r\n", length: -1, reusable: true},
		{name: "HEAD chunked", method: "HEAD", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", length: -1, reusable: true},
		{name: "HEAD 204 with length", method: "HEAD", raw: "HTTP/1.1 204 No Content\r\nContent-Length: 10\r\n\r\n", length: 10, reusable: true},
		{name: "CONNECT", method: "CONNECT", raw: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhello", length: -1, body: "hello"},
		{name: "CONNECT refused", method: "CONNECT", raw: "HTTP/1.1 407 Auth\r\nContent-Length: 3\r\n\r\nabc", length: 3, body: "abc", reusable: true},
		{name: "101", raw: "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 4\r\n\r\nbody"},
		{name: "more than the response", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 EVIL\r\n\r\n", length: 5, body: "hello"},
		{name: "one byte more", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\n", length: 5, body: "hello"},
		{name: "more after HEAD", method: "HEAD", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 EVIL\r\n\r\n", length: 5},
		{name: "more after chunks", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nx", length: -1},
	} {
		method := tt.method
		if method == "" {
			method = "GET"
		}
		c, _ := script(tt.raw)
		a := exchange(c, request(t, method, "http://example.com", nil), httpsem.ExchangeOptions{})
		if a.err != nil || a.resp.ContentLength != tt.length || a.body != tt.body || a.resp.Close != tt.close || a.reusable != tt.reusable {
			t.Errorf("%s: got length %d, body %q, close %v, reusable %v (%s), error %v", tt.name,
				a.resp.ContentLength, a.body, a.resp.Close, a.reusable, a.reason, a.err)
		}
		if (a.reason == "") != a.reusable {
			t.Errorf("%s: reason %q", tt.name, a.reason)
		}
		if c.turn != nil {
			t.Errorf("%s: state is held after End", tt.name)
		}
	}
}

func TestStatusWithForbiddenBody(t *testing.T) {
	for _, raw := range []string{
		"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\nhello",
	} {
		a := receive(t, raw)
		var pe *httpsem.ProtocolError
		if !a.headErr || !errors.As(a.err, &pe) || a.reusable {
			t.Errorf("%.20q: got %v", raw, a.err)
		}
	}
}

func TestResponseFields(t *testing.T) {
	a := receive(t, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\nTrailer: x-a, X-B\r\nTrailer: content-length, x-c\r\n"+
		"Transfer-Encoding: Chunked\r\n\r\n0\r\nX-A: 1\r\nX-D: 2\r\nContent-Length: 7\r\ntransfer-encoding: chunked\r\n\r\n")
	r := a.resp
	if r.Status != "200 OK" || r.StatusCode != 200 || r.Proto != "HTTP/1.1" || r.ProtoMajor != 1 || r.ProtoMinor != 1 || r.Uncompressed {
		t.Errorf("got %+v", r)
	}
	if want := (http.Header{"Connection": {"close"}}); !reflect.DeepEqual(r.Header, want) {
		t.Errorf("header %v", r.Header)
	}
	if want := []string{"chunked"}; !reflect.DeepEqual(r.TransferEncoding, want) {
		t.Errorf("transfer encoding %v", r.TransferEncoding)
	}
	if want := (http.Header{"X-A": nil, "X-B": nil, "X-C": nil}); !reflect.DeepEqual(r.Trailer, want) {
		t.Errorf("announced trailer %v", r.Trailer)
	}
	if want := (http.Header{"X-A": {"1"}, "X-D": {"2"}}); !reflect.DeepEqual(a.trailer, want) {
		t.Errorf("trailer %v", a.trailer)
	}

	// What a head says must not shine through to the next one in the same struct.
	c, _ := script("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	r.Uncompressed = true
	c.Begin(httpsem.ExchangeOptions{})
	defer c.End()
	if err := c.ReadHead(get(t), &r); err != nil {
		t.Fatal(err)
	}
	if r.Trailer != nil || r.TransferEncoding != nil || r.Close || r.Uncompressed || r.ContentLength != 0 {
		t.Errorf("left over: %+v", r)
	}
}

func TestHijack(t *testing.T) {
	c, s := script("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nahead", " later")
	c.Begin(httpsem.ExchangeOptions{})
	req := get(t)
	var resp http.Response
	if err := c.ReadHead(req, &resp); err != nil {
		t.Fatal(err)
	}
	nc, ahead := c.Hijack()
	if nc != s || string(ahead) != "ahead" {
		t.Errorf("got %q", ahead)
	}
	if ok, reason := c.End(); ok {
		t.Error("reusable", reason)
	}
	rest, err := io.ReadAll(nc)
	if string(rest) != " later" || err != nil {
		t.Errorf("got %q, %v", rest, err)
	}
}

// A connection carries many exchanges and holds nothing between them.
func TestManyExchanges(t *testing.T) {
	raw := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
	c, s := script()
	for range 5 {
		s.reads = []string{raw}
		if a := exchange(c, get(t), httpsem.ExchangeOptions{}); a.err != nil || a.body != "abc" || !a.reusable {
			t.Fatalf("got %+v", a)
		}
	}
	if s.deadlines != 0 {
		t.Errorf("%d deadlines were set without a timeout", s.deadlines)
	}
	if s.writes != 5 {
		t.Errorf("%d writes for 5 requests", s.writes)
	}
}
