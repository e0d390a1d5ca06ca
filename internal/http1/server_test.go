package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

func serverReader(s string) *bufio.Reader { return bufio.NewReader(strings.NewReader(s)) }

func TestServerReadHead(t *testing.T) {
	br := serverReader("\r\nPOST /a?b HTTP/1.1\r\nhost: x\r\nA:  b c \t\r\nA:\r\nE: \xff\r\n\r\nrest")
	head, err := ServerReadHead(br, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if head.Method != "POST" || head.Target != "/a?b" || head.Version != "HTTP/1.1" {
		t.Errorf("got %+v", head)
	}
	want := []ServerField{{"host", "x"}, {"A", "b c"}, {"A", ""}, {"E", "\xff"}}
	if !slices.Equal(head.Fields, want) {
		t.Errorf("got %q", head.Fields)
	}
	if rest, _ := io.ReadAll(br); string(rest) != "rest" {
		t.Errorf("rest is %q", rest)
	}
}

func TestServerReadHeadRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		status   int // 0 for an error of the connection
	}{
		{"nothing", "", 0},
		{"end in request line", "GET / HT", 0},
		{"end in header", "GET / HTTP/1.1\r\nA: b\r\n", 0},
		{"two words", "GET /\r\n\r\n", 400},
		{"four words", "GET / x HTTP/1.1\r\n\r\n", 400},
		{"space first", " GET / HTTP/1.1\r\n\r\n", 400},
		{"two spaces", "GET  / HTTP/1.1\r\n\r\n", 400},
		{"bad method", "G(T / HTTP/1.1\r\n\r\n", 400},
		{"control in target", "GET /\x01 HTTP/1.1\r\n\r\n", 400},
		{"version 2", "GET / HTTP/2.0\r\n\r\n", 505},
		{"version case", "GET / http/1.1\r\n\r\n", 505},
		{"bare LF", "GET / HTTP/1.1\nA: b\r\n\r\n", 400},
		{"bare LF later", "GET / HTTP/1.1\r\nA: b\n\r\n", 400},
		{"bare CR", "GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", 400},
		{"NUL", "GET / HTTP/1.1\r\nA: b\x00\r\n\r\n", 400},
		{"no colon", "GET / HTTP/1.1\r\nA\r\n\r\n", 400},
		{"no name", "GET / HTTP/1.1\r\n: a\r\n\r\n", 400},
		{"space before colon", "GET / HTTP/1.1\r\nA : a\r\n\r\n", 400},
		{"fold", "GET / HTTP/1.1\r\nA: a\r\n b\r\n\r\n", 400},
		{"too long", "GET / HTTP/1.1\r\nA: " + strings.Repeat("a", 500) + "\r\n\r\n", 431},
		{"endless line", strings.Repeat("a", 10000), 431},
		{"endless empty lines", strings.Repeat("\r\n", 10000), 431},
	} {
		_, err := ServerReadHead(serverReader(tc.in), 200)
		var bad *ServerError
		switch {
		case err == nil:
			t.Errorf("%s: accepted", tc.name)
		case errors.As(err, &bad) != (tc.status != 0), bad != nil && bad.Status != tc.status:
			t.Errorf("%s: got %v", tc.name, err)
		}
	}
}

func TestServerReadHeadKeepsWhatCame(t *testing.T) {
	head, err := ServerReadHead(serverReader("GET /x HTTP/1.1\r\nA: b\r\nC"), 200)
	if err != io.ErrUnexpectedEOF || head.Target != "/x" {
		t.Errorf("got %+v, %v", head, err)
	}
	head, err = ServerReadHead(serverReader("GET /x HTTP/1.1\r\nA: b\r\nC\r\n\r\n"), 200)
	if err == nil || len(head.Fields) != 1 {
		t.Errorf("got %+v, %v", head, err)
	}
}

