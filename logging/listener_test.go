package logging_test

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/dns"
	"github.com/okhttp-go/okhttp/logging"
	"github.com/okhttp-go/okhttp/mockwebserver"
)

func TestListenerGoldenTLS(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithTLS("server.test"))
	server.Enqueue(
		mockwebserver.Status(302).WithHeader("Location", "/new?token=s3cret"),
		mockwebserver.Text("hello"))
	var x texts
	client := start(t,
		okhttp.WithTLSConfig(server.ClientTLS()),
		okhttp.WithProtocols(okhttp.HTTP1),
		okhttp.WithDNS(dns.Static(map[string][]netip.Addr{"server.test": {netip.MustParseAddr("127.0.0.1")}})),
		okhttp.WithEventListenerFactory(logging.Listener(x.log)))
	target, _ := url.Parse(server.URL("/old?user=jane&s3cret"))
	target.Host = "server.test:" + target.Port()
	target.User = url.UserPassword("jane", "s3cret")
	req, _ := http.NewRequest(http.MethodGet, target.String(), nil)
	req.Header.Set("Authorization", "Bearer s3cret")
	req.Header.Set("Cookie", "id=s3cret")
	resp, err := client.Do(req)
	body(t, resp, err)

	port := regexp.MustCompile(`server\.test:\d+`)
	for i, line := range x.all {
		x.all[i] = port.ReplaceAllString(line, "server.test")
	}
	x.want(t, `
[N ms] callStart: GET https://server.test/old?user=██&██
---
[N ms] proxySelectStart: https://server.test
---
[N ms] proxySelectEnd: direct
---
[N ms] dnsStart: server.test
---
[N ms] dnsEnd: server.test 127.0.0.1
---
[N ms] connectStart: server.test at 127.0.0.1
---
[N ms] secureConnectStart: server.test at 127.0.0.1
---
[N ms] secureConnectEnd: server.test at 127.0.0.1 TLS V
---
[N ms] connectEnd: server.test at 127.0.0.1 http/1.1
---
[N ms] connectionAcquired: #1 server.test at 127.0.0.1 new
---
[N ms] requestHeadersStart
---
[N ms] requestHeadersEnd: GET https://server.test/old?user=██&██
---
[N ms] responseHeadersStart
---
[N ms] responseHeadersEnd: HTTP/1.1 302
---
[N ms] responseBodyStart
---
[N ms] responseBodyEnd: 0 bytes
---
[N ms] followUpDecision: GET https://server.test/new?token=██ (redirected (302))
---
[N ms] requestHeadersStart
---
[N ms] requestHeadersEnd: GET https://server.test/new?token=██
---
[N ms] responseHeadersStart
---
[N ms] responseHeadersEnd: HTTP/1.1 200
---
[N ms] followUpDecision: none (status 200 asks for nothing more)
---
[N ms] responseBodyStart
---
[N ms] responseBodyEnd: 5 bytes
---
[N ms] connectionReleased: #1 server.test at 127.0.0.1
---
[N ms] callEnd
`)
}

func TestListenerGoldenFailure(t *testing.T) {
	server := mockwebserver.New(t)
	drop := mockwebserver.Response{}.WithEffect(mockwebserver.AtRequestEnd, mockwebserver.CloseConnection())
	server.Enqueue(mockwebserver.Text("warm"), drop)
	var x texts
	client := start(t, okhttp.WithEventListenerFactory(logging.Listener(x.log)))
	get(t, client, server.URL("/"))
	x.take()
	_, err := client.Post(t.Context(), server.URL("/?q=s3cret"), "text/plain", strings.NewReader("abc"))
	if !errors.Is(err, okhttp.ErrOutcomeUnknown) {
		t.Fatal(err)
	}
	x.want(t, `
[N ms] callStart: POST http://server/?q=██
---
[N ms] connectionAcquired: #1 server reused
---
[N ms] requestHeadersStart
---
[N ms] requestHeadersEnd: POST http://server/?q=██
---
[N ms] requestBodyStart
---
[N ms] requestBodyEnd: 3 bytes
---
[N ms] responseFailed: unexpected end of stream: the server closed the connection without an answer
---
[N ms] retryDecision: no retry (the peer may have processed the request, which is not idempotent)
---
[N ms] connectionReleased: #1 server
---
[N ms] callFailed: okhttp: receive: server: unknown whether the server processed the request: unexpected end of stream: the server closed the connection without an answer
`)
}

