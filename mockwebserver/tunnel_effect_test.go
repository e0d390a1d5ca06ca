package mockwebserver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

// tunnelTriggers are those of a CONNECT that is answered.
var tunnelTriggers = []mockwebserver.Trigger{
	mockwebserver.AtRequestStart, mockwebserver.AtRequestBody, mockwebserver.AtRequestEnd,
	mockwebserver.AtResponseStart, mockwebserver.AtResponseBody, mockwebserver.AtResponseEnd, mockwebserver.AtTLSHandshake,
}

// TestTunnelEffects performs each effect that ends a connection at each trigger
// of the exchange that opens a tunnel, and checks what the client sees.
func TestTunnelEffects(t *testing.T) {
	for name, effect := range map[string]mockwebserver.Effect{
		"close": mockwebserver.CloseConnection(),
		"reset": mockwebserver.ResetConnection(),
		"alert": mockwebserver.FailHandshake(),
	} {
		for _, at := range append(tunnelTriggers, mockwebserver.AtAccept) {
			t.Run(name+"/"+at.String(), func(t *testing.T) {
				server := mockwebserver.New(t, mockwebserver.WithTLS("origin.test"))
				server.Enqueue(mockwebserver.Tunnel().WithEffect(at, effect))
				client := newProxyClient(t, server.ProxyURL(), server.ClientTLS())
				_, _, err := fetch(client, "https://origin.test/")
				checkTunnelError(t, at, name, err)
				if at != mockwebserver.AtAccept {
					if r := server.RequireRequest(t); r.Method != "CONNECT" || (r.Failure == mockwebserver.ErrScripted) != (at == mockwebserver.AtRequestStart || at == mockwebserver.AtRequestBody) {
						t.Errorf("recorded %+v", r)
					}
				}
				if err := server.WaitOpen(t.Context(), 0); err != nil {
					t.Fatal(err)
				}
				server.Enqueue(mockwebserver.Tunnel(), mockwebserver.Text("next"))
				if _, body := mustFetch(t, client, "https://origin.test/"); body != "next" {
					t.Errorf("the next call got %q", body)
				}
			})
		}
	}
}

func checkTunnelError(t *testing.T, at mockwebserver.Trigger, effect string, err error) {
	t.Helper()
	switch {
	case err == nil:
		t.Error("no error")
	case effect == "reset":
		closed := errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed) || at == mockwebserver.AtAccept // a write that came after
		if !errors.Is(err, syscall.ECONNRESET) && !closed {
			t.Errorf("not a reset but %v", err)
		}
	case effect == "alert" && at == mockwebserver.AtTLSHandshake:
		if !strings.Contains(err.Error(), "handshake failure") {
			t.Errorf("no alert but %v", err)
		}
	case errors.Is(err, syscall.ECONNRESET) && (at == mockwebserver.AtResponseBody || at == mockwebserver.AtResponseEnd):
		// The client has its tunnel and begins its handshake: what comes to a closed
		// socket resets it.
	case errors.Is(err, syscall.ECONNRESET):
		t.Errorf("an orderly close became a reset: %v", err)
	}
}

