package okhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp"
	mock "github.com/okhttp-go/okhttp/mockwebserver"
)

func moved(status int, location string) mock.Response {
	return mock.Status(status).WithHeader("Location", location).WithBody("moved")
}

func TestRedirectMethods(t *testing.T) {
	const text = "the body"
	type want struct {
		method string // "" means that the redirect is returned
		body   bool
	}
	dropped, kept := want{"GET", false}, func(method string) want { return want{method, true} }
	for _, c := range []struct {
		method string
		codes  []int
		want   want
	}{
		{"GET", []int{300, 301, 302, 303, 307, 308}, want{"GET", false}},
		{"HEAD", []int{300, 301, 302, 303, 307, 308}, want{"HEAD", false}},
		{"POST", []int{300, 301, 302, 303}, dropped},
		{"PUT", []int{300, 301, 302, 303}, dropped},
		{"DELETE", []int{300, 301, 302, 303}, dropped},
		{"POST", []int{307, 308}, kept("POST")},
		{"PUT", []int{307, 308}, kept("PUT")},
		{"PROPFIND", []int{300, 301, 302, 303, 307, 308}, kept("PROPFIND")},
		{"QUERY", []int{300, 301, 302, 307, 308}, kept("QUERY")},
		{"QUERY", []int{303}, dropped},
		{"GET", []int{304, 305, 306, 399}, want{}},
		{"POST", []int{305, 306}, want{}},
	} {
		for _, code := range c.codes {
			t.Run(fmt.Sprintf("%s %d", c.method, code), func(t *testing.T) {
				server := mock.New(t, mock.WithFallback(mock.Text("here")))
				if c.method == "HEAD" || code == 304 {
					server.Enqueue(mock.Status(code).WithHeader("Location", "/next"))
				} else {
					server.Enqueue(moved(code, "/next"))
				}
				client := startClient(t)
				var body io.Reader
				if c.method != "GET" && c.method != "HEAD" {
					body = strings.NewReader(text)
				}
				req := newRequest(t, c.method, server.URL("/"), body)
				if body != nil {
					req.Header.Set("Content-Type", "text/plain")
				}
				resp, err := client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				server.RequireRequest(t)
				if c.want.method == "" {
					if resp.StatusCode != code || server.RequestCount() != 1 {
						t.Fatalf("status %d after %d requests", resp.StatusCode, server.RequestCount())
					}
					return
				}
				r := server.RequireRequest(t)
				if r.Method != c.want.method || r.Target != "/next" || (r.Text() == text) != c.want.body {
					t.Errorf("%s %s with %q", r.Method, r.Target, r.Text())
				}
				if has := r.Header.Has("Content-Type"); has != c.want.body {
					t.Errorf("Content-Type: %t", has)
				}
				if !c.want.body && (r.Header.Has("Content-Length") || r.Header.Has("Transfer-Encoding")) {
					t.Errorf("framing of a body that is gone: %v", r.Header)
				}
				if resp.Request.URL.Path != "/next" || resp.Request.Method != c.want.method {
					t.Errorf("the response is that of %s %s", resp.Request.Method, resp.Request.URL)
				}
				if n := server.ConnectionCount(); n != 1 {
					t.Errorf("%d connections", n)
				}
			})
		}
	}
}

func TestFollowUpLimit(t *testing.T) {
	for _, n := range []int{20, 21} {
		server := mock.New(t, mock.WithFallback(mock.Text("here")))
		for i := range n {
			server.Enqueue(moved(302, fmt.Sprintf("/%d", i)))
		}
		resp, err := startClient(t).Get(t.Context(), server.URL("/"))
		if n == 20 {
			wantBody(t, resp, err, "here")
		} else if !errors.Is(err, okhttp.ErrTooManyFollowUps) {
			t.Errorf("%v", err)
		}
		if got := server.RequestCount(); got != 21 {
			t.Errorf("%d redirects: %d requests", n, got)
		}
	}
}