// Every type of event that the client declares is described here, so a new one is
// not forgotten.
func TestDescribeCoversAllEvents(t *testing.T) {
	u, _ := url.Parse("https://jane:s3cret@example.com/p?q=s3cret")
	req := &http.Request{URL: u, Header: http.Header{"Cookie": {"s3cret"}}}
	resp := &http.Response{StatusCode: 200, Proto: "HTTP/1.1", Header: http.Header{"Set-Cookie": {"s3cret"}}}
	broken := &url.Error{Op: "Get", URL: u.String(), Err: errors.New("broken")}
	dispatcher := okhttp.NewDispatcher()
	way := okhttp.Route{Scheme: "https", Host: "h:443", Addr: netip.MustParseAddrPort("192.0.2.1:443")}
	all := map[okhttp.Event]string{
		okhttp.CallStart{}: "",
		okhttp.DispatcherQueueStart{Dispatcher: dispatcher}:                 "0 waiting",
		okhttp.DispatcherQueueEnd{Dispatcher: dispatcher}:                   "0 waiting",
		okhttp.ProxySelectStart{URL: u}:                                     "https://example.com/p?q=██",
		okhttp.DNSStart{Host: "h"}:                                          "h",
		okhttp.ConnectStart{Route: way}:                                     "h:443 at 192.0.2.1",
		okhttp.SecureConnectStart{Route: way}:                               "h:443 at 192.0.2.1",
		okhttp.SecureConnectEnd{Route: way}:                                 "h:443 at 192.0.2.1",
		okhttp.ConnectEnd{Route: way, Protocol: "http/1.1"}:                 "h:443 at 192.0.2.1 http/1.1",
		okhttp.ConnectFailed{Route: way, Err: broken}:                       `h:443 at 192.0.2.1 Get "https://example.com/p?q=██": broken`,
		okhttp.ConnectionDiscarded{Reason: broken}:                          `none Get "https://example.com/p?q=██": broken`,
		okhttp.ConnectionAcquired{}:                                         "none new",
		okhttp.ConnectionReleased{}:                                         "none",
		okhttp.RequestHeadersStart{}:                                        "",
		okhttp.NewRequestHeadersEnd(req):                                    "GET https://example.com/p?q=██",
		okhttp.RequestBodyStart{}:                                           "",
		okhttp.RequestBodyEnd{Bytes: 1}:                                     "1 bytes",
		okhttp.RequestFailed{Err: broken}:                                   `Get "https://example.com/p?q=██": broken`,
		okhttp.ResponseHeadersStart{}:                                       "",
		okhttp.ResponseHeadersEnd{Response: resp}:                           "HTTP/1.1 200",
		okhttp.ResponseBodyStart{}:                                          "",
		okhttp.ResponseBodyProgress{Bytes: 2, Total: 3}:                     "2 bytes 3",
		okhttp.ResponseBodyEnd{Bytes: 2}:                                    "2 bytes",
		okhttp.ResponseFailed{Err: broken}:                                  `Get "https://example.com/p?q=██": broken`,
		okhttp.RetryDecision{Err: broken, Retry: true, Reason: "why"}:       "retry (why)",
		okhttp.FollowUpDecision{Response: resp, Next: req, Reason: "moved"}: "GET https://example.com/p?q=██ (moved)",
		okhttp.CallEnd{}:                                                    "",
		okhttp.CallFailed{Err: broken}:                                      `Get "https://example.com/p?q=██": broken`,
		okhttp.Canceled{}:                                                   "",
	}
	seen := map[string]bool{}
	check := func(event okhttp.Event, want string) {
		name, details := logging.Describe(nil, event)
		seen[name] = true
		if details != want {
			t.Errorf("%s: %q, want %q", name, details, want)
		}
		if strings.Contains(details, "s3cret") {
			t.Errorf("%s shows a secret: %s", name, details)
		}
	}
	for event, want := range all {
		check(event, want)
	}
	// These cannot be keys of a map.
	check(okhttp.ProxySelectEnd{Proxies: []*url.URL{u}}, "https://example.com/p?q=██")
	check(okhttp.DNSEnd{Host: "h", Addresses: []netip.Addr{netip.MustParseAddr("::1")}}, "h ::1")
	check(okhttp.InformationalResponse{Code: 103, Header: http.Header{"Cookie": {"s3cret"}}}, "103")

	for _, name := range declaredEvents(t) {
		if !seen[name] {
			t.Errorf("event %s is not described", name)
		}
	}
}

// declaredEvents reads the names of the events from the root package's source.
func declaredEvents(t *testing.T) (names []string) {
	t.Helper()
	source, err := os.ReadFile("../events.go")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "events.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "event" && f.Recv != nil {
			names = append(names, f.Recv.List[0].Type.(*ast.Ident).Name)
		}
	}
	if len(names) < 30 {
		t.Fatalf("found only %d events", len(names))
	}
	return names
}

func TestSlogListener(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithFallback(mockwebserver.Text("hello")))
	var out bytes.Buffer
	handler := slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, "elapsed":
			return slog.Attr{}
		}
		return a
	}})
	client := start(t, okhttp.WithEventListenerFactory(logging.SlogListener(slog.New(handler), slog.LevelInfo)))
	get(t, client, server.URL("/?q=s3cret"))
	get(t, client, server.URL("/"))
	got := normal(out.String())
	for _, want := range []string{
		`level=INFO msg=callStart call=1 method=GET url="http://server/?q=██"`,
		`level=INFO msg=connectEnd call=1 route=server protocol=http/1.1`,
		`level=INFO msg=connectionAcquired call=2 connection=1 route=server reused=true`,
		`level=INFO msg=responseBodyEnd call=2 bytes=5`,
		`level=INFO msg=callEnd call=2`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no record %q in\n%s", want, got)
		}
	}

	out.Reset()
	quiet := start(t, okhttp.WithEventListenerFactory(logging.SlogListener(slog.New(handler), slog.LevelDebug)))
	get(t, quiet, server.URL("/"))
	if out.Len() > 0 {
		t.Errorf("logged below the level: %s", out.String())
	}
}

func TestListenerOfCanceledCall(t *testing.T) {
	var x texts
	client := start(t, okhttp.WithEventListenerFactory(logging.Listener(x.log)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Get(ctx, "http://127.0.0.1:1/"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	x.want(t, `
[N ms] callStart: GET http://server/
---
[N ms] canceled
---
[N ms] callFailed: okhttp: request: server: context canceled
`)
}
