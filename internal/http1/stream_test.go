package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// FuzzResponseStream gives a whole stream of bytes to this package and to
// net/http's ReadResponse. Where both accept it they must see the same.
//
// Where they differ on purpose:
//   - Connection stays in the header; net/http removes it when it says close.
//   - net/http adds Cache-Control for Pragma: no-cache.
//   - A 1xx response to HEAD has length 0 here, -1 there; one that announces
//     trailers, which it cannot have, has none here.
//   - Content-Length: 5, 5 is one length here, and an error there.
//   - A name with a space is canonical for neither.
//   - net/http trims spaces before the code, and of the status as a whole.
//   - Trailers that nobody may send are an error there and dropped here.
//   - 204 and 205 with a length are errors here.
//   - A CONNECT's 2xx has a body until close here, whatever its header says.
func FuzzResponseStream(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n",
		"HTTP/1.0 200 OK\r\n\r\nhello",
		"HTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 304 Not Modified\nContent-Length: 3\nEtag: x\n\n",
		"HTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n\r\nx",
		"HTTP/1.1 200\r\nContent-Length: 1\r\nContent-Length: 1\r\nset-cookie: a\r\nSet-Cookie: b\r\nPragma: no-cache\r\n\r\nx",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
	} {
		for _, method := range []bool{false, true} {
			f.Add([]byte(s), method)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, head bool) {
		method := "GET"
		if head {
			method = "HEAD"
		}
		req := request(t, method, "http://a", nil)
		c, _ := script(string(raw[:len(raw)/3]), string(raw[len(raw)/3:]))
		if len(raw) < 3 {
			c, _ = script(string(raw))
		}
		c.Begin(httpsem.ExchangeOptions{})
		defer c.End()
		r := bufio.NewReader(bytes.NewReader(raw))
		for range 3 {
			var ours http.Response
			err := c.ReadHead(req, &ours)
			theirs, theirErr := http.ReadResponse(r, req)
			if err != nil || theirErr != nil {
				return
			}
			compareHeads(t, &ours, theirs)
			if ours.StatusCode < 200 && ours.StatusCode != 101 {
				continue
			}
			body, err := readAllFrom(c)
			theirBody, theirErr := io.ReadAll(theirs.Body)
			if ours.StatusCode == 101 {
				return
			}
			if err == nil && theirErr == nil && !bytes.Equal(body, theirBody) {
				t.Fatalf("body: ours %q, theirs %q", body, theirBody)
			}
			if err == nil && theirErr == nil && ours.TransferEncoding != nil {
				compareTrailers(t, c.Trailer(), theirs.Trailer)
			}
			return
		}
	})
}

func readAllFrom(c *Conn) ([]byte, error) {
	var all bytes.Buffer
	buf := make([]byte, 500)
	for {
		n, err := c.ReadBody(buf)
		all.Write(buf[:n])
		if err == io.EOF {
			return all.Bytes(), nil
		}
		if err != nil {
			return all.Bytes(), err
		}
	}
}

func compareHeads(t *testing.T, ours, theirs *http.Response) {
	t.Helper()
	if ours.StatusCode != theirs.StatusCode || strings.TrimRight(ours.Status, " \t") != strings.TrimRight(theirs.Status, " \t") || ours.Proto != theirs.Proto {
		t.Fatalf("ours %q %q, theirs %q %q", ours.Proto, ours.Status, theirs.Proto, theirs.Status)
	}
	if ours.ContentLength != theirs.ContentLength && ours.StatusCode >= 200 || ours.Close != theirs.Close {
		t.Fatalf("length: ours %d, theirs %d; close: ours %v, theirs %v", ours.ContentLength, theirs.ContentLength, ours.Close, theirs.Close)
	}
	if !reflect.DeepEqual(ours.TransferEncoding, theirs.TransferEncoding) || !reflect.DeepEqual(ours.Trailer, theirs.Trailer) && ours.StatusCode >= 200 {
		t.Fatalf("ours %v %v, theirs %v %v", ours.TransferEncoding, ours.Trailer, theirs.TransferEncoding, theirs.Trailer)
	}
	a, b := ours.Header.Clone(), theirs.Header.Clone()
	if ours.StatusCode < 200 {
		a.Del("Trailer")
		b.Del("Trailer")
	}
	delete(a, "Connection")
	delete(b, "Connection")
	if a.Get("Pragma") == "no-cache" && a["Cache-Control"] == nil {
		delete(b, "Cache-Control")
	}
	// Where there is no body net/http leaves a length as it came.
	if v := a["Content-Length"]; v != nil {
		delete(a, "Content-Length")
		delete(b, "Content-Length")
	}
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("header: ours %q, theirs %q", a, b)
	}
}

// compareTrailers looks at those that arrived: theirs holds the announced ones too.
func compareTrailers(t *testing.T, ours, theirs http.Header) {
	t.Helper()
	for name, values := range theirs {
		if len(values) > 0 && !httpsem.IsFraming(name) && !reflect.DeepEqual(ours[name], values) {
			t.Fatalf("trailer: ours %q, theirs %q", ours, theirs)
		}
	}
}
