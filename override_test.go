package okhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/dns"
	"github.com/okhttp-go/okhttp/internal/testkit"
	mock "github.com/okhttp-go/okhttp/mockwebserver"
)

// override is an option that mends, below an interceptor, what the client is set
// up to get wrong.
type override struct {
	broken, mended okhttp.Option

	secure bool
	warm   bool // make a call before, which takes the first response of the script
	script func(server, other *mock.Server) []mock.Response
	method string
	body   string
	header [2]string
	limit  time.Duration
	works  func(t *testing.T, resp *http.Response, server, other *mock.Server) bool
}

func broken(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("broken dialer")
}

func answered(_ *testing.T, resp *http.Response, _, _ *mock.Server) bool {
	return resp.StatusCode == 200
}

func overrides(server *mock.Server) map[string]override {
	noHost := dns.ResolverFunc(func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("broken resolver") })
	jar, _ := cookiejar.New(nil)
	u, _ := url.Parse("http://server.test/")
	jar.SetCookies(u, []*http.Cookie{{Name: "a", Value: "1"}})
	give := func(r ...mock.Response) func(_, _ *mock.Server) []mock.Response {
		return func(_, _ *mock.Server) []mock.Response { return r }
	}
	toOther := func(status int) func(_, other *mock.Server) []mock.Response {
		return func(_, other *mock.Server) []mock.Response { return []mock.Response{moved(status, other.URL("/"))} }
	}
	hangUp := mock.Response{}.WithEffect(mock.AtRequestEnd, mock.CloseConnection())
	clientTLS := okhttp.WithTLSConfig(server.ClientTLS())
	sent := func(name, value string) func(*testing.T, *http.Response, *mock.Server, *mock.Server) bool {
		return func(t *testing.T, _ *http.Response, server, _ *mock.Server) bool {
			return server.RequireRequest(t).Header.Get(name) == value
		}
	}
	return map[string]override{
		"WithDNS":                      {broken: okhttp.WithDNS(noHost), mended: okhttp.WithDNS(serverTest)},
		"WithDialer":                   {broken: okhttp.WithDialer(broken), mended: okhttp.WithDialer(nil)},
		"WithAddressDialer":            {broken: okhttp.WithAddressDialer(broken), mended: okhttp.WithAddressDialer(nil)},
		"WithTLSConfig":                {secure: true, broken: okhttp.WithTLSConfig(nil), mended: clientTLS},
		"WithConnectTimeout":           {broken: okhttp.WithConnectTimeout(1), mended: okhttp.WithConnectTimeout(time.Minute)},
		"WithReadTimeout":              {broken: okhttp.WithReadTimeout(1), mended: okhttp.WithReadTimeout(time.Minute)},
		"WithWriteTimeout":             {broken: okhttp.WithWriteTimeout(1), mended: okhttp.WithWriteTimeout(time.Minute)},
		"WithMaxResponseHead":          {broken: okhttp.WithMaxResponseHead(1), mended: okhttp.WithMaxResponseHead(1 << 10)},
		"WithFollowRedirects":          {broken: okhttp.WithFollowRedirects(false), mended: okhttp.WithFollowRedirects(true), script: give(moved(302, "/"))},
		"WithFollowTLSRedirects":       {broken: okhttp.WithFollowTLSRedirects(false), mended: okhttp.WithFollowTLSRedirects(true), script: toOther(302)},
		"WithFollowDowngrades":         {secure: true, broken: okhttp.WithFollowDowngrades(false), mended: okhttp.WithFollowDowngrades(true), script: toOther(302)},
		"WithCrossOriginBodies":        {broken: okhttp.WithCrossOriginBodies(false), mended: okhttp.WithCrossOriginBodies(true), method: "POST", body: "body", script: toOther(307)},
		"WithRetryOnConnectionFailure": {broken: okhttp.WithRetryOnConnectionFailure(false), mended: okhttp.WithRetryOnConnectionFailure(true), warm: true, script: give(mock.Text("1"), hangUp)},
		"WithIdempotent":               {broken: okhttp.WithIdempotent(false), mended: okhttp.WithIdempotent(true), warm: true, method: "POST", body: "body", script: give(mock.Text("1"), hangUp)},
		"WithAuthenticator": {broken: okhttp.WithAuthenticator(nil), script: give(mock.Status(401)),
			mended: okhttp.WithAuthenticator(okhttp.AuthenticatorFunc(func(_ okhttp.Route, resp *http.Response) (*http.Request, error) {
				return resp.Request, nil
			}))},
		"WithCookieJar":       {broken: okhttp.WithCookieJar(nil), mended: okhttp.WithCookieJar(jar), works: sent("Cookie", "a=1")},
		"WithUserAgent":       {broken: okhttp.WithUserAgent("a"), mended: okhttp.WithUserAgent("b"), works: sent("User-Agent", "b")},
		"WithTransparentGzip": {broken: okhttp.WithTransparentGzip(false), mended: okhttp.WithTransparentGzip(true), works: sent("Accept-Encoding", "gzip")},
		"WithHeaderOrder": {broken: okhttp.WithHeaderOrder("Host"), mended: okhttp.WithHeaderOrder("x-SECOND", "Host"), header: [2]string{"X-Second", "1"},
			works: func(t *testing.T, _ *http.Response, server, _ *mock.Server) bool {
				return server.RequireRequest(t).Header[0].Name == "x-SECOND"
			}},
		"WithSensitiveHeaders": {broken: okhttp.WithSensitiveHeaders(), mended: okhttp.WithSensitiveHeaders("x-key"), header: [2]string{"X-Key", "1"}, script: toOther(302),
			works: func(t *testing.T, _ *http.Response, _, other *mock.Server) bool {
				return !other.RequireRequest(t).Header.Has("X-Key")
			}},
		"WithExpectContinueTimeout": {broken: okhttp.WithExpectContinueTimeout(time.Hour), mended: okhttp.WithExpectContinueTimeout(time.Millisecond),
			header: [2]string{"Expect", "100-continue"}, method: "POST", body: "body", limit: 100 * time.Millisecond},
	}
}