func TestRedirectTargets(t *testing.T) {
	for _, c := range []struct {
		name, location string
		want           string // the second target, "" if there is no second request
		url            string // the final URL after the host
	}{
		{"relative", "next?q=1", "/dir/next?q=1", "/dir/next?q=1#frag"},
		{"absolute path", "/next", "/next", "/next#frag"},
		{"own fragment", "/next#other", "/next", "/next#other"},
		{"space in query", "/next?a=b c", "/next?a=b%20c", "/next?a=b%20c#frag"},
		{"none", "", "", "/dir/page#frag"},
		{"another scheme", "ftp://example.com/", "", "/dir/page#frag"},
		{"file", "file:///etc/passwd", "", "/dir/page#frag"},
		{"impossible port", "http://127.0.0.1:99999/", "", "/dir/page#frag"},
		{"no URL", "http://[::1", "", "/dir/page#frag"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := mock.New(t, mock.WithFallback(mock.Text("here")))
			server.Enqueue(moved(302, c.location))
			resp, err := startClient(t).Get(t.Context(), server.URL("/dir/page#frag"))
			want := "here"
			if c.want == "" {
				want = "moved"
			}
			wantBody(t, resp, err, want)
			if got := strings.TrimPrefix(resp.Request.URL.String(), strings.TrimSuffix(server.URL("/"), "/")); got != c.url {
				t.Errorf("URL %q, want %q", got, c.url)
			}
			server.RequireRequest(t)
			if c.want != "" {
				if got := server.RequireRequest(t).Target; got != c.want {
					t.Errorf("target %q, want %q", got, c.want)
				}
			}
		})
	}
}

// P28: what may cross origins, by port, host and scheme.
func TestRedirectStripsCredentials(t *testing.T) {
	plain := mock.New(t, mock.WithHostName("server.test"), mock.WithFallback(mock.Text("here")))
	port := mock.New(t, mock.WithHostName("server.test"), mock.WithFallback(mock.Text("here")))
	host := mock.New(t, mock.WithHostName("other.test"), mock.WithFallback(mock.Text("here")))
	secure := mock.New(t, mock.WithHostName("server.test"), mock.WithTLS("other.test"), mock.WithFallback(mock.Text("here")))
	for _, c := range []struct {
		name     string
		from, to *mock.Server
		stripped bool
	}{
		{"same origin", plain, plain, false},
		{"port", plain, port, true},
		{"host", plain, host, true},
		{"to https", plain, secure, true},
		{"to http", secure, plain, true},
	} {
		for _, status := range []int{302, 307} {
			t.Run(fmt.Sprintf("%s %d", c.name, status), func(t *testing.T) {
				client := startClient(t, okhttp.WithDNS(serverTest), okhttp.WithTLSConfig(secure.ClientTLS()),
					okhttp.WithSensitiveHeaders("X-Api-Key"), okhttp.WithFollowDowngrades(true))
				c.from.Enqueue(moved(status, c.to.URL("/next")))
				req := newRequest(t, "POST", c.from.URL("/"), strings.NewReader("body"))
				secrets := []string{"Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key"}
				for _, name := range secrets {
					req.Header.Set(name, "secret")
				}
				req.Header["x-api-KEY"] = []string{"secret"} // the case does not matter
				req.Header.Set("X-Harmless", "1")
				resp, err := client.Do(req)
				wantBody(t, resp, err, "here")
				c.from.RequireRequest(t)
				r := c.to.RequireRequest(t)
				for _, name := range secrets {
					if r.Header.Has(name) == c.stripped {
						t.Errorf("%s sent: %t", name, r.Header.Has(name))
					}
				}
				if !r.Header.Has("X-Harmless") {
					t.Error("a harmless header is gone")
				}
				if (r.Text() == "body") != (status == 307) {
					t.Errorf("body %q", r.Text())
				}
				if _, ok := req.Header["Authorization"]; !ok {
					t.Error("the caller's request was changed")
				}
			})
		}
	}
}

