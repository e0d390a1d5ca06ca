package http1

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

func TestHeaderBlock(t *testing.T) {
	long := strings.Repeat("v", 20<<10)
	for _, tt := range []struct {
		name, block string
		want        http.Header
	}{
		{"none", "", http.Header{}},
		{"canonical names", "content-TYPE: a\r\nx-b: c\r\nETAG: d\r\n", http.Header{"Content-Type": {"a"}, "X-B": {"c"}, "Etag": {"d"}}},
		{"LF alone", "A: 1\nB: 2\r\n", http.Header{"A": {"1"}, "B": {"2"}}},
		{"no space, much space", "A:1\r\nB: \t 2 \t\r\nC:\r\nD: \r\n", http.Header{"A": {"1"}, "B": {"2"}, "C": {""}, "D": {""}}},
		{"colons in the value", "A: b:c: d\r\n", http.Header{"A": {"b:c: d"}}},
		{"repeated", "Set-Cookie: a\r\nX: y\r\nset-cookie: b\r\nSET-COOKIE: c\r\n", http.Header{"Set-Cookie": {"a", "b", "c"}, "X": {"y"}}},
		{"tab and bytes above ASCII", "A: \xe4\tb\xc3\xbc\r\n", http.Header{"A": {"\xe4\tb\xc3\xbc"}}},
		{"name with space", "en-US Content-Type: a\r\n", http.Header{"en-US Content-Type": {"a"}}},
		{"space before colon", "Foo : a\r\n", http.Header{"Foo ": {"a"}}}, // as net/http has it
		{"name above ASCII", "\xe4b: a\r\n", http.Header{"\xe4b": {"a"}}},
		{"name with separators", "x[1]: a\r\nx@y: b\r\n", http.Header{"x[1]": {"a"}, "x@y": {"b"}}},
		{"underscore", "DCLK_imp: v7\r\n", http.Header{"Dclk_imp": {"v7"}}},
		{"longer than the buffer", "A: " + long + "\r\nB: 1\r\n", http.Header{"A": {long}, "B": {"1"}}},
	} {
		raw := "HTTP/1.1 200 OK\r\n" + tt.block + "Content-Length: 2\r\n\r\nhi"
		tt.want["Content-Length"] = []string{"2"}
		for _, reads := range [][]string{{raw}, bytewise(raw)} {
			a := receive(t, reads...)
			if a.err != nil || a.body != "hi" || !a.reusable || !reflect.DeepEqual(a.resp.Header, tt.want) {
				t.Errorf("%s: got %.200v, %q, %v, %q", tt.name, a.resp.Header, a.body, a.err, a.reason)
			}
		}
	}
}

func TestMalformedHeader(t *testing.T) {
	for name, block := range map[string]string{
		"folded":                "A: 1\r\n b\r\n",
		"folded with tab":       "A: 1\r\n\tb\r\n",
		"folded first":          " A: 1\r\n",
		"bare CR in value":      "A: 1\rB: 2\r\n",
		"bare CR at end":        "A: 1\r\r\n",
		"bare CR in name":       "A\rB: 2\r\n",
		"NUL in value":          "A: \x00\r\n",
		"NUL in name":           "A\x00: b\r\n",
		"control in value":      "A: \x01\r\n",
		"DEL in value":          "A: \x7f\r\n",
		"tab before colon":      "A\t: 1\r\n",
		"tab in name":           "A\tB: 1\r\n",
		"empty name":            ": 1\r\n",
		"no colon":              "A\r\n",
		"CL with space":         "Content-Length : 1\r\n",
		"TE with space":         "Transfer-Encoding : chunked\r\n",
		"negative length":       "Content-Length: -1\r\n",
		"length with sign":      "Content-Length: +1\r\n",
		"empty length":          "Content-Length:\r\n",
		"length in words":       "Content-Length: abc\r\n",
		"length and junk":       "Content-Length: 1x\r\n",
		"hex length":            "Content-Length: 0x1\r\n",
		"inner space":           "Content-Length: 1 1\r\n",
		"overflow":              "Content-Length: 9223372036854775808\r\n",
		"far overflow":          "Content-Length: 99999999999999999999999999\r\n",
		"lengths differ":        "Content-Length: 1\r\nContent-Length: 2\r\n",
		"lengths differ, list":  "Content-Length: 1, 2\r\n",
		"length list with hole": "Content-Length: 1,,1\r\n",
		"bad length, chunked":   "Content-Length: abc\r\nTransfer-Encoding: chunked\r\n",
		"unknown coding":        "Transfer-Encoding: gzip\r\n",
		"identity":              "Transfer-Encoding: identity\r\n",
		"gzip, chunked":         "Transfer-Encoding: gzip, chunked\r\n",
		"chunked twice":         "Transfer-Encoding: chunked, chunked\r\n",
		"chunked in two lines":  "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
		"chunked not last":      "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
		"chunkedchunked":        "Transfer-Encoding: chunkedchunked\r\n",
		"chunked with vt":       "Transfer-Encoding: \x0bchunked\r\n",
		"empty coding":          "Transfer-Encoding:\r\n",
	} {
		raw := "HTTP/1.1 200 OK\r\n" + block + "\r\n"
		for _, reads := range [][]string{{raw + "0\r\n\r\n"}, bytewise(raw)} {
			a := receive(t, reads...)
			var pe *httpsem.ProtocolError
			if !a.headErr || !errors.As(a.err, &pe) || a.reusable {
				t.Errorf("%s: got %v, %v, reusable %v", name, a.resp.Header, a.err, a.reusable)
			}
		}
	}
}

