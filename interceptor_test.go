package okhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/okhttp-go/okhttp"
	mock "github.com/okhttp-go/okhttp/mockwebserver"
)

type interceptor = okhttp.InterceptorFunc

// startPair makes a server that answers everything with "ok", and its client.
func startPair(t *testing.T, opts ...okhttp.Option) (*mock.Server, *okhttp.Client) {
	server := mock.New(t, mock.WithFallback(mock.Text("ok")))
	return server, startClient(t, opts...)
}

func TestInterceptorOrder(t *testing.T) {
	var order []string
	named := func(name string) okhttp.Interceptor {
		return interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
			order = append(order, name+">")
			resp, err := ch.Proceed(ch.Request())
			order = append(order, "<"+name)
			return resp, err
		})
	}
	server, client := startPair(t, okhttp.WithNetworkInterceptor(named("n1")), okhttp.WithInterceptor(named("a1"), named("a2")),
		okhttp.WithNetworkInterceptor(named("n2")))
	server.Enqueue(moved(302, "/next"), mock.Text("here"))
	call := client.NewCall(newRequest(t, "GET", server.URL("/"), nil), okhttp.WithInterceptor(named("a3")))
	resp, err := call.Execute()
	wantBody(t, resp, err, "here")
	want := "a1> a2> a3> n1> n2> <n2 <n1 n1> n2> <n2 <n1 <a3 <a2 <a1"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("order\n got %s\nwant %s", got, want)
	}
}

// What each kind sees: the user's request and response, or what is on the wire.
func TestInterceptorViews(t *testing.T) {
	var application, network *http.Request
	var appEncoding, netEncoding string
	keep := func(at **http.Request, encoding *string, connected bool) okhttp.Interceptor {
		return interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
			*at = ch.Request()
			if ch.Connection().IsZero() == connected {
				t.Errorf("connection known: %t", !connected)
			}
			resp, err := ch.Proceed(ch.Request())
			if err == nil {
				*encoding = resp.Header.Get("Content-Encoding")
			}
			return resp, err
		})
	}
	server, client := startPair(t, okhttp.WithInterceptor(keep(&application, &appEncoding, false)),
		okhttp.WithNetworkInterceptor(keep(&network, &netEncoding, true)))
	server.Enqueue(mock.Text("zipped").WithGzip())
	resp, err := client.Get(t.Context(), server.URL("/"))
	wantBody(t, resp, err, "zipped")
	if len(application.Header) != 0 || appEncoding != "" || !resp.Uncompressed {
		t.Errorf("application: %v, %q", application.Header, appEncoding)
	}
	for _, name := range []string{"User-Agent", "Accept-Encoding"} {
		if network.Header.Get(name) == "" {
			t.Errorf("network: no %s", name)
		}
	}
	if netEncoding != "gzip" || network.Host == "" {
		t.Errorf("network: %q %q", netEncoding, network.Host)
	}
	if info := okhttp.InfoOf(resp); info.Network.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("the network response lost its header: %v", info.Network.Header)
	}
	if len(resp.Request.Header) != 0 {
		t.Errorf("the response's request has headers of the client's: %v", resp.Request.Header)
	}
}

func TestNetworkInterceptorRewrites(t *testing.T) {
	server, client := startPair(t, okhttp.WithNetworkInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
		req := ch.Request().Clone(ch.Request().Context())
		req.Method = "PUT"
		req.Header.Set("X-Added", "1")
		req.Body, req.ContentLength, req.GetBody = io.NopCloser(strings.NewReader("rewritten")), 9, nil
		req.URL.Path = "/other"
		resp, err := ch.Proceed(req)
		if err == nil {
			resp.Header.Set("X-Answer", "1")
		}
		return resp, err
	})))
	var closed int
	req := newRequest(t, "POST", server.URL("/"), nil)
	req.Body, req.ContentLength = &countedBody{strings.NewReader("original"), &closed}, 8
	resp, err := client.Do(req)
	wantBody(t, resp, err, "ok")
	if r := server.RequireRequest(t); r.Method != "PUT" || r.Target != "/other" || r.Text() != "rewritten" || !r.Header.Has("X-Added") {
		t.Errorf("%+v", r)
	}
	if resp.Header.Get("X-Answer") == "" || resp.Request.Method != "POST" || resp.Request.URL.Path != "/" {
		t.Errorf("%v, the response is that of %s %s", resp.Header, resp.Request.Method, resp.Request.URL)
	}
	if closed != 1 {
		t.Errorf("the body that was replaced was closed %d times", closed)
	}
}