func TestRedirectPolicy(t *testing.T) {
	plain := mock.New(t, mock.WithFallback(mock.Text("here")))
	other := mock.New(t, mock.WithFallback(mock.Text("here")))
	secure := mock.New(t, mock.WithTLS(), mock.WithFallback(mock.Text("here")))
	for _, c := range []struct {
		name     string
		from, to *mock.Server
		status   int
		option   okhttp.Option
		followed bool
	}{
		{"default", plain, plain, 302, okhttp.WithFollowRedirects(true), true},
		{"off", plain, plain, 302, okhttp.WithFollowRedirects(false), false},
		{"to https", plain, secure, 302, okhttp.WithFollowTLSRedirects(true), true},
		{"to https, off", plain, secure, 302, okhttp.WithFollowTLSRedirects(false), false},
		{"to http", secure, plain, 302, okhttp.WithFollowDowngrades(false), false},
		{"to http, on", secure, plain, 302, okhttp.WithFollowDowngrades(true), true},
		{"same scheme", plain, other, 302, okhttp.WithFollowTLSRedirects(false), true},
		{"cross-origin body", plain, other, 307, okhttp.WithCrossOriginBodies(true), true},
		{"cross-origin body, off", plain, other, 307, okhttp.WithCrossOriginBodies(false), false},
		{"cross-origin body, off but dropped", plain, other, 302, okhttp.WithCrossOriginBodies(false), true},
		{"same-origin body", plain, plain, 307, okhttp.WithCrossOriginBodies(false), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := startClient(t, okhttp.WithTLSConfig(secure.ClientTLS()), c.option)
			c.from.Enqueue(moved(c.status, c.to.URL("/next")))
			resp, err := client.Post(t.Context(), c.from.URL("/"), "text/plain", strings.NewReader("body"))
			want := "moved"
			if c.followed {
				want = "here"
			}
			wantBody(t, resp, err, want)
		})
	}
}

// bodies are the kinds of request bodies that a challenge can meet.
var bodies = []struct {
	name       string
	replayable bool
	give       func(*http.Request)
}{
	{"none", true, func(*http.Request) {}},
	{"fixed", true, func(r *http.Request) {
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("body")), nil }
		r.Body, _ = r.GetBody()
		r.ContentLength = 4
	}},
	{"chunked", true, func(r *http.Request) {
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("body")), nil }
		r.Body, _ = r.GetBody()
		r.ContentLength = -1
	}},
	{"one-shot", false, func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader("body"))
		r.ContentLength = -1
	}},
}

func TestAuthenticate(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, body := range bodies {
			t.Run(fmt.Sprintf("%s tls=%t", body.name, secure), func(t *testing.T) {
				var opts []mock.Option
				if secure {
					opts = append(opts, mock.WithTLS())
				}
				server := mock.New(t, opts...)
				server.Enqueue(mock.Status(401).WithHeader("WWW-Authenticate", "Basic").WithBody("who?"), mock.Text("in"))
				auth := okhttp.AuthenticatorFunc(func(route okhttp.Route, resp *http.Response) (*http.Request, error) {
					if !route.Addr.IsValid() || resp.StatusCode != 401 || resp.Request.Header.Get("Authorization") != "" {
						t.Errorf("%v %v %v", route, resp.Status, resp.Request.Header)
					}
					next := resp.Request.Clone(resp.Request.Context())
					next.SetBasicAuth("user", "password")
					return next, nil
				})
				tls := okhttp.WithTransparentGzip(true)
				if secure {
					tls = okhttp.WithTLSConfig(server.ClientTLS())
				}
				client := startClient(t, tls, okhttp.WithAuthenticator(auth))
				req := newRequest(t, "PUT", server.URL("/"), nil)
				body.give(req)
				resp, err := client.Do(req)
				if !body.replayable {
					wantBody(t, resp, err, "who?")
					return
				}
				wantBody(t, resp, err, "in")
				first, second := server.RequireRequest(t), server.RequireRequest(t)
				if second.Header.Get("Authorization") == "" || second.Text() != first.Text() || second.ExchangeIndex != 1 {
					t.Errorf("%v %q after %q, exchange %d", second.Header, second.Text(), first.Text(), second.ExchangeIndex)
				}
				if prior := okhttp.InfoOf(resp).Prior; prior == nil || prior.StatusCode != 401 {
					t.Errorf("prior response: %v", prior)
				}
			})
		}
	}
}

