package http1

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// The same codec over TLS, where writes cannot be resumed and nothing goes
// through the kernel alone.
func TestOverTLS(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := sha256.New()
		io.Copy(h, r.Body)
		fmt.Fprintf(w, "%x", h.Sum(nil))
		w.(http.Flusher).Flush()
		w.Write(make([]byte, 3<<20))
	}))
	defer srv.Close()
	raw, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	conn := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
	c := NewConn(conn, raw)
	data := bytes.Repeat([]byte("0123456789"), 500_000)
	want := fmt.Sprintf("%x", sha256.Sum256(data))
	for i, body := range []io.Reader{bytes.NewReader(data), onlyReader{bytes.NewReader(data)}, tempFile(t, string(data)), onlyReader{bytes.NewReader(data)}} {
		length := int64(len(data))
		if i == 3 {
			length = -1
		}
		c.Begin(httpsem.ExchangeOptions{ReadTimeout: time.Minute, WriteTimeout: time.Minute})
		req := request(t, "POST", srv.URL, nil)
		if err := c.WriteHead(req, length); err != nil {
			t.Fatal(err)
		}
		if n, err := c.WriteBody(body, length, i == 1, nil); err != nil || n != int64(len(data)) {
			t.Fatal(n, err)
		}
		resp := newResponse()
		if err := c.ReadHead(req, resp); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if n, err := copyTo(c, &b); err != nil || n != int64(len(want))+3<<20 {
			t.Fatal(n, err)
		}
		if got := string(b.Next(len(want))); got != want {
			t.Errorf("body %d: the server read %s, want %s", i, got, want)
		}
		if ok, reason := c.End(); !ok {
			t.Fatal(reason)
		}
	}
}
