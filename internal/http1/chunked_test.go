package http1

import (
	"bytes"
	"errors"
	"io"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

const chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

func TestChunkedBody(t *testing.T) {
	for name, tt := range map[string]struct{ raw, want string }{
		"empty":                {"0\r\n\r\n", ""},
		"one chunk":            {"5\r\nhello\r\n0\r\n\r\n", "hello"},
		"many":                 {"1\r\nh\r\n2\r\nel\r\n2\r\nlo\r\n0\r\n\r\n", "hello"},
		"hex digits":           {"A\r\n0123456789\r\n0a\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"},
		"leading zeros":        {"0000000000000005\r\nhello\r\n0000000000000000\r\n\r\n", "hello"},
		"extension":            {"5;a=b;c=\"d; e\"\r\nhello\r\n0;x\r\n\r\n", "hello"},
		"semicolon only":       {"5;\r\nhello\r\n0;\r\n\r\n", "hello"},
		"space after size":     {"5 \t\r\nhello\r\n0  \r\n\r\n", "hello"},
		"space before ext":     {"5 ;a\r\nhello\r\n0\r\n\r\n", "hello"},
		"trailers":             {"5\r\nhello\r\n0\r\nA: b\r\nC: d\r\n\r\n", "hello"},
		"data that looks like": {"a\r\n\r\n0\r\n\r\nxyz\r\n0\r\n\r\n", "\r\n0\r\n\r\nxyz"},
		"larger than buffers":  {"9c40\r\n" + strings.Repeat("x", 40000) + "\r\n0\r\n\r\n", strings.Repeat("x", 40000)},
		"one byte per chunk":   {strings.Repeat("1\r\nX\r\n", 40000) + "0\r\n\r\n", strings.Repeat("X", 40000)},
	} {
		scripts := [][]string{{chunkedHead + tt.raw}, {chunkedHead, tt.raw}}
		if len(tt.raw) < 1000 {
			scripts = append(scripts, bytewise(chunkedHead+tt.raw))
		}
		for i, reads := range scripts {
			if a := receive(t, reads...); a.err != nil || a.body != tt.want || !a.reusable {
				t.Errorf("%s/%d: got %.100q, %v, %q", name, i, a.body, a.err, a.reason)
			}
		}
	}
}

func TestMalformedChunks(t *testing.T) {
	for name, raw := range map[string]string{
		"no size":             "\r\nhello\r\n0\r\n\r\n",
		"not hex":             "g\r\nhello\r\n0\r\n\r\n",
		"0x":                  "0x5\r\nhello\r\n0\r\n\r\n",
		"minus":               "-5\r\nhello\r\n0\r\n\r\n",
		"plus":                "+5\r\nhello\r\n0\r\n\r\n",
		"space first":         " 5\r\nhello\r\n0\r\n\r\n",
		"underscore":          "1_0\r\nhello\r\n0\r\n\r\n",
		"no semicolon":        "5 a\r\nhello\r\n0\r\n\r\n",
		"LF after size":       "5\nhello\r\n0\r\n\r\n",
		"LF after data":       "5\r\nhello\n0\r\n\r\n",
		"CR in extension":     "5;a\rb\r\nhello\r\n0\r\n\r\n",
		"CR CR LF":            "5\r\r\nhello\r\n0\r\n\r\n",
		"NUL in extension":    "5;a\x00\r\nhello\r\n0\r\n\r\n",
		"largest of all":      "5\r\nhello\r\n7fffffffffffffff\r\nx",
		"data too long":       "5\r\nhello!\r\n0\r\n\r\n",
		"data too short":      "5\r\nhell\r\n0\r\n\r\n",
		"17 digits":           "00000000000000005\r\nhello\r\n0\r\n\r\n",
		"overflow":            "8000000000000000\r\nhello\r\n0\r\n\r\n",
		"overflow to 5":       "10000000000000005\r\nhello\r\n0\r\n\r\n",
		"all f":               "ffffffffffffffff\r\nhello\r\n0\r\n\r\n",
		"long extension":      "5;" + strings.Repeat("a", 5000) + "\r\nhello\r\n0\r\n\r\n",
		"many extensions":     strings.Repeat("1;"+strings.Repeat("a", 200)+"\r\nX\r\n", 200) + "0\r\n\r\n",
		"folded trailer":      "0\r\nA: b\r\n c\r\n\r\n",
		"trailer, no colon":   "0\r\nA\r\n\r\n",
		"trailer, bare CR":    "0\r\nA: b\rC: d\r\n\r\n",
		"junk for end of all": "0\r\nHTTP/1.1 200 OK\r\n\r\n",
	} {
		for _, reads := range [][]string{{chunkedHead + raw}, bytewise(chunkedHead + raw)} {
			a := receive(t, reads...)
			var pe *httpsem.ProtocolError
			if !errors.As(a.err, &pe) || a.headErr || a.reusable {
				t.Errorf("%s: got %.100q, %v, reusable %v", name, a.body, a.err, a.reusable)
			}
		}
	}
}

func TestTruncatedBody(t *testing.T) {
	for _, full := range []string{
		chunkedHead + "5;x\r\nhello\r\n0\r\nA: b\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
	} {
		start := strings.Index(full, "\r\n\r\n") + 4
		for n := start; n < len(full); n++ {
			for _, reads := range [][]string{{full[:n]}, bytewise(full[:n])} {
				a := receive(t, reads...)
				var pe *httpsem.ProtocolError
				if !errors.As(a.err, &pe) || !errors.Is(a.err, io.ErrUnexpectedEOF) || a.reusable || a.trailer != nil {
					t.Errorf("%q: got %q, %v, reusable %v", full[start:n], a.body, a.err, a.reusable)
				}
				if !strings.HasPrefix("hello", a.body) {
					t.Errorf("%q: body %q", full[start:n], a.body)
				}
			}
		}
	}
}

// An error of the body stays, and what came before it is delivered.
func TestBodyErrorSticks(t *testing.T) {
	c, _ := script(chunkedHead + "5\r\nhello\r\nx\r\n")
	c.Begin(httpsem.ExchangeOptions{})
	defer c.End()
	resp := newResponse()
	if err := c.ReadHead(get(t), resp); err != nil {
		t.Fatal(err)
	}
	var buf [100]byte
	n, err := c.ReadBody(buf[:])
	if string(buf[:n]) != "hello" || err != nil {
		t.Errorf("got %q, %v", buf[:n], err)
	}
	for range 3 {
		if n, err := c.ReadBody(buf[:]); n != 0 || err == nil || err == io.EOF {
			t.Errorf("got %d, %v", n, err)
		}
	}
}

// The caller learns of the end together with the last bytes if it is there.
func TestEndComesWithLastBytes(t *testing.T) {
	for _, raw := range []string{chunkedHead + "5\r\nhello\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"} {
		c, _ := script(raw)
		c.Begin(httpsem.ExchangeOptions{})
		if err := c.ReadHead(get(t), newResponse()); err != nil {
			t.Fatal(err)
		}
		var buf [100]byte
		if n, err := c.ReadBody(buf[:]); n != 5 || err != io.EOF || c.BodyLength() != 0 {
			t.Errorf("got %d, %v, %d to come", n, err, c.BodyLength())
		}
		c.End()
	}
}

func FuzzChunkedBody(f *testing.F) {
	for _, s := range []string{"0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n", "5\nhello", "ffffffffffffffff\r\n", "1\r\nX\r\n1\r\nY\r\n0\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n7fffffffffffffff\r\nx"} {
		f.Add([]byte(s), 7)
	}
	f.Fuzz(func(t *testing.T, raw []byte, step int) {
		c, _ := script(chunkedHead+string(raw[:len(raw)/2]), string(raw[len(raw)/2:]))
		c.Begin(httpsem.ExchangeOptions{})
		defer c.End()
		if err := c.ReadHead(get(t), newResponse()); err != nil {
			t.Fatal(err)
		}
		var ours bytes.Buffer
		buf := make([]byte, 1+uint(step)%20000)
		var err error
		for err == nil {
			var n int
			n, err = c.ReadBody(buf)
			ours.Write(buf[:n])
		}
		theirs, theirErr := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(raw)))
		if err == io.EOF {
			// The oracle knows no trailers, so it cannot fail after the last chunk. It
			// lets more than sixteen zeros pass and counts them differently; we do not.
			if theirErr != nil || !bytes.Equal(theirs, ours.Bytes()) {
				t.Fatalf("ours %q; theirs %q, %v", ours.Bytes(), theirs, theirErr)
			}
		} else if !bytes.HasPrefix(theirs, ours.Bytes()) && !bytes.HasPrefix(ours.Bytes(), theirs) {
			t.Fatalf("ours %q, %v; theirs %q, %v", ours.Bytes(), err, theirs, theirErr)
		}
	})
}
