package mockwebserver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

func cancelableGet(t *testing.T, url string) (*http.Request, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req, cancel
}

// outcome is what a client saw of a POST.
type outcome struct {
	status int
	body   string
	err    error
}

func post(client *http.Client, url, body string) outcome {
	resp, err := client.Post(url, "text/plain", io.MultiReader(strings.NewReader(body))) // cannot be repeated
	if err != nil {
		return outcome{err: err}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return outcome{resp.StatusCode, string(text), err}
}

// TestEffects performs each effect that ends a connection at each trigger, over
// sockets and TLS, and checks what the client sees and what is recorded.
func TestEffects(t *testing.T) {
	triggers := []mockwebserver.Trigger{
		mockwebserver.AtAccept, mockwebserver.AtTLSHandshake, mockwebserver.AtRequestStart, mockwebserver.AtRequestBody,
		mockwebserver.AtRequestEnd, mockwebserver.AtResponseStart, mockwebserver.AtResponseBody, mockwebserver.AtResponseEnd,
	}
	effects := map[string]mockwebserver.Effect{
		"close": mockwebserver.CloseConnection(),
		"reset": mockwebserver.ResetConnection(),
		"alert": mockwebserver.FailHandshake(),
	}
	for name, effect := range effects {
		for _, at := range triggers {
			for _, secure := range []bool{false, true} {
				if !secure && at == mockwebserver.AtTLSHandshake {
					continue
				}
				scheme := map[bool]string{false: "http", true: "https"}[secure]
				t.Run(name+"/"+at.String()+"/"+scheme, func(t *testing.T) {
					var opts []mockwebserver.Option
					if secure {
						opts = append(opts, mockwebserver.WithTLS())
					}
					server := mockwebserver.New(t, opts...)
					server.Enqueue(mockwebserver.Text("0123456789").WithEffect(at, effect))
					client := newClient(t, server)
					got := post(client, server.URL("/"), "request")
					checkOutcome(t, at, name, got)
					if at > mockwebserver.AtTLSHandshake {
						checkRecord(t, at, server.RequireRequest(t))
					}

					if err := server.WaitOpen(t.Context(), 0); err != nil {
						t.Fatal(err)
					}
					client.CloseIdleConnections() // net/http may not have noticed yet
					server.Enqueue(mockwebserver.Text("next"))
					if got := post(client, server.URL("/"), "request"); got.body != "next" {
						t.Errorf("the next call got %+v", got)
					}
					if server.ConnectionCount() != 2 {
						t.Errorf("%d connections", server.ConnectionCount())
					}
				})
			}
		}
	}
}

func checkOutcome(t *testing.T, at mockwebserver.Trigger, effect string, got outcome) {
	t.Helper()
	switch {
	case at == mockwebserver.AtResponseEnd:
		if effect != "reset" && (got.err != nil || got.body != "0123456789") {
			t.Errorf("got %+v", got)
		}
		return
	case got.err == nil:
		t.Errorf("no error but %+v", got)
	case effect == "reset":
		closed := errors.Is(got.err, syscall.EPIPE) || errors.Is(got.err, net.ErrClosed) // a write that came after
		if !errors.Is(got.err, syscall.ECONNRESET) && !closed {
			t.Errorf("not a reset but %v", got.err)
		}
	case effect == "alert" && at == mockwebserver.AtTLSHandshake:
		if !strings.Contains(got.err.Error(), "handshake failure") {
			t.Errorf("no alert but %v", got.err)
		}
	case errors.Is(got.err, syscall.ECONNRESET):
		t.Errorf("an orderly close became a reset: %v", got.err)
	case at == mockwebserver.AtResponseBody && (got.body != "01234" || got.err != io.ErrUnexpectedEOF):
		t.Errorf("got %+v", got)
	}
}

func checkRecord(t *testing.T, at mockwebserver.Trigger, r *mockwebserver.RecordedRequest) {
	t.Helper()
	cut := at <= mockwebserver.AtRequestBody
	if (r.Failure == mockwebserver.ErrScripted) != cut || r.Method != "POST" {
		t.Errorf("at %v: recorded %+v", at, r)
	}
	want, chunks := "request", 1
	if at == mockwebserver.AtRequestStart {
		want, chunks = "", 0
	}
	if r.Text() != want || len(r.ChunkSizes) != chunks { // its only chunk was read when the middle is reached
		t.Errorf("at %v: recorded body %q, chunks %v", at, r.Text(), r.ChunkSizes)
	}
}

func TestRequestBodyMidpointOfDeclaredLength(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Response{}.WithEffect(mockwebserver.AtRequestBody, mockwebserver.CloseConnection()))
	answer := exchangeRaw(t, server, "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n0123456789")
	if r := server.RequireRequest(t); answer != "" || r.Text() != "01234" || r.Failure != mockwebserver.ErrScripted {
		t.Errorf("got %q, %+v", answer, r)
	}
}