// Every option that an interceptor can override has its effect below it, and
// is refused by a network interceptor, by its name.
func TestChainOverrides(t *testing.T) {
	for name := range overrides(tlsServer(t)) {
		t.Run(name, func(t *testing.T) {
			for _, mended := range []bool{false, true} {
				secure := mock.New(t, mock.WithTLS(), mock.WithHostName("server.test"), mock.WithFallback(mock.Text("ok")))
				plain := mock.New(t, mock.WithHostName("server.test"), mock.WithFallback(mock.Text("ok")))
				o := overrides(secure)[name]
				server, other := plain, secure
				if o.secure {
					server, other = secure, plain
				}
				if o.works == nil {
					o.works = answered
				}
				if o.script != nil {
					server.Enqueue(o.script(server, other)...)
				}
				client := startClient(t, okhttp.WithDNS(serverTest), okhttp.WithTLSConfig(secure.ClientTLS()), o.broken,
					okhttp.WithInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
						if mended {
							ch = ch.With(o.mended)
						}
						return ch.Proceed(ch.Request())
					})))
				if name == "WithCrossOriginBodies" || o.script != nil && strings.Contains(name, "Sensitive") {
					other = mock.New(t, mock.WithHostName("server.test"), mock.WithFallback(mock.Text("ok")))
					server = mock.New(t, mock.WithHostName("server.test"), mock.WithFallback(mock.Text("ok")))
					server.Enqueue(o.script(server, other)...)
				}
				if o.warm {
					resp, err := client.Get(t.Context(), server.URL("/"))
					wantBody(t, resp, err, "1")
				}
				if o.method == "" {
					o.method = "GET"
				}
				req := newRequest(t, o.method, server.URL("/"), strings.NewReader(o.body))
				if o.body == "" {
					req.Body = nil
				}
				if o.header[0] != "" {
					req.Header.Set(o.header[0], o.header[1])
				}
				if o.limit > 0 && !mended {
					ctx, cancel := context.WithTimeout(t.Context(), o.limit)
					defer cancel()
					req = req.WithContext(ctx)
				}
				resp, err := client.Do(req)
				works := err == nil
				if err == nil {
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					works = o.works(t, resp, server, other)
				}
				if works != mended {
					t.Errorf("overridden %t: works %t, %v", mended, works, err)
				}
			}
			wantTooLate(t, overrides(tlsServer(t))[name].mended, name)
		})
	}
}