// Proceeding again needs the first response closed.
func TestProceedTwice(t *testing.T) {
	for _, closes := range []bool{true, false} {
		server, client := startPair(t, okhttp.WithInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
			first, err := ch.Proceed(ch.Request())
			if err != nil {
				return nil, err
			}
			if closes {
				first.Body.Close()
			} else {
				defer first.Body.Close()
			}
			return ch.Proceed(ch.Request())
		})))
		resp, err := client.Post(t.Context(), server.URL("/"), "text/plain", strings.NewReader("body"))
		if closes {
			wantBody(t, resp, err, "ok")
			if first, second := server.RequireRequest(t), server.RequireRequest(t); first.Text() != "body" || second.Text() != "body" {
				t.Errorf("bodies %q, %q", first.Text(), second.Text())
			}
			continue
		}
		wantMisuse(t, err, "close it first")
		if n := server.RequestCount(); n != 1 {
			t.Errorf("%d requests", n)
		}
	}
}

// wantMisuse checks for an InterceptorError that names the interceptor.
func wantMisuse(t *testing.T, err error, words string) {
	t.Helper()
	var fault *okhttp.InterceptorError
	if !errors.As(err, &fault) || !strings.Contains(fault.Reason, words) || fault.Interceptor != "okhttp.InterceptorFunc" {
		t.Errorf("%v; want a fault of the interceptor with %q", err, words)
	}
	var outer *okhttp.Error
	if !errors.As(err, &outer) || strings.Count(err.Error(), "okhttp: ") != 1 {
		t.Errorf("no *Error, or not named once: %v", err)
	}
}

func TestInterceptorMisuse(t *testing.T) {
	change := func(edit func(*url.URL)) interceptor {
		return func(ch *okhttp.Chain) (*http.Response, error) {
			req := ch.Request().Clone(ch.Request().Context())
			edit(req.URL)
			return ch.Proceed(req)
		}
	}
	for _, c := range []struct {
		name    string
		network bool
		do      interceptor
		words   string
	}{
		{"no Proceed", true, func(*okhttp.Chain) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		}, "exactly once"},
		{"Proceed twice", true, func(ch *okhttp.Chain) (*http.Response, error) {
			resp, err := ch.Proceed(ch.Request())
			if err != nil {
				return nil, err
			}
			resp.Body.Close()
			return ch.Proceed(ch.Request())
		}, "more than once"},
		{"another host", true, change(func(u *url.URL) { u.Host = "other.test:1" }), "host and port"},
		{"another port", true, change(func(u *url.URL) { u.Host = u.Hostname() + ":1" }), "host and port"},
		{"no response, network", true, func(ch *okhttp.Chain) (*http.Response, error) {
			resp, err := ch.Proceed(ch.Request())
			if err == nil {
				resp.Body.Close()
			}
			return nil, nil
		}, "neither"},
		{"no response", false, func(*okhttp.Chain) (*http.Response, error) { return nil, nil }, "neither"},
		{"no request", false, func(ch *okhttp.Chain) (*http.Response, error) { return ch.Proceed(nil) }, "no request"},
		{"no request, network", true, func(ch *okhttp.Chain) (*http.Response, error) { return ch.Proceed(nil) }, "no request"},
		{"no URL", false, func(ch *okhttp.Chain) (*http.Response, error) { return ch.Proceed(&http.Request{}) }, "no request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			option := okhttp.WithInterceptor
			if c.network {
				option = okhttp.WithNetworkInterceptor
			}
			log := newEventLog(t)
			server, client := startPair(t, option(c.do), okhttp.WithEventListener(log))
			resp, err := client.Get(t.Context(), server.URL("/"))
			if err == nil {
				resp.Body.Close()
				t.Fatal("no error")
			}
			wantMisuse(t, err, c.words)
		})
	}
}

// A response without a body is given one, as everybody expects.
func TestInterceptorResponseWithoutBody(t *testing.T) {
	server, client := startPair(t, okhttp.WithInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
		return &http.Response{StatusCode: 204}, nil
	})))
	resp, err := client.Get(t.Context(), server.URL("/"))
	wantBody(t, resp, err, "")
	if okhttp.InfoOf(resp) != nil {
		t.Error("a made-up response has an Info")
	}
}