func TestAuthenticatorAnswers(t *testing.T) {
	boom := errors.New("boom")
	asked := 0
	for _, c := range []struct {
		name     string
		auth     okhttp.AuthenticatorFunc
		requests int
		err      error
	}{
		{"gives up", func(okhttp.Route, *http.Response) (*http.Request, error) { return nil, nil }, 1, nil},
		{"fails", func(okhttp.Route, *http.Response) (*http.Request, error) { return nil, boom }, 1, boom},
		{"never learns", func(_ okhttp.Route, resp *http.Response) (*http.Request, error) {
			asked++
			return resp.Request, nil
		}, 21, okhttp.ErrTooManyFollowUps},
		{"replaces", func(_ okhttp.Route, resp *http.Response) (*http.Request, error) {
			if resp.Request.Method == "PUT" {
				return nil, nil
			}
			return http.NewRequest("PUT", resp.Request.URL.String(), strings.NewReader("other"))
		}, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := mock.New(t, mock.WithFallback(mock.Status(401).WithBody("who?")))
			client := startClient(t, okhttp.WithAuthenticator(c.auth))
			resp, err := client.Get(t.Context(), server.URL("/"))
			if c.err == nil {
				wantBody(t, resp, err, "who?")
			} else if !errors.Is(err, c.err) {
				t.Errorf("%v", err)
			}
			if n := server.RequestCount(); n != c.requests {
				t.Errorf("%d requests", n)
			}
			if s := client.Pool().Stats(); s.Open != 1 || s.Idle != 1 {
				t.Errorf("the connection did not go back to the pool: %+v", s)
			}
		})
	}
	if asked != 21 && asked != 20 {
		t.Errorf("asked %d times", asked)
	}
}

// An authenticator may put the body of the request before into one of its own,
// without a way to have it again. The client knows one.
func TestAuthenticatorTakesTheBodyOver(t *testing.T) {
	server := mock.New(t)
	server.Enqueue(mock.Status(401), mock.Text("ok"))
	client := startClient(t, okhttp.WithAuthenticator(okhttp.AuthenticatorFunc(func(_ okhttp.Route, resp *http.Response) (*http.Request, error) {
		return http.NewRequest(resp.Request.Method, resp.Request.URL.String(), resp.Request.Body)
	})))
	resp, err := client.Post(t.Context(), server.URL("/"), "", strings.NewReader("body"))
	wantBody(t, resp, err, "ok")
	for range 2 {
		if got := server.RequireRequest(t).Text(); got != "body" {
			t.Errorf("%q", got)
		}
	}
}

func TestProxyChallengeFromServer(t *testing.T) {
	server := mock.New(t, mock.WithFallback(mock.Status(407)))
	_, err := startClient(t).Get(t.Context(), server.URL("/"))
	var fault *okhttp.ProtocolError
	if !errors.As(err, &fault) {
		t.Errorf("%v", err)
	}
}