func TestEndOfStreamInHead(t *testing.T) {
	full := "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
	for n := range len(full) {
		a := receive(t, bytewise(full[:n])...)
		var pe *httpsem.ProtocolError
		switch isProtocol := errors.As(a.err, &pe); {
		case n == 0 && (isProtocol || !errors.Is(a.err, io.EOF)):
			t.Errorf("nothing received: got %v", a.err)
		case n > 0 && (!isProtocol || !errors.Is(a.err, io.ErrUnexpectedEOF)):
			t.Errorf("after %d bytes: got %v", n, a.err)
		}
		if a.reusable || !strings.Contains(a.err.Error(), "unexpected end of stream") {
			t.Errorf("after %d bytes: reusable %v, %v", n, a.reusable, a.err)
		}
	}
	// After a 1xx something was received, so it is no longer "no answer".
	a := receive(t, "HTTP/1.1 103 Hints\r\n\r\n")
	if !errors.Is(a.err, io.ErrUnexpectedEOF) {
		t.Errorf("after 103: got %v", a.err)
	}
}

func TestHeadLimit(t *testing.T) {
	const limit = 1000
	status := "HTTP/1.1 200 OK"
	fit := limit - len(status) - len("A: ") - len("Content-Length: 0")
	send := func(raw string) answer {
		c, _ := script(raw)
		return exchange(c, get(t), httpsem.ExchangeOptions{MaxHead: limit})
	}
	head := func(n int) string {
		return status + "\r\nA: " + strings.Repeat("x", n) + "\r\nContent-Length: 0\r\n\r\n"
	}
	if a := send(head(fit)); a.err != nil {
		t.Errorf("exactly at the limit: %v", a.err)
	}
	interim := "HTTP/1.1 103 Early\r\n\r\n"
	chunked := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
	for name, raw := range map[string]string{
		"one line":          head(fit + 1),
		"status line":       status + strings.Repeat("x", limit),
		"many lines":        status + "\r\n" + strings.Repeat("a:\r\n", limit),
		"line without end":  status + "\r\nA: " + strings.Repeat("x", 2*limit),
		"shared with a 103": interim + head(fit),
		"trailers":          chunked + "A: " + strings.Repeat("x", limit) + "\r\n\r\n",
	} {
		a := send(raw)
		var pe *httpsem.ProtocolError
		if !errors.As(a.err, &pe) || errors.Is(a.err, io.ErrUnexpectedEOF) || a.reusable {
			t.Errorf("%s: got %v", name, a.err)
		}
	}
	// The default, with heads of the size of the buffer's growth steps.
	for _, n := range []int{8 << 10, 16 << 10, 200 << 10, 255 << 10} {
		a := receive(t, head(n))
		if a.err != nil || len(a.resp.Header.Get("A")) != n {
			t.Errorf("%d bytes: %v", n, a.err)
		}
	}
	if a := receive(t, head(256<<10)); a.err == nil {
		t.Error("a head of more than 256 KiB was accepted")
	}
}

