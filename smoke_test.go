package okhttp

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func smokeServer(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/hello", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") })
	mux.HandleFunc("/empty", func(w http.ResponseWriter, r *http.Request) {})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Write(b)
	})
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/hello", 302) })
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zw := gzip.NewWriter(w)
		io.WriteString(zw, strings.Repeat("zipped ", 1000))
		zw.Close()
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func readAll(t *testing.T, resp *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSmoke(t *testing.T) {
	s := smokeServer(t)
	var events []string
	c := New(WithEventListener(EventListenerFunc(func(_ *Call, e Event) { events = append(events, fmt.Sprintf("%T", e)) })))
	defer c.Close()
	ctx := context.Background()
	for _, path := range []string{"/hello", "/empty", "/redirect", "/gzip", "/hello"} {
		events = nil
		resp, err := c.Get(ctx, s.URL+path)
		body := readAll(t, resp, err)
		t.Log(path, resp.Status, len(body), events)
	}
	resp, err := c.Post(ctx, s.URL+"/echo", "text/plain", strings.NewReader("small"))
	if got := readAll(t, resp, err); got != "small" {
		t.Error(got)
	}
	big := strings.Repeat("x", 1<<20)
	resp, err = c.Post(ctx, s.URL+"/echo", "text/plain", strings.NewReader(big))
	if got := readAll(t, resp, err); got != big {
		t.Error(len(got))
	}
	resp, err = c.Post(ctx, s.URL+"/echo", "text/plain", io.MultiReader(strings.NewReader(big)))
	if got := readAll(t, resp, err); got != big {
		t.Error(len(got))
	}
	t.Logf("%+v", c.Pool().Stats())
	hc := http.Client{Transport: c, Timeout: time.Second}
	resp, err = hc.Get(s.URL + "/redirect")
	if got := readAll(t, resp, err); got != "hello" {
		t.Error(got)
	}
}

func TestSmokeTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "secret") }))
	defer s.Close()
	c := New(WithTLSConfig(s.Client().Transport.(*http.Transport).TLSClientConfig))
	defer c.Close()
	for range 3 {
		resp, err := c.Get(context.Background(), s.URL)
		if got := readAll(t, resp, err); got != "secret" || resp.TLS == nil {
			t.Error(got)
		}
	}
	if got := c.Pool().Stats(); got.Opened != 1 || got.Reused != 2 || got.Idle != 1 {
		t.Errorf("%+v", got)
	}
	_, err := New().Get(context.Background(), s.URL)
	t.Log(err)
	_, err = New().Get(context.Background(), strings.Replace(s.URL, "https", "http", 1))
	t.Log(err)
	_, err = New().Get(context.Background(), "http://127.0.0.1:1/")
	t.Log(err)
}

func TestAllocs(t *testing.T) {
	ln, _ := net.Listen("tcp", "127.0.0.1:0")
	defer ln.Close()
	go func() {
		conn, _ := ln.Accept()
		defer conn.Close()
		buf := make([]byte, 4096)
		answer := []byte("HTTP/1.1 200 OK\r\nDate: Tue, 01 Dec 2026 05:06:53 GMT\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 13\r\n\r\nHello, World!")
		for {
			if _, err := conn.Read(buf); err != nil {
				return
			}
			conn.Write(answer)
		}
	}()
	c := New()
	defer c.Close()
	req, _ := http.NewRequest("GET", "http://"+ln.Addr().String()+"/hello", nil)
	buf := make([]byte, 1024)
	n := testing.AllocsPerRun(1000, func() {
		resp, err := c.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := resp.Body.Read(buf); err != nil {
				break
			}
		}
		resp.Body.Close()
	})
	t.Log(n)
}
