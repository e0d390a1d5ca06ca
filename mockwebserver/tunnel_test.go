package mockwebserver_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

// newProxyClient returns a client with connections of its own that goes through
// a proxy, and speaks TLS by that configuration, if it is not nil.
func newProxyClient(t *testing.T, proxy *url.URL, config *tls.Config) *http.Client {
	t.Helper()
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: config}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestTunnel(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithTLS("origin.test"))
	server.Enqueue(mockwebserver.Tunnel(), mockwebserver.Text("secret"), mockwebserver.Text("again"))
	client := newProxyClient(t, server.ProxyURL(), server.ClientTLS())
	for _, want := range []string{"secret", "again"} {
		if _, body := mustFetch(t, client, "https://origin.test/"+want); body != want {
			t.Errorf("got %q", body)
		}
	}

	r := server.RequireRequest(t)
	if r.Method != "CONNECT" || r.Target != "origin.test:443" || r.TLS != nil || r.SNI != "" || r.Tunnel != "" ||
		r.ConnectionIndex != 0 || r.ExchangeIndex != 0 || r.Failure != nil {
		t.Errorf("recorded %+v", r)
	}
	for i, target := range []string{"/secret", "/again"} {
		r := server.RequireRequest(t)
		if r.Method != "GET" || r.Target != target || r.TLS == nil || r.SNI != "origin.test" || r.Tunnel != "origin.test:443" ||
			r.ConnectionIndex != 0 || r.ExchangeIndex != i+1 || r.URL().String() != "https://origin.test"+target {
			t.Errorf("recorded %+v", r)
		}
	}
}

func TestTunnelIsImmutable(t *testing.T) {
	if line := mockwebserver.Tunnel().StatusLine(); line != "HTTP/1.1 200 Connection established" {
		t.Errorf("got %q", line)
	}
	if h := mockwebserver.Tunnel().Header(); len(h) != 0 {
		t.Errorf("got %v", h)
	}
	if h := mockwebserver.Tunnel().WithHeader("Via", "mock").Header(); len(h) != 1 {
		t.Errorf("got %v", h)
	}
}