func TestInterimResponses(t *testing.T) {
	ok := "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	a := receive(t, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"+ok)
	if a.err != nil || fmt.Sprint(a.interim) != "[100 103]" || a.resp.Header.Get("Link") != "" || a.body != "hi" || !a.reusable {
		t.Errorf("got %+v", a)
	}
	if a := receive(t, strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 32)+ok); a.err != nil || a.body != "hi" {
		t.Errorf("32 interim responses: %v", a.err)
	}
	var pe *httpsem.ProtocolError
	if a := receive(t, strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 33)+ok); !errors.As(a.err, &pe) || a.reusable {
		t.Errorf("33 interim responses: %v", a.err)
	}
	if a := receive(t, "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n"+ok); a.err != nil || a.reusable {
		t.Errorf("a 103 with a length: %v, reusable %v", a.err, a.reusable)
	}
}

func TestHeaderValuesDoNotOverlap(t *testing.T) {
	a := receive(t, "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nContent-Length: 0\r\n\r\n")
	a.resp.Header.Add("A", "x")
	if a.resp.Header.Get("B") != "2" {
		t.Error("adding to one header changed another")
	}
}

// A response head costs four allocations, whatever the number of fields up to
// the eight that the map holds without growing.
func TestReadHeadAllocs(t *testing.T) {
	raw := "HTTP/1.1 200 OK\r\nDate: Thu, 31 Dec 2009 20:55:48 GMT\r\nServer: nginx\r\ncontent-type: text/plain\r\n" +
		"ETag: \"x\"\r\nX-Custom-Thing: 1\r\nCache-Control: no-cache\r\nVary: Accept\r\nContent-Length: 0\r\n\r\n"
	c, s := script()
	req := get(t)
	var resp http.Response
	reads := []string{raw}
	allocs := testing.AllocsPerRun(200, func() {
		s.reads = append(reads[:0:1], raw)
		c.Begin(httpsem.ExchangeOptions{})
		if err := c.ReadHead(req, &resp); err != nil {
			t.Fatal(err)
		}
		c.End()
	})
	if allocs > 4 && !raceEnabled {
		t.Errorf("%v allocations, want at most 4", allocs)
	}
}

func TestExchangeAllocs(t *testing.T) {
	raw := "HTTP/1.1 200 OK\r\nDate: Thu, 31 Dec 2009 20:55:48 GMT\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
	c, s := script()
	req := get(t)
	req.Header.Set("User-Agent", "x")
	req.Header.Set("Accept-Encoding", "gzip")
	reads := []string{raw}
	var resp http.Response
	var buf [16]byte
	allocs := testing.AllocsPerRun(200, func() {
		s.reads = append(reads[:0:1], raw)
		s.wrote.Reset()
		c.Begin(httpsem.ExchangeOptions{})
		if err := c.WriteHead(req, 0); err != nil {
			t.Fatal(err)
		}
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := c.ReadHead(req, &resp); err != nil {
			t.Fatal(err)
		}
		if n, err := c.ReadBody(buf[:]); n != 5 || err != io.EOF {
			t.Fatal(n, err)
		}
		if ok, reason := c.End(); !ok {
			t.Fatal(reason)
		}
	})
	if allocs > 4 && !raceEnabled {
		t.Errorf("%v allocations, want at most 4", allocs)
	}
}

func FuzzHeaderBlock(f *testing.F) {
	for _, s := range []string{"A: b\r\n\r\n", "a:b\nc: d \n\n", "A : b\r\n\r\n", " A: b\r\n\r\n", "A: b\r\n c\r\n\r\n", "A: \x00\r\n\r\n", ":\r\n\r\n", "A: b\rC: d\r\n\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		c, _ := script(string(block))
		c.Begin(httpsem.ExchangeOptions{})
		defer c.End()
		size, next, err := c.readFields(0)
		if err != nil {
			return
		}
		if size > next || next > len(block) {
			t.Fatalf("size %d, next %d of %d", size, next, len(block))
		}
		if len(c.in.buffered()) == 0 {
			return
		}
		h := buildHeader(string(c.in.buffered()[:size]), c.in.page.fields, nil)
		for name, values := range h {
			if name == "" || strings.ContainsAny(name, "\r\n\x00:\t") || strings.TrimLeft(name, " ") != name {
				t.Fatalf("name %q", name)
			}
			for _, v := range values {
				if !httpsem.IsValue(v) || httpsem.TrimSpace(v) != v {
					t.Fatalf("value %q", v)
				}
			}
		}
	})
}