// tlsServer is a server for the one override that needs one to be made.
func tlsServer(t *testing.T) *mock.Server { return mock.New(t, mock.WithTLS()) }

// wantTooLate gives an option to a network interceptor's chain.
func wantTooLate(t *testing.T, o okhttp.Option, name string) {
	t.Helper()
	server, client := startPair(t, okhttp.WithNetworkInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
		return ch.With(o).Proceed(ch.Request())
	})))
	resp, err := client.Get(t.Context(), server.URL("/"))
	if err == nil {
		resp.Body.Close()
		t.Fatal("no error")
	}
	if !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "too late") || strings.Count(err.Error(), "okhttp: ") != 1 {
		t.Errorf("%v", err)
	}
	if server.RequestCount() != 0 || !okhttp.SafeToRetry(err) {
		t.Errorf("%d requests, safe to retry %t", server.RequestCount(), okhttp.SafeToRetry(err))
	}
}

func TestOverridePool(t *testing.T) {
	pool := okhttp.NewPool(okhttp.PoolConfig{})
	defer pool.Close()
	server, client := startPair(t, okhttp.WithInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
		return ch.With(okhttp.WithConnectionPool(pool)).Proceed(ch.Request())
	})))
	for range 2 {
		resp, err := client.Get(t.Context(), server.URL("/"))
		wantBody(t, resp, err, "ok")
	}
	if own, given := client.Pool().Stats(), pool.Stats(); own.Opened != 0 || given.Opened != 1 || given.Reused != 1 || given.Idle != 1 {
		t.Errorf("own %+v, given %+v", own, given)
	}
	wantTooLate(t, okhttp.WithConnectionPool(pool), "WithConnectionPool")
}

func TestOverrideFastFallback(t *testing.T) {
	for _, on := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			network := testkit.NewNet()
			network.Host("192.0.2.1").BlackHole()
			server := mock.New(t, mock.WithListener(network.Host("192.0.2.2").Listen(80)))
			server.Enqueue(mock.Text("ok"))
			client := startClient(t, okhttp.WithFastFallback(!on), okhttp.WithAddressDialer(network.DialContext),
				okhttp.WithDNS(dns.Static(map[string][]netip.Addr{
					"server.test": {netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")},
				})),
				okhttp.WithInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
					return ch.With(okhttp.WithFastFallback(on)).Proceed(ch.Request())
				})))
			start := time.Now()
			resp, err := client.Get(t.Context(), "http://server.test/")
			wantBody(t, resp, err, "ok")
			want := okhttp.DefaultTimeout
			if on {
				want = 250 * time.Millisecond
			}
			if took := time.Since(start); took != want {
				t.Errorf("fast fallback %t: took %v", on, took)
			}
		})
	}
	wantTooLate(t, okhttp.WithFastFallback(true), "WithFastFallback")
}

// Connections that are made in different ways are not mixed; a way that is
// overridden time and again by the same option value is one way each time.
func TestOverridesDoNotMixConnections(t *testing.T) {
	server, client := startPair(t, okhttp.WithInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
		if ch.Request().Header.Get("Override") != "" {
			ch = ch.With(okhttp.WithAddressDialer(new(net.Dialer).DialContext))
		}
		return ch.Proceed(ch.Request())
	})))
	for i, header := range []string{"", "1", ""} {
		req := newRequest(t, "GET", server.URL("/"), nil)
		if header != "" {
			req.Header.Set("Override", header)
		}
		resp, err := client.Do(req)
		wantBody(t, resp, err, "ok")
		if got := server.RequireRequest(t).ConnectionIndex; got != i%2 {
			t.Errorf("call %d on connection %d", i, got)
		}
	}
}