// TestHandshakeEffectsInTunnel has the response after the tunnel's prevent the
// handshake, as it would on a connection without a tunnel, and a dispatcher
// that is no Peeker do it by the response that opens the tunnel.
func TestHandshakeEffectsInTunnel(t *testing.T) {
	alert := mockwebserver.Response{}.WithEffect(mockwebserver.AtTLSHandshake, mockwebserver.FailHandshake())
	function := func(_ context.Context, r *mockwebserver.RecordedRequest) mockwebserver.Response {
		if r.Method == http.MethodConnect {
			return alert
		}
		return mockwebserver.Response{}
	}
	for name, opt := range map[string]mockwebserver.Option{
		"queue":    mockwebserver.WithDispatcher(mockwebserver.NewQueue(mockwebserver.Tunnel(), alert)),
		"function": mockwebserver.WithDispatcher(mockwebserver.DispatcherFunc(function)),
	} {
		t.Run(name, func(t *testing.T) {
			server := mockwebserver.New(t, mockwebserver.WithTLS("origin.test"), opt)
			client := newProxyClient(t, server.ProxyURL(), server.ClientTLS())
			if _, _, err := fetch(client, "https://origin.test/"); err == nil || !strings.Contains(err.Error(), "handshake failure") {
				t.Errorf("got %v", err)
			}
			if n := server.RequestCount(); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestHandshakeMomentInTunnel checks what a Peeker is told.
func TestHandshakeMomentInTunnel(t *testing.T) {
	var moments atomic.Pointer[[]mockwebserver.Moment]
	moments.Store(new([]mockwebserver.Moment))
	server := mockwebserver.New(t, mockwebserver.WithTLS("origin.test"), mockwebserver.WithDispatcher(peekFunc(func(m mockwebserver.Moment) {
		seen := append([]mockwebserver.Moment{}, *moments.Load()...)
		m.Request = nil
		seen = append(seen, m)
		moments.Store(&seen)
	})))
	mustFetch(t, newProxyClient(t, server.ProxyURL(), server.ClientTLS()), "https://origin.test/")
	want := []mockwebserver.Moment{
		{At: mockwebserver.AtAccept},
		{At: mockwebserver.AtRequestStart},
		{At: mockwebserver.AtTLSHandshake, ExchangeIndex: 1},
		{At: mockwebserver.AtRequestStart, ExchangeIndex: 1},
	}
	got := *moments.Load()
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}

// peekFunc is told each moment and knows nothing.
type peekFunc func(mockwebserver.Moment)

func (f peekFunc) Peek(m mockwebserver.Moment) (mockwebserver.Response, bool) {
	f(m)
	return mockwebserver.Response{}, false
}

func (f peekFunc) Dispatch(context.Context, *mockwebserver.RecordedRequest) mockwebserver.Response {
	return mockwebserver.Status(200)
}

// TestTunnelStalls stalls at each trigger until the client has enough.
func TestTunnelStalls(t *testing.T) {
	for _, at := range tunnelTriggers {
		t.Run(at.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pipe := mockwebserver.Pipe()
				server := mockwebserver.New(t, mockwebserver.WithListener(pipe), mockwebserver.WithTLS("origin.test"))
				server.Enqueue(mockwebserver.Tunnel().WithEffect(at, mockwebserver.Stall()))
				client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
					Proxy: http.ProxyURL(server.ProxyURL()), DialContext: pipe.DialContext, TLSClientConfig: server.ClientTLS(),
				}}
				begin := time.Now()
				if _, _, err := fetch(client, "https://origin.test/"); err == nil || time.Since(begin) != 10*time.Second {
					t.Errorf("got %v after %v", err, time.Since(begin))
				}
				client.CloseIdleConnections()
				if err := server.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestTunnelHalfClose closes the server's writing half once the tunnel is open.
func TestTunnelHalfClose(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Tunnel().WithEffect(mockwebserver.AtResponseEnd, mockwebserver.ShutdownOutput()), mockwebserver.Response{})
	c := dialRaw(t, server)
	c.ask("CONNECT", "a.test:80")
	if _, err := c.br.ReadByte(); err != io.EOF {
		t.Errorf("got %v", err)
	}
	mustWrite(t, c.Conn, "GET /still-read HTTP/1.1\r\n\r\n")
	server.RequireRequest(t)
	if r := server.RequireRequest(t); r.Target != "/still-read" || r.Tunnel != "a.test:80" {
		t.Errorf("recorded %+v", r)
	}
}

// TestTunnelDelays waits before the head, and pauses and calls in the tunnel.
func TestTunnelDelays(t *testing.T) {
	inBubble(t, func(t *testing.T, server *mockwebserver.Server, client *http.Client) {
		called := make(chan struct{})
		server.Enqueue(mockwebserver.Tunnel().WithHeadDelay(time.Second).
			WithEffect(mockwebserver.AtResponseEnd, mockwebserver.Pause(time.Minute), mockwebserver.Call(func(context.Context) { close(called) })),
			mockwebserver.Text("inside"))
		conn, err := client.Transport.(*http.Transport).DialContext(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		begin := time.Now()
		mustWrite(t, conn, "CONNECT a.test:80 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n")
		if _, err := io.ReadFull(conn, make([]byte, 10)); err != nil || time.Since(begin) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		rest, err := io.ReadAll(conn)
		if err != nil || !strings.HasSuffix(string(rest), "inside") || time.Since(begin) != time.Second+time.Minute {
			t.Errorf("got %q, %v after %v", rest, err, time.Since(begin))
		}
		<-called
	})
}
