package httpsem

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestCheckRequest(t *testing.T) {
	for _, tt := range []struct {
		name   string
		length int64
		change func(*http.Request)
		bad    bool
	}{
		{name: "plain", change: func(r *http.Request) {}},
		{name: "no method", change: func(r *http.Request) { r.Method = "" }},
		{name: "own method", change: func(r *http.Request) { r.Method = "M-SEARCH" }},
		{name: "method with space", change: func(r *http.Request) { r.Method = "GET /" }, bad: true},
		{name: "method with CRLF", change: func(r *http.Request) { r.Method = "GET\r\n" }, bad: true},
		{name: "no URL", change: func(r *http.Request) { r.URL = nil }, bad: true},
		{name: "no host", change: func(r *http.Request) { r.Host, r.URL.Host = "", "" }, bad: true},
		{name: "host with CRLF", change: func(r *http.Request) { r.Host = "a\r\nX: y" }, bad: true},
		{name: "host with space", change: func(r *http.Request) { r.Host = "a b" }, bad: true},
		{name: "host with path", change: func(r *http.Request) { r.Host = "a/b" }, bad: true},
		{name: "host with user", change: func(r *http.Request) { r.Host = "u@a" }, bad: true},
		{name: "host not ASCII", change: func(r *http.Request) { r.Host = "bücher.de" }, bad: true},
		{name: "IPv6 host with zone", change: func(r *http.Request) { r.Host = "[fe80::1%eth0]:80" }},
		{name: "query with space", change: func(r *http.Request) { r.URL.RawQuery = "a b" }, bad: true},
		{name: "query with LF", change: func(r *http.Request) { r.URL.RawQuery = "a\nb" }, bad: true},
		{name: "opaque with CRLF", change: func(r *http.Request) { r.URL.Opaque = "//a/\r\nX" }, bad: true},
		{name: "scheme with space", change: func(r *http.Request) { r.URL.Scheme, r.URL.Opaque = "a b", "//c" }, bad: true},
		{name: "path with LF is escaped", change: func(r *http.Request) { r.URL.Path = "/a\nb" }},
		{name: "unknown coding", change: func(r *http.Request) { r.TransferEncoding = []string{"gzip"} }, bad: true},

		{name: "value with tab and latin-1", change: set("X", "a\tb\xe4")},
		{name: "value with CR", change: set("X", "a\rb"), bad: true},
		{name: "value with LF", change: set("X", "a\nb"), bad: true},
		{name: "value with CRLF at the end", change: set("X", "a\r\n"), bad: true},
		{name: "value with NUL", change: set("X", "a\x00"), bad: true},
		{name: "value with DEL", change: set("X", "a\x7f"), bad: true},
		{name: "empty name", change: set("", "a"), bad: true},
		{name: "name with space", change: set("a b", "a"), bad: true},
		{name: "name with colon", change: set("a:", "a"), bad: true},
		{name: "name with CRLF", change: set("a\r\nb", "a"), bad: true},
		{name: "name not ASCII", change: set("ä", "a"), bad: true},

		{name: "length agrees", length: 5, change: set("content-length", "5")},
		{name: "length 0 agrees", change: set("Content-Length", "0")},
		{name: "length differs", length: 5, change: set("CONTENT-length", "6"), bad: true},
		{name: "length without body", change: set("Content-Length", "6"), bad: true},
		{name: "length beside chunked", length: -1, change: set("content-length", "5"), bad: true},
		{name: "two lengths", length: 5, change: set("Content-Length", "5", "6"), bad: true},
		{name: "chunked agrees", length: -1, change: set("transfer-encoding", "Chunked")},
		{name: "chunked differs", length: 5, change: set("transfer-encoding", "chunked"), bad: true},
		{name: "chunked without body", change: set("Transfer-Encoding", "chunked"), bad: true},
		{name: "other coding", length: -1, change: set("Transfer-Encoding", "gzip, chunked"), bad: true},
		{name: "host agrees", change: set("host", "EXAMPLE.com")},
		{name: "host differs", change: set("HOST", "evil.com"), bad: true},
		{name: "trailer agrees", length: -1, change: func(r *http.Request) {
			r.Trailer = http.Header{"X-A": nil, "X-B": nil}
			r.Header["trailer"] = []string{"x-b, X-A"}
		}},
		{name: "trailer differs", length: -1, change: set("trailer", "X-A"), bad: true},
		{name: "framing as trailer", length: -1, change: func(r *http.Request) { r.Trailer = http.Header{"content-length": nil} }, bad: true},
		{name: "trailer with space", length: -1, change: func(r *http.Request) { r.Trailer = http.Header{"a b": nil} }, bad: true},
		{name: "framing header without values", change: set("Host")},
	} {
		req, err := http.NewRequest("POST", "http://example.com/", nil)
		if err != nil {
			t.Fatal(err)
		}
		tt.change(req)
		err = CheckRequest(req, tt.length)
		var re *RequestError
		if tt.bad != errors.As(err, &re) || !tt.bad && err != nil {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}

func set(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[name] = values }
}

// No message may show a value: it may be a password.
func TestErrorsShowNoValue(t *testing.T) {
	for _, name := range []string{"Authorization", "X-Any", "Content-Length", "Host"} {
		err := CheckRequest(&http.Request{URL: &url.URL{Host: "a"}, Header: http.Header{name: {"s3cret\n"}}}, 0)
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v", err)
		}
	}
}

func TestTarget(t *testing.T) {
	for _, tt := range []struct {
		method, want string
		url          url.URL
	}{
		{"GET", "/", url.URL{Host: "a"}},
		{"GET", "/b%20c?d=e", url.URL{Host: "a", Path: "/b c", RawQuery: "d=e", Fragment: "f", User: url.User("u")}},
		{"GET", "/?", url.URL{Host: "a", Path: "/", ForceQuery: true}},
		{"GET", "/b", url.URL{Host: "a", Path: "b"}},
		{"GET", "/%2f", url.URL{Host: "a", Path: "//", RawPath: "/%2f"}},
		{"OPTIONS", "*", url.URL{Host: "a", Path: "*"}},
		{"GET", "http://b/c?d", url.URL{Scheme: "http", Host: "a", Opaque: "//b/c", RawQuery: "d"}},
		{"GET", "/c", url.URL{Scheme: "http", Host: "a", Opaque: "/c"}},
		{"CONNECT", "a:443", url.URL{Host: "a:443"}},
		{"CONNECT", "[::1]:443", url.URL{Host: "[::1%lo]:443"}},
		{"CONNECT", "b:1", url.URL{Host: "a:443", Opaque: "b:1"}},
	} {
		got := string(AppendTarget(nil, &http.Request{Method: tt.method, URL: &tt.url}))
		if got != tt.want {
			t.Errorf("%s %v: got %q, want %q", tt.method, tt.url, got, tt.want)
		}
	}
}
