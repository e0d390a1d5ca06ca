package okhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/dns"
	"github.com/okhttp-go/okhttp/internal/testkit"
	mock "github.com/okhttp-go/okhttp/mockwebserver"
)

// piped runs a test in a bubble, where time is virtual, with a server and a
// client that is connected to it.
func piped(t *testing.T, test func(t *testing.T, server *mock.Server, client *okhttp.Client), opts ...okhttp.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		pipe := mock.Pipe()
		server := mock.New(t, mock.WithListener(pipe))
		test(t, server, startClient(t, append([]okhttp.Option{okhttp.WithDialer(pipe.DialContext)}, opts...)...))
	})
}

// finish makes a call and reads its response, and returns how it failed.
func finish(client *okhttp.Client, req *http.Request, opts ...okhttp.Option) error {
	resp, err := client.NewCall(req, opts...).Execute()
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// wantTimeout checks that an error is that timeout of the client, in every way
// in which one may ask, and no other.
func wantTimeout(t *testing.T, err error, want error, phase okhttp.Phase) {
	t.Helper()
	for _, timeout := range []error{okhttp.ErrCallTimeout, okhttp.ErrConnectTimeout, okhttp.ErrReadTimeout, okhttp.ErrWriteTimeout} {
		if errors.Is(err, timeout) != (timeout == want) {
			t.Errorf("is %v: %t; %v", timeout, errors.Is(err, timeout), err)
		}
	}
	var network net.Error
	var typed *okhttp.TimeoutError
	var outer *okhttp.Error
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded), !errors.Is(err, context.DeadlineExceeded):
		t.Errorf("no deadline was exceeded: %v", err)
	case !errors.As(err, &network) || !network.Timeout():
		t.Errorf("no net.Error with Timeout: %v", err)
	case !errors.As(err, &typed) || !typed.Timeout():
		t.Errorf("no *TimeoutError: %v", err)
	case !errors.As(err, &outer) || outer.Phase != phase:
		t.Errorf("phase %q, want %q: %v", outer.Phase, phase, err)
	case errors.Is(err, context.Canceled), errors.Is(err, okhttp.ErrOutcomeUnknown):
		t.Errorf("canceled, or of unknown outcome: %v", err)
	}
}

func stallAt(at mock.Trigger) mock.Response {
	return mock.Text("stalled body").WithEffect(at, mock.Stall())
}

func upload(t *testing.T, url string) *http.Request {
	return newRequest(t, "POST", url, io.LimitReader(endlessZeros{}, 1<<20))
}

func TestCallTimeout(t *testing.T) {
	slow := func(r mock.Response) mock.Response { return r.WithHeadDelay(600 * time.Millisecond) }
	for _, c := range []struct {
		name   string
		script []mock.Response
		phase  okhttp.Phase
		upload bool
		dial   okhttp.DialFunc
	}{
		{name: "connecting", phase: okhttp.PhaseConnect, dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
		{name: "uploading", phase: okhttp.PhaseSend, script: []mock.Response{stallAt(mock.AtRequestStart)}, upload: true},
		{name: "waiting", phase: okhttp.PhaseReceive, script: []mock.Response{stallAt(mock.AtResponseStart)}},
		{name: "reading", phase: okhttp.PhaseBody, script: []mock.Response{stallAt(mock.AtResponseBody)}},
		{name: "redirected", phase: okhttp.PhaseReceive, script: []mock.Response{slow(moved(302, "/a")), slow(moved(302, "/b")), mock.Text("late")}},
		{name: "redirected to another connection", phase: okhttp.PhaseReceive, script: []mock.Response{
			slow(moved(302, "http://b.test/")), slow(mock.Text("late"))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			piped(t, func(t *testing.T, server *mock.Server, client *okhttp.Client) {
				server.Enqueue(c.script...)
				log := newEventLog(t)
				opts := []okhttp.Option{okhttp.WithEventListener(log)}
				if c.dial != nil {
					client = client.With(okhttp.WithDialer(c.dial))
				}
				req := newRequest(t, "GET", "http://a.test/", nil)
				if c.upload {
					req = upload(t, "http://a.test/")
				}
				start := time.Now()
				err := finish(client, req, opts...)
				wantTimeout(t, err, okhttp.ErrCallTimeout, c.phase)
				if took := time.Since(start); took < time.Second || took > 1200*time.Millisecond {
					t.Errorf("took %v", took)
				}
				synctest.Wait() // the timer reports it from its own goroutine
				if !log.last().Canceled() || !strings.Contains(names(log.of(log.last())), "Canceled") {
					t.Errorf("not canceled: %s", names(log.of(log.last())))
				}
			}, okhttp.WithCallTimeout(time.Second))
		})
	}
	t.Run("in time", func(t *testing.T) {
		piped(t, func(t *testing.T, server *mock.Server, client *okhttp.Client) {
			server.Enqueue(mock.Text("ok").WithHeadDelay(999 * time.Millisecond))
			if err := finish(client, newRequest(t, "GET", "http://a.test/", nil)); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour) // the timer was stopped, or this would cancel the call
		}, okhttp.WithCallTimeout(time.Second))
	})
}