// Options that come too late say so, and name themselves.
func TestOptionsTooLate(t *testing.T) {
	client := startClient(t)
	req := newRequest(t, "GET", "http://127.0.0.1:1/", nil)
	for name, o := range map[string]okhttp.Option{
		"WithDispatcher":            okhttp.WithDispatcher(okhttp.NewDispatcher()),
		"WithMaxIdleConnections":    okhttp.WithMaxIdleConnections(1),
		"WithKeepAlive":             okhttp.WithKeepAlive(1),
		"WithMaxConnectionsPerHost": okhttp.WithMaxConnectionsPerHost(1),
		"WithMaxConnectionAge":      okhttp.WithMaxConnectionAge(1),
	} {
		func() {
			defer func() {
				p, _ := recover().(string)
				if !strings.Contains(p, name+" comes too late") || !strings.Contains(p, "a client") {
					t.Errorf("%s in NewCall: %q", name, p)
				}
			}()
			client.NewCall(req, o)
		}()
	}
	noop := interceptor(func(ch *okhttp.Chain) (*http.Response, error) { return ch.Proceed(ch.Request()) })
	silent := okhttp.EventListenerFunc(func(*okhttp.Call, okhttp.Event) {})
	for name, o := range map[string]okhttp.Option{
		"WithInterceptor":            okhttp.WithInterceptor(noop),
		"WithNetworkInterceptor":     okhttp.WithNetworkInterceptor(noop),
		"WithEventListener":          okhttp.WithEventListener(silent),
		"WithEventListenerFactory":   okhttp.WithEventListenerFactory(func(*okhttp.Call) okhttp.EventListener { return nil }),
		"WithLeakDetector":           okhttp.WithLeakDetector(nil),
		"WithCallTimeout":            okhttp.WithCallTimeout(1),
		"WithQueueTimeInCallTimeout": okhttp.WithQueueTimeInCallTimeout(true),
		"WithDispatcher":             okhttp.WithDispatcher(okhttp.NewDispatcher()),
		"WithMaxIdleConnections":     okhttp.WithMaxIdleConnections(1),
	} {
		late := client.With(okhttp.WithInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
			return ch.With(o).Proceed(ch.Request())
		})))
		_, err := late.Do(req)
		if err == nil || !strings.Contains(err.Error(), name+" comes too late") || strings.Count(err.Error(), "okhttp: ") != 1 {
			t.Errorf("%s in Chain.With: %v", name, err)
		}
	}
}

func TestInvalidOptions(t *testing.T) {
	for name, o := range map[string]okhttp.Option{
		"WithInterceptor": okhttp.WithInterceptor(nil), "WithNetworkInterceptor": okhttp.WithNetworkInterceptor(nil),
		"WithEventListenerFactory": okhttp.WithEventListenerFactory(nil), "WithDispatcher": okhttp.WithDispatcher(nil),
		"WithConnectionPool": okhttp.WithConnectionPool(nil), "WithDNS": okhttp.WithDNS(nil),
		"WithCallTimeout": okhttp.WithCallTimeout(-1), "WithReadTimeout": okhttp.WithReadTimeout(-1),
		"WithMaxResponseHead": okhttp.WithMaxResponseHead(0), "nil option": nil,
	} {
		if _, err := okhttp.NewClient(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		func() {
			defer func() {
				if p, ok := recover().(string); !ok || !strings.HasPrefix(p, "okhttp: ") || !strings.Contains(p, name) {
					t.Errorf("%s: New panics with %v", name, p)
				}
			}()
			okhttp.New(o)
		}()
	}
}
