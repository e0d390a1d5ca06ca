package mockwebserver_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/certs"
	"github.com/okhttp-go/okhttp/mockwebserver"
)

func TestStartAndClose(t *testing.T) {
	server := mockwebserver.NewServer()
	if server.String() != "mockwebserver(new)" {
		t.Error(server)
	}
	mustPanic(t, "call Start first", func() { server.URL("/") })
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err == nil {
		t.Error("started twice")
	}
	if s := server.String(); s != fmt.Sprintf("mockwebserver(127.0.0.1:%d)", server.Port()) {
		t.Error(s)
	}
	mustPanic(t, "WithTLS", func() { server.ClientTLS() })
	for range 2 {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}
	if server.String() != "mockwebserver(closed)" {
		t.Error(server)
	}
	if err := server.Start(); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("started again: %v", err)
	}
	if _, err := net.Dial("tcp", server.Addr().String()); err == nil {
		t.Error("the port is still open")
	}
	if _, err := server.TakeRequest(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if err := mockwebserver.NewServer().Close(); err != nil { // never started
		t.Error(err)
	}
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), want) {
			t.Errorf("panic %v, want %q", p, want)
		}
	}()
	f()
}

// fakeTB records what a helper does to a test.
type fakeTB struct {
	testing.TB
	fatal    string
	cleanups []func()
}

func (f *fakeTB) Helper()             {}
func (f *fakeTB) Logf(string, ...any) {}
func (f *fakeTB) Cleanup(c func())    { f.cleanups = append(f.cleanups, c) }
func (f *fakeTB) Fatalf(format string, args ...any) {
	f.fatal = fmt.Sprintf(format, args...)
}

func TestNewCleansUp(t *testing.T) {
	fake := new(fakeTB)
	server := mockwebserver.New(fake)
	fake.cleanups[0]()
	if server.String() != "mockwebserver(closed)" {
		t.Error(server)
	}
	mockwebserver.New(fake, mockwebserver.WithAddress("256.0.0.1:0"))
	if fake.fatal == "" {
		t.Error("an impossible address did not end the test")
	}
}

func TestTakeRequestTimesOut(t *testing.T) {
	inBubble(t, func(t *testing.T, server *mockwebserver.Server, _ *http.Client) {
		start := time.Now()
		if _, err := server.TakeRequestWithin(time.Minute); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		fake := new(fakeTB)
		server.RequireRequest(fake)
		if !strings.Contains(fake.fatal, "no request") || time.Since(start) != time.Minute+5*time.Second {
			t.Errorf("got %q after %v", fake.fatal, time.Since(start))
		}
	})
}

func TestConnectionHook(t *testing.T) {
	var mu sync.Mutex
	var log []string
	server := mockwebserver.New(t, mockwebserver.WithTLS(), mockwebserver.WithConnectionHook(func(e mockwebserver.ConnectionEvent) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, fmt.Sprintf("%d %v %d %t %t", e.Index, e.Kind, e.Exchanges, e.TLS != nil, e.Err != nil))
	}))
	client := newClient(t, server)
	server.Enqueue(mockwebserver.Response{}, mockwebserver.Response{})
	mustFetch(t, client, server.URL("/"))
	mustFetch(t, client, server.URL("/"))
	if server.OpenConnections() != 1 {
		t.Errorf("%d open", server.OpenConnections())
	}
	client.CloseIdleConnections()
	if err := server.WaitOpen(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if answer := exchangeRaw(t, server, "GET / HTTP/1.1\r\n\r\n"); strings.HasPrefix(answer, "HTTP/1.1 2") { // plain on the TLS port
		t.Errorf("got %q", answer)
	}
	if err := server.WaitOpen(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0 opened 0 false false", "0 secured 0 true false", "0 closed 2 false false",
		"1 opened 0 false false", "1 closed 0 false true",
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(log, want) {
		t.Errorf("got %q", log)
	}
}

func TestWaitIdle(t *testing.T) {
	inBubble(t, func(t *testing.T, server *mockwebserver.Server, client *http.Client) {
		server.Enqueue(mockwebserver.Text("a").WithEffect(mockwebserver.AtResponseEnd, mockwebserver.Pause(time.Minute)))
		start := time.Now()
		mustFetch(t, client, server.URL("/"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := server.WaitIdle(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 exchanges") {
			t.Errorf("got %v", err)
		}
		if err := server.WaitIdle(t.Context()); err != nil || time.Since(start) != time.Minute {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}

// TestCloseClientConnections makes a pooled connection stale.
func TestCloseClientConnections(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Text("1"), mockwebserver.Text("2"))
	conn, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	server.RequireRequest(t)
	if err := server.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.CloseClientConnections()
	if answer, err := io.ReadAll(conn); !strings.HasSuffix(string(answer), "\r\n\r\n1") || err != nil {
		t.Errorf("got %q, %v", answer, err)
	}
	if answer := exchangeRaw(t, server, "GET / HTTP/1.1\r\n\r\n"); !strings.HasSuffix(answer, "2") {
		t.Errorf("got %q", answer)
	}
}

// TestCloseWithStubbornScript has a function that heeds nothing: Close must
// return within a second, and say so.
func TestCloseWithStubbornScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := mockwebserver.Pipe()
		server := mockwebserver.NewServer(mockwebserver.WithListener(pipe))
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		release := make(chan struct{})
		server.Enqueue(mockwebserver.Response{}.WithEffect(mockwebserver.AtAccept, mockwebserver.Call(func(context.Context) { <-release })))
		conn, err := pipe.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		synctest.Wait()
		start := time.Now()
		if err := server.Close(); err == nil || time.Since(start) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		close(release)
	})
}

func TestBodyLimit(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithBodyLimit(3))
	server.Enqueue(mockwebserver.Response{})
	post(newClient(t, server), server.URL("/"), "0123456789")
	if r := server.RequireRequest(t); r.Text() != "012" || r.BodySize != 10 {
		t.Errorf("got %+v", r)
	}
}

func TestWithoutRecording(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithoutRecording())
	server.Enqueue(mockwebserver.Response{})
	mustFetch(t, newClient(t, server), server.URL("/"))
	if _, err := server.TakeRequestWithin(0); err == nil || server.RequestCount() != 1 {
		t.Errorf("got %v, %d requests", err, server.RequestCount())
	}
}