func TestConnectTimeoutPerAddress(t *testing.T) {
	two := okhttp.WithDNS(dns.Static(map[string][]netip.Addr{
		"a.test": {netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")},
	}))
	synctest.Test(t, func(t *testing.T) {
		network := testkit.NewNet()
		network.Host("192.0.2.1").BlackHole()
		network.Host("192.0.2.2").BlackHole()
		client := startClient(t, two, okhttp.WithAddressDialer(network.DialContext), okhttp.WithConnectTimeout(3*time.Second))
		start := time.Now()
		err := finish(client, newRequest(t, "GET", "http://a.test/", nil))
		wantTimeout(t, err, okhttp.ErrConnectTimeout, okhttp.PhaseConnect)
		if took := time.Since(start); took != 3250*time.Millisecond || !okhttp.SafeToRetry(err) {
			t.Errorf("took %v; safe to retry %t", took, okhttp.SafeToRetry(err))
		}
		var outer *okhttp.Error
		if errors.As(err, &outer); len(outer.Prior) != 1 {
			t.Errorf("the other address is not told of: %+v", outer)
		}
	})
	synctest.Test(t, func(t *testing.T) { // each address has its own time
		network := testkit.NewNet()
		network.Host("192.0.2.1").BlackHole()
		server := mock.New(t, mock.WithListener(network.Host("192.0.2.2").Listen(80)))
		server.Enqueue(mock.Text("ok"))
		client := startClient(t, two, okhttp.WithAddressDialer(network.DialContext), okhttp.WithConnectTimeout(3*time.Second),
			okhttp.WithFastFallback(false))
		start := time.Now()
		if err := finish(client, newRequest(t, "GET", "http://a.test/", nil)); err != nil || time.Since(start) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestHandshakeTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := mock.Pipe()
		server := mock.New(t, mock.WithListener(pipe), mock.WithTLS())
		server.Enqueue(mock.Response{}.WithEffect(mock.AtTLSHandshake, mock.Stall()))
		client := startClient(t, okhttp.WithDialer(pipe.DialContext), okhttp.WithConnectTimeout(3*time.Second),
			okhttp.WithTLSConfig(server.ClientTLS()))
		start := time.Now()
		err := finish(client, newRequest(t, "GET", "https://localhost/", nil))
		wantTimeout(t, err, okhttp.ErrConnectTimeout, okhttp.PhaseTLS)
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestReadTimeoutIsNotRetried(t *testing.T) {
	for at, phase := range map[mock.Trigger]okhttp.Phase{
		mock.AtResponseStart: okhttp.PhaseReceive, mock.AtResponseBody: okhttp.PhaseBody,
	} {
		t.Run(at.String(), func(t *testing.T) {
			piped(t, func(t *testing.T, server *mock.Server, client *okhttp.Client) {
				server.Enqueue(mock.Text("1"), stallAt(at), mock.Text("3"))
				if err := finish(client, newRequest(t, "GET", "http://a.test/", nil)); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				// On a reused connection, by a method that may be repeated: but
				// timeouts never are.
				err := finish(client, newRequest(t, "GET", "http://a.test/", nil))
				wantTimeout(t, err, okhttp.ErrReadTimeout, phase)
				if took := time.Since(start); took != 2*time.Second {
					t.Errorf("took %v", took)
				}
				if n := server.RequestCount(); n != 2 {
					t.Errorf("%d requests", n)
				}
				resp, err := client.Get(t.Context(), "http://a.test/")
				wantBody(t, resp, err, "3")
				if n := server.ConnectionCount(); n != 2 {
					t.Errorf("%d connections", n)
				}
			}, okhttp.WithReadTimeout(2*time.Second))
		})
	}
}

// P33: the read timeout bounds silence, not the whole.
func TestReadTimeoutIsForSilence(t *testing.T) {
	dribble := func(n int, then func(context.Context) error) mock.Response {
		return mock.Response{}.WithBodyFunc(-1, func(ctx context.Context, w io.Writer) error {
			for range n {
				time.Sleep(100 * time.Millisecond)
				if _, err := w.Write([]byte("x")); err != nil {
					return err
				}
			}
			return then(ctx)
		})
	}
	piped(t, func(t *testing.T, server *mock.Server, client *okhttp.Client) {
		server.Enqueue(dribble(50, func(context.Context) error { return nil }),
			dribble(10, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }))
		start := time.Now()
		if err := finish(client, newRequest(t, "GET", "http://a.test/", nil)); err != nil || time.Since(start) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		start = time.Now()
		err := finish(client, newRequest(t, "GET", "http://a.test/", nil))
		wantTimeout(t, err, okhttp.ErrReadTimeout, okhttp.PhaseBody)
		if took := time.Since(start); took != 1300*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if s := client.Pool().Stats(); s.Open != 0 {
			t.Errorf("%+v", s)
		}
	}, okhttp.WithReadTimeout(300*time.Millisecond))
}

// The read timeout does not run while the request is still being sent.
func TestReadTimeoutWaitsForUpload(t *testing.T) {
	piped(t, func(t *testing.T, server *mock.Server, client *okhttp.Client) {
		server.Enqueue(mock.Text("ok"))
		body, feed := io.Pipe()
		go func() {
			for range 5 {
				time.Sleep(time.Second)
				fmt.Fprint(feed, "slow")
			}
			feed.Close()
		}()
		resp, err := client.Do(newRequest(t, "POST", "http://a.test/", body))
		wantBody(t, resp, err, "ok")
	}, okhttp.WithReadTimeout(500*time.Millisecond))
}

func TestWriteTimeout(t *testing.T) {
	for _, reused := range []bool{false, true} {
		piped(t, func(t *testing.T, server *mock.Server, client *okhttp.Client) {
			if reused {
				server.Enqueue(mock.Text("1"))
				if err := finish(client, newRequest(t, "GET", "http://a.test/", nil)); err != nil {
					t.Fatal(err)
				}
			}
			server.Enqueue(stallAt(mock.AtRequestStart), mock.Text("next"))
			start := time.Now()
			err := finish(client, upload(t, "http://a.test/"), okhttp.WithIdempotent(true))
			wantTimeout(t, err, okhttp.ErrWriteTimeout, okhttp.PhaseSend)
			if took := time.Since(start); took != 2*time.Second {
				t.Errorf("took %v", took)
			}
			resp, err := client.Get(t.Context(), "http://a.test/")
			wantBody(t, resp, err, "next")
		}, okhttp.WithWriteTimeout(2*time.Second))
	}
}

// What one call sets does not stick to the connection.
func TestTimeoutsDoNotStick(t *testing.T) {
	piped(t, func(t *testing.T, server *mock.Server, client *okhttp.Client) {
		server.Enqueue(mock.Text("1"), mock.Text("2").WithHeadDelay(5*time.Second), mock.Text("3").WithHeadDelay(5*time.Second))
		for _, c := range []struct {
			timeout time.Duration
			ok      bool
		}{{time.Second, true}, {0, true}, {2 * time.Second, false}} {
			err := finish(client, newRequest(t, "GET", "http://a.test/", nil), okhttp.WithReadTimeout(c.timeout))
			if (err == nil) != c.ok {
				t.Errorf("read timeout %v: %v", c.timeout, err)
			}
		}
		if n := server.ConnectionCount(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}

// A deadline of the caller's is no timeout of the client's.
func TestContextDeadline(t *testing.T) {
	for _, at := range []mock.Trigger{mock.AtResponseStart, mock.AtResponseBody} {
		piped(t, func(t *testing.T, server *mock.Server, client *okhttp.Client) {
			server.Enqueue(stallAt(at))
			boom := errors.New("boom")
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, boom)
			defer cancel()
			start := time.Now()
			err := finish(client, newRequest(t, "GET", "http://a.test/", nil).WithContext(ctx))
			var network net.Error
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, boom) || errors.Is(err, okhttp.ErrCallTimeout) ||
				errors.Is(err, okhttp.ErrReadTimeout) || !errors.As(err, &network) || !network.Timeout() {
				t.Errorf("%v", err)
			}
			if took := time.Since(start); took != time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// P34: nothing that the client waits for ignores the end of a call; and a
// Retry-After that asks to wait is the caller's to obey.
func TestRetryAfterIsNotSleptOn(t *testing.T) {
	piped(t, func(t *testing.T, server *mock.Server, client *okhttp.Client) {
		server.Enqueue(mock.Status(503).WithHeader("Retry-After", "30"))
		start := time.Now()
		resp, err := client.Get(t.Context(), "http://a.test/")
		if err != nil || resp.StatusCode != 503 {
			t.Fatalf("%v %v", resp, err)
		}
		resp.Body.Close()
		if took := time.Since(start); took != 0 || server.RequestCount() != 1 {
			t.Errorf("took %v, %d requests", took, server.RequestCount())
		}
	})
}

// A call that waits for a connection of a host at its limit ends at its own time.
func TestTimeoutInConnectionQueue(t *testing.T) {
	piped(t, func(t *testing.T, server *mock.Server, client *okhttp.Client) {
		server.Enqueue(mock.Text("1").WithHeadDelay(5*time.Second), mock.Text("2"))
		first := make(chan error, 1)
		go func() { first <- finish(client, newRequest(t, "GET", "http://a.test/", nil)) }()
		synctest.Wait()
		start := time.Now()
		err := finish(client, newRequest(t, "GET", "http://a.test/", nil), okhttp.WithCallTimeout(time.Second))
		wantTimeout(t, err, okhttp.ErrCallTimeout, okhttp.PhaseConnect)
		if took := time.Since(start); took != time.Second || !okhttp.SafeToRetry(err) {
			t.Errorf("took %v; safe to retry %t", took, okhttp.SafeToRetry(err))
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		if err := finish(client, newRequest(t, "GET", "http://a.test/", nil)); err != nil {
			t.Error(err)
		}
	}, okhttp.WithMaxConnectionsPerHost(1))
}
