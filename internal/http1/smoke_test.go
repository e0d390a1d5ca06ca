package http1

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

func TestAgainstNetHTTPServer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Trailer", "X-Sum")
		fmt.Fprintf(w, "%s %s %s", r.Method, r.RequestURI, b)
		w.(http.Flusher).Flush()
		fmt.Fprintf(w, " %s", r.Trailer.Get("X-T"))
		w.Header().Set("X-Sum", "1")
	}))
	defer srv.Close()
	nc, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	c := NewConn(nc, nc)
	for i, length := range []int64{0, 5, -1, 5, 0} {
		for _, inline := range []bool{true, false} {
			req := request(t, "POST", srv.URL+"/a?b", nil)
			if length < 0 {
				req.Trailer = http.Header{"X-T": {"late"}}
			}
			c.Begin(httpsem.ExchangeOptions{})
			if err := c.WriteHead(req, length); err != nil {
				t.Fatal(err)
			}
			body := "hello"
			if length == 0 {
				body = ""
			}
			n, err := c.WriteBody(strings.NewReader(body), length, inline, req.Trailer)
			if err != nil || n != int64(len(body)) {
				t.Fatal(n, err)
			}
			var resp http.Response
			if err := c.ReadHead(req, &resp); err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if _, err := copyTo(c, &b); err != nil {
				t.Fatal(err)
			}
			want := "POST /a?b " + body + " "
			if length < 0 {
				want += "late"
			}
			if b.String() != want || c.Trailer().Get("X-Sum") != "1" {
				t.Errorf("%d: got %q, trailer %v", i, b.String(), c.Trailer())
			}
			if ok, reason := c.End(); !ok {
				t.Fatal(reason)
			}
		}
	}
}