// TestStallTimesOut lets a client's timeout of ten seconds end a stall at each
// trigger, in virtual time.
func TestStallTimesOut(t *testing.T) {
	for at := mockwebserver.AtAccept; at <= mockwebserver.AtResponseBody; at++ {
		t.Run(at.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pipe := mockwebserver.Pipe()
				server := mockwebserver.New(t, mockwebserver.WithListener(pipe), mockwebserver.WithTLS())
				server.Enqueue(mockwebserver.Text("hello").WithEffect(at, mockwebserver.Stall()))
				transport := &http.Transport{DialContext: pipe.DialContext, TLSClientConfig: server.ClientTLS()}
				defer transport.CloseIdleConnections()
				client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
				start := time.Now()
				got := post(client, server.URL("/"), "request")
				var timeout net.Error
				if !errors.As(got.err, &timeout) || !timeout.Timeout() || time.Since(start) != 10*time.Second {
					t.Errorf("got %+v after %v", got, time.Since(start))
				}
			})
		})
	}
}

// TestPauseAndCall pauses for a second at every trigger of one exchange.
func TestPauseAndCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := mockwebserver.Pipe()
		server := mockwebserver.New(t, mockwebserver.WithListener(pipe), mockwebserver.WithTLS())
		var times []time.Duration
		start := time.Now()
		r := mockwebserver.Text("hello")
		for at := mockwebserver.AtAccept; at <= mockwebserver.AtResponseEnd; at++ {
			r = r.WithEffect(at, mockwebserver.Pause(time.Second), mockwebserver.Call(func(context.Context) {
				times = append(times, time.Since(start))
			}))
		}
		server.Enqueue(r)
		transport := &http.Transport{DialContext: pipe.DialContext, TLSClientConfig: server.ClientTLS()}
		defer transport.CloseIdleConnections()
		if got := post(&http.Client{Transport: transport}, server.URL("/"), "request"); got.body != "hello" {
			t.Errorf("got %+v", got)
		}
		if err := server.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(times) != 8 || times[7] != 8*time.Second {
			t.Errorf("got %v", times)
		}
	})
}

func TestHalfClose(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Text("hello").WithEffect(mockwebserver.AtResponseEnd, mockwebserver.ShutdownOutput()))
	conn, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /1 HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || string(answer) != "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" {
		t.Errorf("got %q, %v", answer, err)
	}
	if _, err := io.WriteString(conn, "GET /2 HTTP/1.1\r\n\r\n"); err != nil { // the server still reads
		t.Fatal(err)
	}
	server.RequireRequest(t)
	if r := server.RequireRequest(t); r.Target != "/2" || r.ExchangeIndex != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestShutdownInput(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Text("hello").WithEffect(mockwebserver.AtResponseEnd, mockwebserver.ShutdownInput()))
	conn, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn) // the server reads the end, and closes
	if !strings.HasSuffix(string(answer), "hello") || err != nil {
		t.Errorf("got %q, %v", answer, err)
	}
}
