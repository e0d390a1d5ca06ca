// This file joins Go's own client tests in the module that the conformance test
// generates. It is no part of this module: go ignores testdata.

package http_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/dns"

	"nhport/nettrace"
)

// okTransport stands in the tests where *http.Transport stood: it has the same
// fields, and makes its calls with an okhttp client configured from them. The
// client is made at the first call, because tests set fields until then.
type okTransport struct {
	Proxy                  func(*http.Request) (*url.URL, error)
	OnProxyConnectResponse func(ctx context.Context, proxyURL *url.URL, connectReq *http.Request, connectRes *http.Response) error
	DialContext            func(ctx context.Context, network, addr string) (net.Conn, error)
	Dial                   func(network, addr string) (net.Conn, error)
	DialTLSContext         func(ctx context.Context, network, addr string) (net.Conn, error)
	DialTLS                func(network, addr string) (net.Conn, error)
	TLSClientConfig        *tls.Config
	TLSHandshakeTimeout    time.Duration
	DisableKeepAlives      bool
	DisableCompression     bool
	MaxIdleConns           int
	MaxIdleConnsPerHost    int
	MaxConnsPerHost        int
	IdleConnTimeout        time.Duration
	ResponseHeaderTimeout  time.Duration
	ExpectContinueTimeout  time.Duration
	TLSNextProto           map[string]func(authority string, c *tls.Conn) http.RoundTripper
	ProxyConnectHeader     http.Header
	GetProxyConnectHeader  func(ctx context.Context, proxyURL *url.URL, target string) (http.Header, error)
	MaxResponseHeaderBytes int64
	WriteBufferSize        int
	ReadBufferSize         int
	ForceAttemptHTTP2      bool
	HTTP2                  *http.HTTP2Config
	Protocols              *http.Protocols

	mu      sync.Mutex
	client  *okhttp.Client
	tls     *tls.Config     // that client has
	plain   uintptr         // the code of httptest's DialContext
	std     *http.Transport // that okClient replaced
	oracle  *http.Transport // makes the calls, if not nil
	schemes map[string]http.RoundTripper
}

// calls counts what went through the client, so that a test that does not use
// it is not taken for one that passed.
var calls atomic.Int64

func (t *okTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.oracle != nil {
		return t.oracle.RoundTrip(req)
	}
	if alt := t.protocol(req); alt != nil {
		if resp, err := alt.RoundTrip(req); err != http.ErrSkipAltProtocol {
			return resp, err
		}
		if req.GetBody != nil { // as *http.Transport does
			again := *req
			again.Body, _ = req.GetBody()
			req = &again
		}
	}
	c, err := t.get(req)
	if err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	calls.Add(1)
	if !t.DisableKeepAlives {
		return c.RoundTrip(req)
	}
	once := *req
	once.Close = true
	resp, err := c.RoundTrip(&once)
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

func (t *okTransport) protocol(req *http.Request) http.RoundTripper {
	t.mu.Lock()
	defer t.mu.Unlock()
	if req.URL == nil {
		return nil
	}
	return t.schemes[req.URL.Scheme]
}

// get makes the client, or says what its configuration cannot have yet.
func (t *okTransport) get(req *http.Request) (*okhttp.Client, error) {
	if t.Proxy != nil && req.URL != nil {
		if u, err := t.Proxy(req); u != nil || err != nil {
			return nil, outOfScope("proxies")
		}
	}
	if t.DialTLS != nil || t.DialTLSContext != nil {
		return nil, outOfScope("DialTLS")
	}
	if p := t.Protocols; p != nil && !p.HTTP1() {
		return nil, outOfScope("HTTP/2")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.client == nil:
		t.client = okhttp.New(t.options(req)...)
	case t.tls != t.TLSClientConfig: // net/http reads it whenever it dials
		t.client = t.client.With(okhttp.WithTLSConfig(t.TLSClientConfig))
	}
	t.tls = t.TLSClientConfig
	return t.client, nil
}

func outOfScope(what string) error { return fmt.Errorf("not yet: %s", what) }

// options says with the client's options what the fields say.
func (t *okTransport) options(req *http.Request) []okhttp.Option {
	opts := []okhttp.Option{
		// What *http.Transport does unless it is told otherwise.
		okhttp.WithUserAgent("Go-http-client/1.1"),
		okhttp.WithMaxResponseHead(10 << 20),
		okhttp.WithConnectTimeout(t.TLSHandshakeTimeout),
		okhttp.WithReadTimeout(t.ResponseHeaderTimeout),
		okhttp.WithWriteTimeout(0),
		okhttp.WithExpectContinueTimeout(t.ExpectContinueTimeout),
		okhttp.WithKeepAlive(t.IdleConnTimeout),
		okhttp.WithTransparentGzip(!t.DisableCompression),
		okhttp.WithMaxConnectionsPerHost(t.MaxConnsPerHost),
		okhttp.WithDNS(testResolver{}),
	}
	if t.TLSClientConfig != nil {
		opts = append(opts, okhttp.WithTLSConfig(t.TLSClientConfig))
	}
	if t.DialContext != nil && !t.usesDefaultDialer(req) {
		opts = append(opts, okhttp.WithDialer(t.DialContext))
	} else if dial := t.Dial; dial != nil {
		opts = append(opts, okhttp.WithDialer(func(_ context.Context, network, addr string) (net.Conn, error) {
			return dial(network, addr)
		}))
	}
	if t.MaxResponseHeaderBytes > 0 {
		opts = append(opts, okhttp.WithMaxResponseHead(t.MaxResponseHeaderBytes))
	}
	switch {
	case t.DisableKeepAlives || t.MaxIdleConnsPerHost < 0:
		opts = append(opts, okhttp.WithMaxIdleConnections(0))
	case t.MaxIdleConns > 0:
		opts = append(opts, okhttp.WithMaxIdleConnections(t.MaxIdleConns))
	}
	return opts
}

// usesDefaultDialer reports whether DialContext would do no more than a
// net.Dialer. Then the client's own way to connect is what is to be tested.
func (t *okTransport) usesDefaultDialer(req *http.Request) bool {
	return reflect.ValueOf(t.DialContext).Pointer() == t.plain && t.Dial == nil && req.URL != nil && !strings.HasSuffix(req.URL.Hostname(), "example.com")
}

// testResolver honours the way in which the tests fake the DNS.
type testResolver struct{}

func (testResolver) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	fake, ok := ctx.Value(nettrace.LookupIPAltResolverKey{}).(func(context.Context, string, string) ([]net.IPAddr, error))
	if !ok {
		return dns.System().Lookup(ctx, host)
	}
	ips, err := fake(ctx, "ip", host)
	var addrs []netip.Addr
	for _, ip := range ips {
		if a, ok := netip.AddrFromSlice(ip.IP); ok {
			addrs = append(addrs, a.Unmap())
		}
	}
	return addrs, err
}