// countingTransport is a RoundTripper wrapper as packages for tracing or
// metrics have them.
type countingTransport struct {
	next  http.RoundTripper
	stats *transportStats
}

type transportStats struct{ calls, failures, bytes atomic.Int64 }

func (c *countingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	c.stats.calls.Add(1)
	req = req.Clone(req.Context()) // a RoundTripper must not change its request
	req.Header.Set("X-Request-Id", "42")
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		c.stats.failures.Add(1)
		return nil, err
	}
	resp.Body = &countingReader{resp.Body, &c.stats.bytes}
	return resp, nil
}

type countingReader struct {
	io.ReadCloser
	n *atomic.Int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.n.Add(int64(n))
	return n, err
}

func (r *countingReader) Unwrap() io.ReadCloser { return r.ReadCloser }

func TestMiddleware(t *testing.T) {
	var stats transportStats
	wrap := func(next http.RoundTripper) http.RoundTripper { return &countingTransport{next, &stats} }
	for _, network := range []bool{false, true} {
		option := okhttp.WithInterceptor
		if network {
			option = okhttp.WithNetworkInterceptor
		}
		server, client := startPair(t, option(okhttp.Middleware(wrap)))
		stats = transportStats{}
		server.Enqueue(moved(302, "/next"), mock.Text("here"))
		resp, err := client.Get(t.Context(), server.URL("/"))
		wantBody(t, resp, err, "here")
		for range 2 {
			if got := server.RequireRequest(t).Header.Get("X-Request-Id"); got != "42" {
				t.Errorf("X-Request-Id %q", got)
			}
		}
		calls := int64(1)
		if network {
			calls = 2
		}
		if stats.calls.Load() != calls || stats.bytes.Load() < 4 {
			t.Errorf("network %t: %d calls, %d bytes", network, stats.calls.Load(), stats.bytes.Load())
		}
		if okhttp.InfoOf(resp) == nil {
			t.Error("no info through a wrapper with Unwrap")
		}
		if _, err := client.Get(t.Context(), "http://127.0.0.1:1/"); err == nil || network == (stats.failures.Load() == 1) {
			t.Errorf("network %t: %d failures, %v", network, stats.failures.Load(), err)
		}
	}
}

func TestNewChain(t *testing.T) {
	sign := interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
		req := ch.Request().Clone(ch.Request().Context())
		req.Header.Set("Signature", "abc")
		return ch.With(okhttp.WithReadTimeout(1)).Proceed(req)
	})
	req := newRequest(t, "GET", "http://server.test/", nil)
	answer := &http.Response{StatusCode: 200}
	signed := ""
	ch := okhttp.NewChain(req, func(got *http.Request) (*http.Response, error) {
		signed = got.Header.Get("Signature")
		return answer, nil
	})
	if resp, err := sign.Intercept(ch); resp != answer || err != nil || signed != "abc" {
		t.Errorf("%v, %v, signature %q", resp, err, signed)
	}
	if ch.Request() != req || ch.Call() != nil || !ch.Connection().IsZero() {
		t.Error("the chain is not as documented")
	}
	if resp, err := okhttp.Middleware(func(next http.RoundTripper) http.RoundTripper { return next }).Intercept(ch); resp != answer || err != nil {
		t.Error(err)
	}
}

// A panic on the caller's goroutine reaches the caller, and nothing is left behind.
func TestInterceptorPanics(t *testing.T) {
	for _, when := range []string{"before", "after", "network before", "network after"} {
		t.Run(when, func(t *testing.T) {
			option := okhttp.WithInterceptor
			if strings.HasPrefix(when, "network") {
				option = okhttp.WithNetworkInterceptor
			}
			log := newEventLog(t)
			server, client := startPair(t, okhttp.WithEventListener(log), option(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
				if strings.HasSuffix(when, "after") {
					if _, err := ch.Proceed(ch.Request()); err != nil {
						t.Error(err)
					}
				}
				panic("boom")
			})))
			var closed int
			req := newRequest(t, "POST", server.URL("/"), nil)
			req.Body, req.ContentLength = &countedBody{strings.NewReader("body"), &closed}, 4
			func() {
				defer func() {
					if p := recover(); p != "boom" {
						t.Errorf("recovered %v", p)
					}
				}()
				client.Do(req)
			}()
			if closed != 1 {
				t.Errorf("the request body was closed %d times", closed)
			}
			if s := client.Dispatcher().Stats(); s.Running != 0 {
				t.Errorf("%+v", s)
			}
			if s := client.Pool().Stats(); s.Open != s.Idle {
				t.Errorf("%+v", s)
			}
			events := log.of(log.last())
			if _, ok := events[len(events)-1].(okhttp.CallFailed); !ok {
				t.Errorf("%s", names(events))
			}
		})
	}
}

