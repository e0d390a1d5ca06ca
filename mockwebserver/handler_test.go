package mockwebserver_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

func TestHandler(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "%s %s %d ", r.Host, r.RemoteAddr, r.ContentLength)
		_, _ = io.Copy(w, r.Body)
	})
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-After")
		for i := range 3 {
			fmt.Fprintf(w, "%d\n", i)
			w.(http.Flusher).Flush()
		}
		w.Header().Set("X-After", "announced")
		w.Header().Set(http.TrailerPrefix+"X-Late", "late")
	})
	mux.HandleFunc("GET /large", func(w http.ResponseWriter, _ *http.Request) {
		for range 1000 {
			_, _ = io.WriteString(w, strings.Repeat("x", 100))
		}
	})
	mux.HandleFunc("GET /short", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "short")
	})
	mux.HandleFunc("GET /abort", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("GET /empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /hints", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
	})
	mux.HandleFunc("GET /hijack", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine")
			conn.Close()
		}()
	})
	server := mockwebserver.New(t, mockwebserver.WithDispatcher(mockwebserver.Handler(mux)))
	client := newClient(t, server)

	resp, err := client.Post(server.URL("/echo"), "text/plain", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 201 || !strings.HasSuffix(string(body), " 4 body") || resp.ContentLength != int64(len(body)) ||
		resp.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("echo: %v %q", resp, body)
	}

	resp, text := mustFetch(t, client, server.URL("/stream"))
	if text != "0\n1\n2\n" || resp.ContentLength != -1 || resp.Trailer.Get("X-After") != "announced" || resp.Trailer.Get("X-Late") != "late" {
		t.Errorf("stream: %v %q %v", resp, text, resp.Trailer)
	}
	if resp, text = mustFetch(t, client, server.URL("/large")); len(text) != 100000 || resp.ContentLength != -1 {
		t.Errorf("large: %v %d", resp, len(text))
	}
	if _, text, err = fetch(client, server.URL("/short")); err != io.ErrUnexpectedEOF || text != "" && text != "short" {
		t.Errorf("short: %q, %v", text, err)
	}
	if _, _, err = fetch(client, server.URL("/abort")); err == nil {
		t.Error("abort: no error")
	}
	if resp, _ = mustFetch(t, client, server.URL("/empty")); resp.StatusCode != 204 || resp.Header.Get("Content-Length") != "" {
		t.Errorf("empty: %v", resp)
	}
	if resp, _ = mustFetch(t, client, server.URL("/hints")); resp.StatusCode != 200 || resp.ContentLength != 0 {
		t.Errorf("hints: %v", resp)
	}
	if _, text = mustFetch(t, client, server.URL("/hijack")); text != "mine" {
		t.Errorf("hijack: %q", text)
	}
	if resp, err = client.Head(server.URL("/stream")); err != nil || resp.StatusCode != 200 {
		t.Errorf("head: %v, %v", resp, err)
	}
	if resp, _ = mustFetch(t, client, server.URL("/nothing")); resp.StatusCode != 404 {
		t.Errorf("nothing: %v", resp)
	}
}

func TestHandlerContextEndsWithClient(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Response{}.WithHandler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(ended)
	})))
	client := newClient(t, server)
	req, cancel := cancelableGet(t, server.URL("/"))
	go func() {
		<-began
		cancel()
	}()
	if _, err := client.Do(req); err == nil {
		t.Error("no error")
	}
	<-ended
}

func TestHandlerEffects(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Response{}.
		WithHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "0123456789")
		})).
		WithEffect(mockwebserver.AtResponseBody, mockwebserver.CloseConnection()))
	_, body, err := fetch(newClient(t, server), server.URL("/"))
	if body != "01234" || err != io.ErrUnexpectedEOF {
		t.Errorf("got %q, %v", body, err)
	}
}