func TestSeveralListeners(t *testing.T) {
	first, second := mockwebserver.Pipe(), mockwebserver.Pipe()
	server := mockwebserver.New(t, mockwebserver.WithListener(first), mockwebserver.WithListener(second), mockwebserver.WithHostName("one.test"))
	server.Enqueue(mockwebserver.Text("a"), mockwebserver.Text("b"))
	if server.URL("") != "http://one.test/" || server.Port() != 80 {
		t.Error(server.URL(""))
	}
	for _, pipe := range []*mockwebserver.PipeListener{second, first} {
		transport := &http.Transport{DialContext: pipe.DialContext}
		mustFetch(t, &http.Client{Transport: transport}, server.URL("/"))
		transport.CloseIdleConnections()
	}
	if r := server.RequireRequest(t); r.Header.Get("Host") != "one.test" {
		t.Errorf("got %+v", r)
	}
}

func TestClientCertificates(t *testing.T) {
	for _, tc := range []struct {
		name       string
		mode       tls.ClientAuthType
		present    bool
		works      bool
		recordedCN string
	}{
		{"required", tls.RequireAndVerifyClientCert, true, true, "mockwebserver client"},
		{"required, none", tls.RequireAndVerifyClientCert, false, false, ""},
		{"requested", tls.VerifyClientCertIfGiven, true, true, "mockwebserver client"},
		{"requested, none", tls.VerifyClientCertIfGiven, false, true, ""},
		{"not asked for", tls.NoClientCert, true, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := mockwebserver.New(t, mockwebserver.WithTLS(), mockwebserver.WithClientAuth(tc.mode))
			server.Enqueue(mockwebserver.Response{})
			client := newClient(t, server)
			if !tc.present {
				client.Transport.(*http.Transport).TLSClientConfig.Certificates = nil
			}
			if _, _, err := fetch(client, server.URL("/")); (err == nil) != tc.works {
				t.Fatalf("got %v", err)
			}
			if !tc.works {
				return
			}
			name := ""
			if peer := server.RequireRequest(t).TLS.PeerCertificates; len(peer) > 0 {
				name = peer[0].Subject.CommonName
			}
			if name != tc.recordedCN {
				t.Errorf("recorded %q", name)
			}
		})
	}
}

func TestExpiredCertificate(t *testing.T) {
	ca := certs.New(certs.WithCA(0))
	expired := certs.New(certs.WithIssuer(ca), certs.WithNames("127.0.0.1"), certs.WithLifetime(-time.Hour))
	server := mockwebserver.New(t, mockwebserver.WithCertificate(expired), mockwebserver.WithProtocols())
	_, _, err := fetch(newClient(t, server), server.URL("/"))
	if err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("got %v", err)
	}
	if server.Certificate() != expired {
		t.Error("shows another certificate")
	}
}

func TestTLSConfig(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithTLSConfig(&tls.Config{MaxVersion: tls.VersionTLS12}))
	server.Enqueue(mockwebserver.Response{})
	mustFetch(t, newClient(t, server), server.URL("/"))
	if r := server.RequireRequest(t); r.TLS.Version != tls.VersionTLS12 {
		t.Errorf("got %x", r.TLS.Version)
	}
}

func TestRecordedURL(t *testing.T) {
	host := mockwebserver.Header{{Name: "host", Value: "h.test:8080"}}
	for _, tc := range []struct {
		r    mockwebserver.RecordedRequest
		want string
	}{
		{mockwebserver.RecordedRequest{Method: "GET", Target: "/a?b", Header: host}, "http://h.test:8080/a?b"},
		{mockwebserver.RecordedRequest{Method: "GET", Target: "/", Header: host, TLS: &tls.ConnectionState{}}, "https://h.test:8080/"},
		{mockwebserver.RecordedRequest{Method: "GET", Target: "http://other.test/x", Header: host}, "http://other.test/x"},
		{mockwebserver.RecordedRequest{Method: "OPTIONS", Target: "*", Header: host}, "http://h.test:8080/"},
		{mockwebserver.RecordedRequest{Method: "CONNECT", Target: "c.test:443", Header: host}, "http://c.test:443/"},
		{mockwebserver.RecordedRequest{Method: "GET", Target: "/"}, "<nil>"},
		{mockwebserver.RecordedRequest{}, "<nil>"},
	} {
		got := "<nil>"
		if u := tc.r.URL(); u != nil {
			got = u.String()
		}
		if got != tc.want {
			t.Errorf("%s %s: got %s, want %s", tc.r.Method, tc.r.Target, got, tc.want)
		}
	}
}
