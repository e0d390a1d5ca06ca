package okhttp_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/okhttp-go/okhttp"
	mock "github.com/okhttp-go/okhttp/mockwebserver"
)

// passingBody counts what is read of a body, as an interceptor does that shows
// the progress of an upload.
type passingBody struct {
	io.ReadCloser
	read, closed *atomic.Int64
}

func (b passingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Add(int64(n))
	return n, err
}

func (b passingBody) Close() error {
	b.closed.Add(1)
	return b.ReadCloser.Close()
}

// An interceptor may put a body around the one that it was given: that is still
// open when it is read, and closed in the end.
func TestInterceptorWrapsBody(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 10_000)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, way := range []struct {
		name string
		with func(...okhttp.Interceptor) okhttp.Option
	}{{"application", okhttp.WithInterceptor}, {"network", okhttp.WithNetworkInterceptor}} {
		t.Run(way.name, func(t *testing.T) {
			server := mock.New(t, mock.WithFallback(mock.Text("ok")))
			var read, closed atomic.Int64
			wrap := okhttp.InterceptorFunc(func(ch *okhttp.Chain) (*http.Response, error) {
				req := ch.Request().Clone(ch.Request().Context())
				req.Body = passingBody{req.Body, &read, &closed}
				return ch.Proceed(req)
			})
			client := startClient(t, way.with(wrap, wrap))
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			req := newRequest(t, http.MethodPost, server.URL("/"), file)
			req.ContentLength = int64(len(content))
			resp, err := client.Do(req)
			wantBody(t, resp, err, "ok")
			if got := server.RequireRequest(t).Body; !bytes.Equal(got, content) {
				t.Errorf("the server read %d bytes", len(got))
			}
			if read.Load() != 2*int64(len(content)) || closed.Load() < 2 {
				t.Errorf("read %d, closed %d times", read.Load(), closed.Load())
			}
			if _, err := file.Read(make([]byte, 1)); err == nil {
				t.Error("the file is still open")
			}
		})
	}
}

// A body that an interceptor puts in the place of another is sent instead of it;
// both are closed.
func TestInterceptorReplacesBody(t *testing.T) {
	for _, way := range []struct {
		name string
		with func(...okhttp.Interceptor) okhttp.Option
	}{{"application", okhttp.WithInterceptor}, {"network", okhttp.WithNetworkInterceptor}} {
		t.Run(way.name, func(t *testing.T) {
			server := mock.New(t, mock.WithFallback(mock.Text("ok")))
			var read, before, after atomic.Int64
			client := startClient(t, way.with(okhttp.InterceptorFunc(func(ch *okhttp.Chain) (*http.Response, error) {
				req := ch.Request().Clone(ch.Request().Context())
				req.Body = passingBody{io.NopCloser(bytes.NewReader([]byte("NEW"))), &read, &after}
				return ch.Proceed(req)
			})))
			req := newRequest(t, http.MethodPost, server.URL("/"),
				passingBody{io.NopCloser(bytes.NewReader([]byte("old"))), &read, &before})
			req.ContentLength = 3
			resp, err := client.Do(req)
			wantBody(t, resp, err, "ok")
			if got := server.RequireRequest(t).Text(); got != "NEW" {
				t.Errorf("the server read %q", got)
			}
			if read.Load() != 3 || before.Load() != 1 || after.Load() != 1 {
				t.Errorf("read %d bytes; closed the old one %d times, the new one %d times", read.Load(), before.Load(), after.Load())
			}
		})
	}
}

// What a network interceptor wraps is the body of that attempt, whole.
func TestNetworkInterceptorWrapsEachAttempt(t *testing.T) {
	wrap := okhttp.InterceptorFunc(func(ch *okhttp.Chain) (*http.Response, error) {
		req := ch.Request().Clone(ch.Request().Context())
		if req.Body != nil {
			req.Body = passingBody{req.Body, new(atomic.Int64), new(atomic.Int64)}
		}
		return ch.Proceed(req)
	})
	for _, c := range []struct {
		name      string
		method    string
		expect    bool
		body      func() io.Reader
		responses []mock.Response
	}{
		{"repeated after a failure", http.MethodPut, false, func() io.Reader { return strings.NewReader("hello") },
			[]mock.Response{mock.Response{}.WithEffect(mock.AtRequestEnd, mock.CloseConnection()), mock.Text("ok")}},
		{"looked into", http.MethodDelete, false, func() io.Reader { return io.MultiReader(strings.NewReader("hello")) },
			[]mock.Response{mock.Text("ok")}},
		{"redirected", http.MethodPost, false, func() io.Reader { return strings.NewReader("hello") },
			[]mock.Response{mock.Status(307).WithHeader("Location", "/b"), mock.Text("ok")}},
		{"expectation refused, read never", http.MethodPost, true, func() io.Reader { return io.MultiReader(strings.NewReader("hello")) },
			[]mock.Response{mock.Status(417).WithReading(mock.ReadNever), mock.Text("ok")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := mock.New(t)
			server.Enqueue(mock.Text("warm"))
			server.Enqueue(c.responses...)
			client := startClient(t, okhttp.WithNetworkInterceptor(wrap))
			resp, err := client.Get(t.Context(), server.URL("/"))
			wantBody(t, resp, err, "warm")
			server.RequireRequest(t)

			req := newRequest(t, c.method, server.URL("/a"), io.NopCloser(c.body()))
			if text, ok := c.body().(*strings.Reader); ok {
				req = newRequest(t, c.method, server.URL("/a"), text)
			}
			if c.expect {
				req.Header.Set("Expect", "100-continue")
			}
			resp, err = client.Do(req)
			wantBody(t, resp, err, "ok")
			var last string
			for range c.responses {
				last = server.RequireRequest(t).Text()
			}
			if last != "hello" {
				t.Errorf("the server read %q", last)
			}
		})
	}
}