func (t *okTransport) CloseIdleConnections() {
	t.mu.Lock()
	c := t.client
	t.mu.Unlock()
	if c != nil {
		c.CloseIdleConnections()
	}
}

func (t *okTransport) RegisterProtocol(scheme string, rt http.RoundTripper) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.schemes == nil {
		t.schemes = map[string]http.RoundTripper{}
	}
	t.schemes[scheme] = rt
}

// CancelRequest is deprecated in net/http and has no counterpart.
func (t *okTransport) CancelRequest(*http.Request) {}

func (t *okTransport) Clone() *okTransport { panic("not yet: Clone of a Transport's fields") }

// okClient is httptest's Server.Client with the transport under test.
func okClient(s *httptest.Server) *http.Client {
	c := s.Client()
	if std, ok := c.Transport.(*http.Transport); ok {
		ok := &okTransport{TLSClientConfig: std.TLSClientConfig, std: std}
		ok.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if ok.Dial != nil {
				return ok.Dial(network, addr)
			}
			return std.DialContext(ctx, network, addr)
		}
		ok.plain = reflect.ValueOf(ok.DialContext).Pointer()
		c.Transport = ok
	}
	return c
}

// skipHTTP2 skips the modes that need the next issue's codec.
func skipHTTP2(t testing.TB, mode testMode) {
	if (mode == http2Mode || mode == http2UnencryptedMode) && !asking.Load() {
		t.Skip("HTTP/2 is not spoken yet")
	}
}

// asking is set while the client of a newOracleTest is made.
var asking atomic.Bool

// newOracleTest is newClientServerTest for those tests that compare a call over
// HTTP/1 with the same one over HTTP/2: the latter is net/http's.
func newOracleTest(t testing.TB, mode testMode, h http.Handler, opts ...any) *clientServerTest {
	asking.Store(true)
	defer asking.Store(false)
	cst := newClientServerTest(t, mode, h, opts...)
	cst.tr.oracle = cst.tr.std
	cst.tr.oracle.ForceAttemptHTTP2 = true
	cst.tr.oracle.DisableCompression = cst.tr.DisableCompression
	return cst
}

func init() {
	http.DefaultTransport = &okTransport{}
	// net/http's unexported errors have public counterparts here.
	ExportErrRequestCanceled = context.Canceled
	ExportErrRequestCanceledConn = context.Canceled
}

// reportCalls tells the conformance test whether the client was used.
func reportCalls() { fmt.Fprintf(os.Stderr, "okhttp calls: %d\n", calls.Load()) }