// 408, 417, 421 and 503: when the same request is made once more.
func TestRepeat(t *testing.T) {
	status := mock.Status
	type script = []mock.Response
	ok := mock.Text("ok")
	for _, c := range []struct {
		name     string
		script   script
		requests int
		status   int
		expect   bool
		body     int // index of bodies
		option   okhttp.Option
	}{
		{name: "408", script: script{status(408), ok}, requests: 2, status: 200},
		{name: "408 and close", script: script{status(408).WithHeader("Connection", "close"), ok}, requests: 2, status: 200, body: 1},
		{name: "408 twice", script: script{status(408), status(408), ok}, requests: 2, status: 408},
		{name: "408 retries off", script: script{status(408), ok}, requests: 1, status: 408, option: okhttp.WithRetryOnConnectionFailure(false)},
		{name: "408 later", script: script{status(408).WithHeader("Retry-After", "1"), ok}, requests: 1, status: 408},
		{name: "408 now", script: script{status(408).WithHeader("Retry-After", "0"), ok}, requests: 2, status: 200},
		{name: "408 chunked", script: script{status(408), ok}, requests: 2, status: 200, body: 2},
		{name: "408 one-shot", script: script{status(408), ok}, requests: 1, status: 408, body: 3},
		{name: "503", script: script{status(503), ok}, requests: 1, status: 503},
		{name: "503 now", script: script{status(503).WithHeader("Retry-After", "0"), ok}, requests: 2, status: 200, body: 1},
		{name: "503 later", script: script{status(503).WithHeader("Retry-After", "30"), ok}, requests: 1, status: 503},
		{name: "503 at a date", script: script{status(503).WithHeader("Retry-After", "Tue, 01 Dec 2026 05:00:00 GMT"), ok}, requests: 1, status: 503},
		{name: "503 now, twice", script: script{status(503).WithHeader("Retry-After", "0"), status(503).WithHeader("Retry-After", "0"), ok}, requests: 2, status: 503},
		{name: "503 one-shot", script: script{status(503).WithHeader("Retry-After", "0"), ok}, requests: 1, status: 503, body: 3},
		{name: "417", script: script{status(417).WithReading(mock.ReadNever), ok}, requests: 2, status: 200, expect: true, body: 1},
		{name: "417 one-shot, not read", script: script{status(417).WithReading(mock.ReadNever), ok}, requests: 2, status: 200, expect: true, body: 3},
		{name: "417 unasked", script: script{status(417), ok}, requests: 1, status: 417, body: 1},
		{name: "421 on an own connection", script: script{status(421), ok}, requests: 1, status: 421},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := mock.New(t)
			server.Enqueue(c.script...)
			option := c.option
			if option == nil {
				option = okhttp.WithRetryOnConnectionFailure(true)
			}
			client := startClient(t, option)
			req := newRequest(t, "POST", server.URL("/"), nil)
			bodies[c.body].give(req)
			if c.expect {
				req.Header.Set("Expect", "100-continue")
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != c.status || server.RequestCount() != c.requests {
				t.Errorf("status %d after %d requests", resp.StatusCode, server.RequestCount())
			}
			if c.requests == 2 {
				first, second := server.RequireRequest(t), server.RequireRequest(t)
				want := first.Text()
				if c.expect {
					want = "body"
				}
				if second.Text() != want || second.Header.Has("Expect") {
					t.Errorf("second body %q, want %q; %v", second.Text(), want, second.Header)
				}
			}
		})
	}
}

func TestResponseChain(t *testing.T) {
	server := mock.New(t)
	server.Enqueue(moved(302, "/b"), moved(307, "/c").WithHeader("Set-Cookie", "a=b"), mock.Text("here"))
	resp, err := startClient(t).Get(t.Context(), server.URL("/a"))
	wantBody(t, resp, err, "here")
	var chain []string
	for r := resp; r != nil; {
		chain = append(chain, fmt.Sprint(r.StatusCode, " ", r.Request.URL.Path))
		info := okhttp.InfoOf(r)
		if info == nil {
			t.Fatalf("no info of %s", r.Status)
		}
		if info.Protocol != "http/1.1" || info.Connection.IsZero() || info.SentAt.IsZero() || info.ReceivedAt.Before(info.SentAt) {
			t.Errorf("%+v", info)
		}
		if r != resp {
			if n, err := r.Body.Read(make([]byte, 1)); n != 0 || err == nil {
				t.Error("the body of a prior response can be read")
			}
		}
		r = info.Prior
	}
	if want := []string{"200 /c", "307 /b", "302 /a"}; !slices.Equal(chain, want) {
		t.Errorf("%q, want %q", chain, want)
	}
}

