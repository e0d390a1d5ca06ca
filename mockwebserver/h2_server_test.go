package mockwebserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

// newHTTP2Client returns a client that speaks HTTP/2: as negotiated with a server
// with TLS, otherwise by prior knowledge.
func newHTTP2Client(t *testing.T, server *mockwebserver.Server) *http.Client {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	if server.Certificate() != nil {
		transport.TLSClientConfig = server.ClientTLS()
		transport.Protocols.SetHTTP2(true)
	} else {
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// http2Servers runs a test over TLS and in the clear.
func http2Servers(t *testing.T, test func(t *testing.T, server *mockwebserver.Server, client *http.Client), opts ...mockwebserver.Option) {
	for name, opt := range map[string]mockwebserver.Option{
		"TLS": mockwebserver.WithTLS(), "h2c": mockwebserver.WithProtocols("h2_prior_knowledge"),
	} {
		t.Run(name, func(t *testing.T) {
			server := mockwebserver.New(t, append(opts, opt)...)
			test(t, server, newHTTP2Client(t, server))
		})
	}
}

func TestHTTP2GetAndPost(t *testing.T) {
	http2Servers(t, func(t *testing.T, server *mockwebserver.Server, client *http.Client) {
		server.Enqueue(mockwebserver.Text("hello").WithHeader("X-A", "1").WithAddedHeader("x-a", "2"), mockwebserver.Status(204))
		resp, body := mustFetch(t, client, server.URL("/a?b"))
		if resp.Proto != "HTTP/2.0" || body != "hello" || resp.ContentLength != 5 || strings.Join(resp.Header["X-A"], ",") != "1,2" {
			t.Errorf("got %+v, %q", resp, body)
		}
		if got := post(client, server.URL("/b"), "request"); got.status != 204 || got.body != "" || got.err != nil {
			t.Errorf("got %+v", got)
		}
		r := server.RequireRequest(t)
		if r.Method != "GET" || r.Target != "/a?b" || r.Version != "HTTP/2.0" || r.StreamID != 1 || r.ExchangeIndex != 0 || r.Body != nil {
			t.Errorf("got %+v", r)
		}
		if r.URL().String() != server.URL("/a?b") || r.Header.Get(":scheme") == "" || r.Header.Has(":path") {
			t.Errorf("got %v, %v", r.URL(), r.Header)
		}
		r = server.RequireRequest(t)
		if r.Method != "POST" || r.Text() != "request" || r.StreamID != 3 || r.ExchangeIndex != 1 || r.ConnectionIndex != 0 || r.Failure != nil {
			t.Errorf("got %+v", r)
		}
	})
}

func TestHTTP2Handler(t *testing.T) {
	http2Servers(t, func(t *testing.T, server *mockwebserver.Server, client *http.Client) {
		server.SetDispatcher(mockwebserver.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "X-End")
			if r.ProtoMajor != 2 || r.Host == "" || len(r.Header[":authority"]) > 0 {
				t.Errorf("got %+v", r)
			}
			_, _ = io.Copy(w, r.Body)
			w.Header().Set("X-End", "yes")
		})))
		large := strings.Repeat("0123456789", 100_000)
		resp, err := client.Post(server.URL("/"), "text/plain", strings.NewReader(large))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != large || resp.Trailer.Get("X-End") != "yes" {
			t.Errorf("got %d bytes, %v, %v", len(body), err, resp.Trailer)
		}
	})
}