// TestTunnelOnTheWire checks that the answer that opens a tunnel has no framing
// that was not scripted, and any other has.
func TestTunnelOnTheWire(t *testing.T) {
	const ok, next = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ninside"
	empty := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	early := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "early") })
	denied := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	for name, tc := range map[string]struct {
		response mockwebserver.Response
		want     string
	}{
		"tunnel":          {mockwebserver.Tunnel(), "HTTP/1.1 200 Connection established\r\n\r\n"},
		"zero":            {mockwebserver.Response{}, ok + "\r\n"},
		"another status":  {mockwebserver.Status(201), "HTTP/1.1 201 Created\r\n\r\n"},
		"early bytes":     {mockwebserver.Text("early"), ok + "\r\nearly"},
		"streamed":        {mockwebserver.Response{}.WithBodyFunc(-1, write("early")), ok + "\r\nearly"},
		"streamed length": {mockwebserver.Response{}.WithBodyFunc(5, write("early")), ok + "\r\nearly"},
		"chunked":         {mockwebserver.Response{}.WithChunkedBody("early"), ok + "\r\nearly"},
		"scripted length": {mockwebserver.Text("early").WithHeader("Content-Length", "9"), ok + "Content-Length: 9\r\n\r\nearly"},
		"says close":      {mockwebserver.Status(200).WithHeader("Connection", "close"), ok + "Connection: close\r\n\r\n"},
		"HTTP/1.0":        {mockwebserver.Status(200).WithStatusLine("HTTP/1.0 200 Fine"), "HTTP/1.0 200 Fine\r\n\r\n"},
		"raw":             {mockwebserver.Raw("HTTP/1.0 200 Fine\r\n\r\n"), "HTTP/1.0 200 Fine\r\n\r\n"},
		"handler":         {mockwebserver.Response{}.WithHandler(empty), ok + "\r\n"},
		"handler, bytes":  {mockwebserver.Response{}.WithHandler(early), ok + "Content-Type: text/plain; charset=utf-8\r\n\r\nearly"},
		"handler, 403":    {mockwebserver.Response{}.WithHandler(denied), "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"},
		"407":             {mockwebserver.Status(407).WithBody("no"), "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 2\r\n\r\nno"},
		"302":             {mockwebserver.Status(302), "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			server := mockwebserver.New(t)
			server.Enqueue(tc.response, mockwebserver.Text("inside"))
			got := exchangeRaw(t, server, "CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\nGET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
			if got != tc.want+next {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestTunnelThatEndsWithItsBody(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Response{}.WithBodyUntilClose("bye"))
	if got := exchangeRaw(t, server, "CONNECT a.test:80 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"); got != "HTTP/1.1 200 OK\r\n\r\nbye" {
		t.Errorf("got %q", got)
	}
}

// TestPlainTunnel goes through a tunnel on a server without TLS, from a client
// that asks for it as it would be closed otherwise.
func TestPlainTunnel(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Tunnel(), mockwebserver.Text("a"))
	exchangeRaw(t, server, "CONNECT a.test:80 HTTP/1.0\r\nConnection: close\r\n\r\nGET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
	if r := server.RequireRequest(t); r.Target != "a.test:80" || r.Tunnel != "" {
		t.Errorf("recorded %+v", r)
	}
	if r := server.RequireRequest(t); r.Tunnel != "a.test:80" || r.TLS != nil || r.URL().String() != "http://a.test/x" || r.ExchangeIndex != 1 {
		t.Errorf("recorded %+v", r)
	}
}

// rawTunnel is a client that speaks to a proxy byte by byte.
type rawTunnel struct {
	net.Conn
	t  *testing.T
	br *bufio.Reader
}

func dialRaw(t *testing.T, server *mockwebserver.Server) *rawTunnel {
	t.Helper()
	conn, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &rawTunnel{conn, t, bufio.NewReader(conn)}
}

// ask sends a request without a body and returns the status and body of the
// answer. The answer to a CONNECT has none.
func (c *rawTunnel) ask(method, target string, header ...string) (int, string) {
	c.t.Helper()
	mustWrite(c.t, c.Conn, method+" "+target+" HTTP/1.1\r\nHost: h.test\r\n"+strings.Join(append(header, "\r\n"), "\r\n"))
	resp, err := http.ReadResponse(c.br, &http.Request{Method: method})
	if err != nil {
		c.t.Fatal(err)
	}
	if method == http.MethodConnect && resp.StatusCode == http.StatusOK {
		return resp.StatusCode, "" // net/http takes the tunnel for a body
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// secure begins TLS.
func (c *rawTunnel) secure(config *tls.Config) {
	c.t.Helper()
	config = config.Clone()
	config.ServerName = "localhost"
	secure := tls.Client(c.Conn, config)
	if err := secure.Handshake(); err != nil {
		c.t.Fatal(err)
	}
	c.Conn, c.br = secure, bufio.NewReader(secure)
}

// TestTunnelAfterAuthentication scripts 407, then 200, on one connection.
func TestTunnelAfterAuthentication(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithTLS())
	server.Enqueue(
		mockwebserver.Status(407).WithHeader("Proxy-Authenticate", `Basic realm="mock"`).WithBody("who are you?"),
		mockwebserver.Text("in the clear"), mockwebserver.Tunnel(), mockwebserver.Text("secret"))
	c := dialRaw(t, server)
	if status, body := c.ask("CONNECT", "a.test:443"); status != 407 || body != "who are you?" {
		t.Errorf("got %d %q", status, body)
	}
	if status, body := c.ask("GET", "/anything"); status != 200 || body != "in the clear" {
		t.Errorf("got %d %q", status, body)
	}
	if status, _ := c.ask("CONNECT", "a.test:443", "Proxy-Authorization: Basic xyz"); status != 200 {
		t.Errorf("got %d", status)
	}
	c.secure(server.ClientTLS())
	if _, body := c.ask("GET", "/"); body != "secret" {
		t.Errorf("got %q", body)
	}
	for i, secure := range []bool{false, false, false, true} {
		if r := server.RequireRequest(t); r.ConnectionIndex != 0 || r.ExchangeIndex != i || (r.TLS != nil) != secure {
			t.Errorf("recorded %+v", r)
		}
	}
}

// TestClearStartOnTLSServer has clients begin in the clear in other ways than
// by CONNECT.
func TestClearStartOnTLSServer(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithTLS())
	server.Enqueue(mockwebserver.Text("proxied"))
	if _, body := mustFetch(t, newProxyClient(t, server.ProxyURL(), nil), "http://origin.test/x?y"); body != "proxied" {
		t.Errorf("got %q", body)
	}
	if r := server.RequireRequest(t); r.Target != "http://origin.test/x?y" || r.TLS != nil || r.URL().String() != r.Target {
		t.Errorf("recorded %+v", r)
	}
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * HTTP/1.1\r\n\r\n", "\r\nCONNECT a:1 HTTP/1.1\r\n\r\n", "CON", " x",
		strings.Repeat("X", 100), "\x15\x03\x01\x00\x02\x01\x00", // an alert
	} {
		if got := exchangeRaw(t, server, request); strings.HasPrefix(got, "HTTP/") {
			t.Errorf("%q: got %q", request, got)
		}
	}
	if n := server.RequestCount(); n != 1 {
		t.Errorf("%d requests were recorded", n)
	}
}

// TestTunnelByteByByte sends the beginning of a CONNECT in pieces.
func TestTunnelByteByByte(t *testing.T) {
	pipe := mockwebserver.Pipe()
	server := mockwebserver.New(t, mockwebserver.WithTLS(), mockwebserver.WithListener(pipe))
	server.Enqueue(mockwebserver.Tunnel())
	conn, err := pipe.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, b := range []byte("CONNECT a.test:443 HTTP/1.1\r\n\r\n") {
		mustWrite(t, conn, string(b))
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != "HTTP/1.1 200 Connection established\r\n" {
		t.Errorf("got %q, %v", line, err)
	}
}

// TestTunnelOfOtherDispatchers opens tunnels from dispatchers that know nothing
// before a request is complete.
func TestTunnelOfOtherDispatchers(t *testing.T) {
	for name, d := range map[string]mockwebserver.Dispatcher{
		"function": mockwebserver.DispatcherFunc(func(_ context.Context, r *mockwebserver.RecordedRequest) mockwebserver.Response {
			switch {
			case r.Method == http.MethodConnect && r.Target != "origin.test:443":
				return mockwebserver.Status(http.StatusForbidden)
			case r.Method == http.MethodConnect:
				return mockwebserver.Tunnel()
			}
			return mockwebserver.Text("to " + r.Tunnel)
		}),
		"handler": mockwebserver.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodConnect && r.Host != "origin.test:443":
				w.WriteHeader(http.StatusForbidden)
			case r.Method != http.MethodConnect:
				_, _ = io.WriteString(w, "to "+r.Host+":443")
			}
		})),
	} {
		t.Run(name, func(t *testing.T) {
			server := mockwebserver.New(t, mockwebserver.WithTLS("origin.test"), mockwebserver.WithDispatcher(d))
			client := newProxyClient(t, server.ProxyURL(), server.ClientTLS())
			if _, body := mustFetch(t, client, "https://origin.test/"); body != "to origin.test:443" {
				t.Errorf("got %q", body)
			}
			if _, _, err := fetch(client, "https://other.test/"); err == nil || !strings.Contains(err.Error(), "Forbidden") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestTunnelWithinTLS uses the server as a proxy that is spoken to over TLS.
func TestTunnelWithinTLS(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithTLS("origin.test"))
	server.Enqueue(mockwebserver.Tunnel(), mockwebserver.Text("secret"))
	proxy := server.ProxyURL()
	proxy.Scheme = "https"
	if _, body := mustFetch(t, newProxyClient(t, proxy, server.ClientTLS()), "https://origin.test/"); body != "secret" {
		t.Errorf("got %q", body)
	}
	if r := server.RequireRequest(t); r.Method != "CONNECT" || r.TLS == nil || r.Tunnel != "" {
		t.Errorf("recorded %+v", r)
	}
	if r := server.RequireRequest(t); r.TLS == nil || r.SNI != "origin.test" || r.Tunnel != "origin.test:443" || r.ExchangeIndex != 1 {
		t.Errorf("recorded %+v", r)
	}
}

// TestTunnelsAreBounded nests TLS until the server has enough.
func TestTunnelsAreBounded(t *testing.T) {
	tunnel := mockwebserver.DispatcherFunc(func(context.Context, *mockwebserver.RecordedRequest) mockwebserver.Response {
		return mockwebserver.Tunnel()
	})
	server := mockwebserver.New(t, mockwebserver.WithTLS(), mockwebserver.WithDispatcher(tunnel))
	c := dialRaw(t, server)
	const most = 4
	for range most {
		c.ask("CONNECT", "a.test:443")
		c.secure(server.ClientTLS())
	}
	c.ask("CONNECT", "a.test:443")
	config := server.ClientTLS()
	config.ServerName = "localhost"
	if err := tls.Client(c.Conn, config).Handshake(); err == nil {
		t.Fatalf("more than %d layers of TLS", most)
	}
	if err := server.WaitOpen(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

func TestTunnelEvents(t *testing.T) {
	var mu sync.Mutex
	var log []string
	server := mockwebserver.New(t, mockwebserver.WithTLS(), mockwebserver.WithConnectionHook(func(e mockwebserver.ConnectionEvent) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, fmt.Sprintf("%v %q %d %t %v", e.Kind, e.Tunnel, e.Exchanges, e.TLS != nil, e.Err))
	}))
	server.Enqueue(mockwebserver.Status(407), mockwebserver.Tunnel(), mockwebserver.Response{})
	c := dialRaw(t, server)
	c.ask("CONNECT", "a.test:1")
	c.ask("CONNECT", "a.test:2")
	c.secure(server.ClientTLS())
	c.ask("GET", "/")
	_ = c.Close()
	if err := server.WaitOpen(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	want := []string{
		`opened "" 0 false <nil>`, `tunneled "a.test:2" 0 false <nil>`, `secured "a.test:2" 0 true <nil>`, `closed "" 3 false <nil>`,
	}
	if !slices.Equal(log, want) {
		t.Errorf("got %q", log)
	}
}

// TestIdleTunnel opens a tunnel and says nothing in it.
func TestIdleTunnel(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithTLS())
	server.Enqueue(mockwebserver.Tunnel())
	c := dialRaw(t, server)
	c.ask("CONNECT", "a.test:443")
	if err := server.WaitIdle(t.Context()); err != nil {
		t.Error(err)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.br.ReadByte(); err != io.EOF {
		t.Errorf("got %v", err)
	}
}