// While a redirect or a challenge is handled the call keeps its connection, so a
// competitor that waits for it comes only after the call.
func TestFollowUpKeepsConnection(t *testing.T) {
	for _, first := range []mock.Response{moved(302, "/next"), mock.Status(401), mock.Status(503).WithHeader("Retry-After", "0")} {
		server := mock.New(t)
		holding := make(chan struct{})
		server.Enqueue(first.WithEffect(mock.AtResponseStart, mock.Call(func(context.Context) { <-holding })),
			mock.Text("call"), mock.Text("competitor"))
		client := startClient(t, okhttp.WithMaxConnectionsPerHost(1),
			okhttp.WithAuthenticator(okhttp.AuthenticatorFunc(func(_ okhttp.Route, resp *http.Response) (*http.Request, error) {
				return resp.Request, nil
			})))
		var competitor atomic.Value
		done := make(chan struct{})
		go func() {
			defer close(done)
			for client.Pool().Stats().Open == 0 {
				time.Sleep(time.Millisecond)
			}
			resp, err := client.Get(context.Background(), server.URL("/competitor"))
			if err != nil {
				competitor.Store(err.Error())
				return
			}
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			competitor.Store(string(text))
		}()
		go func() {
			for client.Pool().Stats().Waiting == 0 {
				time.Sleep(time.Millisecond)
			}
			close(holding)
		}()
		resp, err := client.Get(t.Context(), server.URL("/"))
		wantBody(t, resp, err, "call")
		<-done
		if got := competitor.Load(); got != "competitor" {
			t.Errorf("the competitor got %v", got)
		}
		if n := server.ConnectionCount(); n != 1 {
			t.Errorf("%d connections", n)
		}
	}
}

func TestRedirectReusesConnectionWithoutPool(t *testing.T) {
	server := mock.New(t)
	server.Enqueue(moved(302, "/next"), mock.Text("here"), mock.Text("again"))
	client := startClient(t, okhttp.WithMaxIdleConnections(0))
	resp, err := client.Get(t.Context(), server.URL("/"))
	wantBody(t, resp, err, "here")
	if n := server.ConnectionCount(); n != 1 {
		t.Errorf("%d connections", n)
	}
	resp, err = client.Get(t.Context(), server.URL("/"))
	wantBody(t, resp, err, "again")
	if n := server.ConnectionCount(); n != 2 {
		t.Errorf("%d connections after the second call", n)
	}
}

func TestCookiesPerHop(t *testing.T) {
	other := mock.New(t, mock.WithHostName("other.test"), mock.WithFallback(mock.Text("here").WithHeader("Set-Cookie", "c=3")))
	server := mock.New(t, mock.WithHostName("server.test"))
	server.Enqueue(moved(302, "/b").WithHeader("Set-Cookie", "a=1"),
		moved(302, other.URL("/c")).WithAddedHeader("Set-Cookie", "b=2"), mock.Text("again"))
	jar, _ := cookiejar.New(nil)
	client := startClient(t, okhttp.WithCookieJar(jar), okhttp.WithDNS(serverTest))
	resp, err := client.Get(t.Context(), server.URL("/a"))
	wantBody(t, resp, err, "here")
	resp, err = client.Get(t.Context(), server.URL("/d"))
	wantBody(t, resp, err, "again")
	for i, want := range []string{"", "a=1", "a=1; b=2"} {
		if got := server.RequireRequest(t).Header.Get("Cookie"); got != want {
			t.Errorf("request %d: Cookie %q, want %q", i, got, want)
		}
	}
	if got := other.RequireRequest(t).Header.Get("Cookie"); got != "" {
		t.Errorf("another host got the cookies %q", got)
	}
}

// RoundTrip leaves all of this to http.Client.
func TestRoundTripFollowsNothing(t *testing.T) {
	server := mock.New(t)
	jar, _ := cookiejar.New(nil)
	client := startClient(t, okhttp.WithCookieJar(jar),
		okhttp.WithAuthenticator(okhttp.AuthenticatorFunc(func(okhttp.Route, *http.Response) (*http.Request, error) {
			t.Error("the authenticator was asked")
			return nil, nil
		})))
	for _, r := range []mock.Response{
		moved(302, "/next").WithHeader("Set-Cookie", "a=1"), mock.Status(401), mock.Status(407), mock.Status(408),
		mock.Status(503).WithHeader("Retry-After", "0"),
	} {
		server.Enqueue(r)
		resp, err := client.RoundTrip(newRequest(t, "GET", server.URL("/"), nil))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if !strings.HasPrefix(r.StatusLine(), "HTTP/1.1 "+resp.Status) {
			t.Errorf("%s for %s", resp.Status, r.StatusLine())
		}
		if server.RequireRequest(t).Header.Has("Cookie") {
			t.Error("a cookie was sent")
		}
	}
}