// A panic in an enqueued call reaches its callback as an error, and then ends the
// program as any panic does; so this needs a program of its own.
func TestInterceptorPanicsEnqueued(t *testing.T) {
	if os.Getenv("OKHTTP_TEST_PANIC") != "" {
		client := okhttp.New(okhttp.WithInterceptor(interceptor(func(*okhttp.Chain) (*http.Response, error) { panic("boom") })))
		call := client.NewCall(newRequest(t, "GET", "http://server.test/", nil))
		call.Enqueue(func(resp *http.Response, err error) { fmt.Printf("done: %v, %v, %t\n", resp, err, call.Canceled()) })
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestInterceptorPanicsEnqueued$")
	cmd.Env = append(os.Environ(), "OKHTTP_TEST_PANIC=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("%v", err)
	}
	for _, want := range []string{"done: <nil>, okhttp: ", "panicked, true\n", "panic: boom", "interceptor_test.go"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// The call can be had wherever its context goes.
func TestCallFromContext(t *testing.T) {
	var mu sync.Mutex
	found := map[string]*okhttp.Call{}
	note := func(where string, ctx context.Context) {
		mu.Lock()
		found[where] = okhttp.CallFrom(ctx)
		mu.Unlock()
	}
	type key struct{}
	server, client := startPair(t,
		okhttp.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			note("dialer", ctx)
			if ctx.Value(key{}) != "value" {
				t.Error("the request's values do not reach the dialer")
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		}),
		okhttp.WithInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
			note("interceptor", ch.Request().Context())
			okhttp.SetTag(ch.Call(), "from above")
			return ch.Proceed(ch.Request())
		})),
		okhttp.WithNetworkInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
			note("network interceptor", ch.Request().Context())
			if tag, ok := okhttp.Tag[string](ch.Call()); !ok || tag != "from above" {
				t.Errorf("tag %q", tag)
			}
			return ch.Proceed(ch.Request())
		})))
	req := newRequest(t, "GET", server.URL("/"), nil)
	call := client.NewCall(req.WithContext(context.WithValue(t.Context(), key{}, "value")))
	resp, err := call.Execute()
	wantBody(t, resp, err, "ok")
	note("context", call.Context())
	for _, where := range []string{"dialer", "interceptor", "network interceptor", "context"} {
		if found[where] != call {
			t.Errorf("%s: %v", where, found[where])
		}
	}
	if okhttp.CallFrom(t.Context()) != nil {
		t.Error("a call in a context of no call")
	}
	if _, ok := okhttp.Tag[string](call.Clone()); ok {
		t.Error("a clone has the tags")
	}
}

func TestTags(t *testing.T) {
	call := okhttp.New().NewCall(newRequest(t, "GET", "http://server.test/", nil))
	if _, ok := okhttp.Tag[int](call); ok {
		t.Error("a tag from nowhere")
	}
	okhttp.SetTag(call, 1)
	okhttp.SetTag(call, "one")
	okhttp.SetTag(call, 2)
	okhttp.SetTag[error](call, io.EOF) // by the static type
	if n, _ := okhttp.Tag[int](call); n != 2 {
		t.Errorf("%d", n)
	}
	if err, _ := okhttp.Tag[error](call); err != io.EOF {
		t.Error(err)
	}
	var made atomic.Int64
	var mu sync.Mutex
	var got []*int
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			p := okhttp.TagOrSet(call, func() *int {
				made.Add(1)
				okhttp.SetTag(call, uint8(1)) // no lock is held
				return new(int)
			})
			mu.Lock()
			got = append(got, p)
			mu.Unlock()
		})
	}
	group.Wait()
	if len(slices.Compact(got)) != 1 || made.Load() == 0 {
		t.Errorf("%d values", len(slices.Compact(got)))
	}
}