func TestServerBodyLength(t *testing.T) {
	for _, tc := range []struct {
		name    string
		version string
		fields  []ServerField
		length  int64
		chunked bool
		bad     bool
	}{
		{name: "none"},
		{name: "length", fields: []ServerField{{"content-length", "12"}}, length: 12},
		{name: "same twice", fields: []ServerField{{"Content-Length", "12"}, {"Content-Length", "12"}}, length: 12},
		{name: "leading zeros differ in text only", fields: []ServerField{{"Content-Length", "012"}, {"Content-Length", "12"}}, length: 12},
		{name: "two lengths", fields: []ServerField{{"Content-Length", "12"}, {"Content-Length", "13"}}, bad: true},
		{name: "plus", fields: []ServerField{{"Content-Length", "+1"}}, bad: true},
		{name: "empty", fields: []ServerField{{"Content-Length", ""}}, bad: true},
		{name: "huge", fields: []ServerField{{"Content-Length", "99999999999999999999"}}, bad: true},
		{name: "chunked", fields: []ServerField{{"Transfer-Encoding", "Chunked"}}, chunked: true},
		{name: "gzip, chunked", fields: []ServerField{{"Transfer-Encoding", "gzip, chunked"}}, chunked: true},
		{name: "gzip", fields: []ServerField{{"Transfer-Encoding", "gzip"}}, bad: true},
		{name: "chunked twice", fields: []ServerField{{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}}, bad: true},
		{name: "both", fields: []ServerField{{"Transfer-Encoding", "chunked"}, {"Content-Length", "1"}}, bad: true},
		{name: "chunked in 1.0", version: "HTTP/1.0", fields: []ServerField{{"Transfer-Encoding", "chunked"}}, bad: true},
	} {
		head := ServerHead{Version: tc.version, Fields: tc.fields}
		length, chunked, err := head.BodyLength()
		if length != tc.length || chunked != tc.chunked || (err != nil) != tc.bad {
			t.Errorf("%s: got %d, %t, %v", tc.name, length, chunked, err)
		}
	}
}

func TestServerChunks(t *testing.T) {
	br := serverReader("3\r\nabc\r\nA ;x=y\r\n0123456789\r\n000\r\nT: 1\r\nU: 2\r\n\r\nrest")
	chunks := NewServerChunks(br, 1000)
	body, err := io.ReadAll(chunks)
	if err != nil || string(body) != "abc0123456789" {
		t.Errorf("got %q, %v", body, err)
	}
	if !slices.Equal(chunks.Sizes, []int64{3, 10}) || !slices.Equal(chunks.Trailer, []ServerField{{"T", "1"}, {"U", "2"}}) {
		t.Errorf("got %v, %v", chunks.Sizes, chunks.Trailer)
	}
	if rest, _ := io.ReadAll(br); string(rest) != "rest" {
		t.Errorf("rest is %q", rest)
	}
}

func TestServerChunksRefuses(t *testing.T) {
	for _, in := range []string{
		"", "3", "3\r\n", "3\r\nab", "3\r\nabc", "3\r\nabc\r\n", "0\r\n", "0\r\nA: b\r\n", // ended early
		"\r\n", "x\r\n\r\n", "-1\r\n", "0x1\r\n", "1\n", "1\ra\r\n", " 1\r\na\r\n", "1\r\nab\r\n", "1\r\na\n\n",
		"fffffffffffffffff\r\n", "0\r\nA\r\n\r\n", "0\r\n A: b\r\n\r\n",
		"1;" + strings.Repeat("a", 200) + "\r\na\r\n0\r\n\r\n", "0\r\nA: " + strings.Repeat("a", 200) + "\r\n\r\n",
	} {
		if _, err := io.ReadAll(NewServerChunks(serverReader(in), 100)); err == nil {
			t.Errorf("%q: accepted", in)
		}
	}
}

// FuzzServerRequest checks that no input makes the reading of a request panic,
// hang or pass its bound, and that a chunked body that we accept is read by
// net/http in the same way.
func FuzzServerRequest(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
	f.Add([]byte("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: 1\r\n\r\nGET"))
	f.Add([]byte("POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabcd"))
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 4096
		source := bytes.NewReader(in)
		br := bufio.NewReader(source)
		head, err := ServerReadHead(br, limit)
		if read := len(in) - source.Len() - br.Buffered(); read > limit+br.Size() {
			t.Fatalf("read %d bytes of a head", read)
		}
		if err != nil {
			return
		}
		for _, f := range head.Fields {
			if !httpsem.IsToken(f.Name) || strings.ContainsAny(f.Value, "\r\n\x00") {
				t.Fatalf("accepted %q", f)
			}
		}
		_, chunked, err := head.BodyLength()
		if err != nil || !chunked {
			return
		}
		rest, _ := io.ReadAll(br)
		chunks := NewServerChunks(bufio.NewReader(bytes.NewReader(rest)), limit)
		got, err := io.ReadAll(chunks)
		if err != nil {
			return
		}
		var sum int64
		for _, size := range chunks.Sizes {
			sum += size
		}
		want, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(rest)))
		if err != nil || !bytes.Equal(got, want) || sum != int64(len(got)) {
			t.Fatalf("got %q, %d; want %q, %v", got, sum, want, err)
		}
	})
}
