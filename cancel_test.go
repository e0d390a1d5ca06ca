package okhttp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/internal/testkit"
	mock "github.com/okhttp-go/okhttp/mockwebserver"
)

// cancelable is a kind of call that is canceled at each of its events in turn.
type cancelable struct {
	name   string
	secure bool
	post   bool
	expect bool
}

// longAnswer does not arrive with its head, so that reading it can be interrupted.
var longAnswer = strings.Repeat("0123456789abcdef", 3<<11)

// request is a new request of that kind, with a body that notes its use.
func (c cancelable) request(t *testing.T, url string) (*http.Request, *watchedBody) {
	if !c.post {
		return newRequest(t, "GET", url, nil), nil
	}
	body := &watchedBody{Reader: io.LimitReader(endlessZeros{}, 64<<10)}
	req := newRequest(t, "POST", url, body)
	if c.expect {
		req.Header.Set("Expect", "100-continue")
	}
	return req, body
}

// watchedBody is a request body that says when it is used after its end.
type watchedBody struct {
	io.Reader
	returned, late atomic.Bool
	closed         atomic.Int32
}

func (b *watchedBody) Read(p []byte) (int, error) {
	if b.returned.Load() {
		b.late.Store(true)
	}
	return b.Reader.Read(p)
}

func (b *watchedBody) Close() error {
	if b.returned.Load() {
		b.late.Store(true)
	}
	b.closed.Add(1)
	return nil
}

// TestCancelAtEachEvent records a call, and then cancels further ones exactly
// when each of those events is reported.
func TestCancelAtEachEvent(t *testing.T) {
	for _, kind := range []cancelable{
		{name: "GET"}, {name: "POST", post: true}, {name: "POST expecting", post: true, expect: true},
		{name: "GET by TLS", secure: true}, {name: "POST by TLS", secure: true, post: true},
	} {
		t.Run(kind.name, func(t *testing.T) {
			testkit.CheckGoroutines(t)
			opts := []mock.Option{mock.WithFallback(mock.Text(longAnswer)), mock.WithHostName("server.test"),
				mock.WithAutoContinue(), mock.WithoutRecording(), mock.WithLogf(func(string, ...any) {})}
			if kind.secure {
				opts = append(opts, mock.WithTLS())
			}
			server := mock.New(t, opts...)
			for _, event := range recordEvents(t, kind, server) {
				for _, way := range []string{"Cancel", "context"} {
					t.Run(event+" by "+way, func(t *testing.T) { cancelAt(t, kind, server, event, way) })
				}
			}
		})
	}
}

func clientFor(t *testing.T, server *mock.Server, secure bool, opts ...okhttp.Option) *okhttp.Client {
	opts = append(opts, okhttp.WithDNS(serverTest))
	if secure {
		opts = append(opts, okhttp.WithTLSConfig(server.ClientTLS()))
	}
	return startClient(t, opts...)
}

// recordEvents returns the events of a call that succeeds, each once.
func recordEvents(t *testing.T, kind cancelable, server *mock.Server) []string {
	log := newEventLog(t)
	client := clientFor(t, server, kind.secure, okhttp.WithEventListener(log))
	req, _ := kind.request(t, server.URL("/"))
	resp, err := client.Do(req)
	wantBody(t, resp, err, longAnswer)
	log.await(log.last(), isTerminal)
	client.Close()
	var events []string
	seen := map[string]bool{}
	for _, e := range log.of(log.last()) {
		if name := short(e); !seen[name] {
			seen[name] = true
			events = append(events, name)
		}
	}
	return events
}

func cancelAt(t *testing.T, kind cancelable, server *mock.Server, at, way string) {
	boom := errors.New("boom")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	log := newEventLog(t)
	var hit atomic.Bool
	log.onEvent(func(call *okhttp.Call, e okhttp.Event) {
		if short(e) != at || hit.Swap(true) {
			return
		}
		if way == "Cancel" {
			call.Cancel()
			return
		}
		cancel(boom)
		if at == "CallStart" {
			return // the context is looked at next
		}
		for end := time.Now().Add(time.Second); !call.Canceled() && time.Now().Before(end) && at != "Released" && !isTerminal(e); {
			time.Sleep(100 * time.Microsecond) // the context tells the call on another goroutine
		}
	})
	client := clientFor(t, server, kind.secure)
	req, body := kind.request(t, server.URL("/"))
	call := client.NewCall(req.WithContext(ctx), okhttp.WithEventListener(log))
	start := time.Now()
	resp, err := call.Execute()
	if err == nil {
		var text bytes.Buffer
		_, err = io.Copy(struct{ io.Writer }{&text}, resp.Body)
		resp.Body.Close()
		if err == nil && text.String() != longAnswer {
			t.Errorf("%d bytes without an error", text.Len())
		}
	}
	if body != nil {
		body.returned.Store(true)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	complete := strings.HasPrefix(at, "RespBodyEnd") || at == "Released" || at == "CallEnd" ||
		strings.HasPrefix(at, "ReqBodyEnd") && kind.secure // over HTTP/2 the body is sent beside, and all may be over
	switch {
	case complete && err == nil:
	case !errors.Is(err, context.Canceled):
		t.Errorf("%v", err)
	case way == "context" && !errors.Is(err, boom):
		t.Errorf("without its cause: %v", err)
	case !strings.HasPrefix(err.Error(), "okhttp: ") || strings.Count(err.Error(), "okhttp: ") != 1:
		t.Errorf("text: %v", err)
	}
	if !hit.Load() {
		t.Fatalf("there was no %s: %s", at, names(log.of(call)))
	}
	log.await(call, isTerminal)
	if s := client.Pool().Stats(); s.Open-s.Idle != 0 || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
	// The next call works, and takes nothing of the canceled one.
	next, err := client.Get(t.Context(), server.URL("/"))
	wantBody(t, next, err, longAnswer)
	client.Close()
	patience, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	if err := server.WaitOpen(patience, 0); err != nil {
		t.Error(err)
	}
	if body != nil && (body.late.Load() || body.closed.Load() != 1) {
		t.Errorf("the request body: used late %t, closed %d times", body.late.Load(), body.closed.Load())
	}
}

func TestCancelWhileBlocked(t *testing.T) {
	black := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	stalled := func(at mock.Trigger) []mock.Response {
		return []mock.Response{mock.Text("never").WithEffect(at, mock.Stall())}
	}
	for _, c := range []struct {
		name   string
		script []mock.Response
		option okhttp.Option
		upload bool
		at     string // the last event before it blocks
	}{
		{name: "connecting", option: okhttp.WithDialer(black), at: "ConnStart"},
		{name: "waiting for the head", script: stalled(mock.AtResponseStart), at: "ReqHdrEnd"},
		{name: "reading the body", script: stalled(mock.AtResponseBody), at: "FollowUp(none)"},
		{name: "uploading", script: stalled(mock.AtRequestStart), upload: true, at: "ReqBodyStart"},
	} {
		t.Run(c.name, func(t *testing.T) {
			testkit.CheckGoroutines(t)
			server := mock.New(t)
			server.Enqueue(c.script...)
			log := newEventLog(t)
			client := startClient(t, okhttp.WithEventListener(log))
			req := newRequest(t, "GET", server.URL("/"), nil)
			if c.upload {
				req = newRequest(t, "POST", server.URL("/"), io.LimitReader(endlessZeros{}, 1<<30))
			}
			call := client.NewCall(req, orNothing(c.option))
			failed := make(chan error, 1)
			go func() {
				resp, err := call.Execute()
				if err == nil {
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				failed <- err
			}()
			log.await(call, func(e okhttp.Event) bool { return short(e) == c.at })
			time.Sleep(5 * time.Millisecond) // let it block; canceling before is tested above
			start := time.Now()
			call.Cancel()
			call.Cancel()
			if err := <-failed; !errors.Is(err, context.Canceled) || okhttp.SafeToRetry(err) != (c.at == "ConnStart") {
				t.Errorf("%v; safe to retry %t", err, okhttp.SafeToRetry(err))
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func orNothing(o okhttp.Option) okhttp.Option {
	if o == nil {
		return okhttp.WithEventListener(nil)
	}
	return o
}

// A call that is canceled within an interceptor, after it has its response, fails
// all the same, and the response is closed.
func TestCancelLate(t *testing.T) {
	server, client := startPair(t, okhttp.WithInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
		resp, err := ch.Proceed(ch.Request())
		ch.Call().Cancel()
		return resp, err
	})))
	if _, err := client.Get(t.Context(), server.URL("/")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Cancel and the end of a call in a race, from several goroutines.
func TestCancelRaces(t *testing.T) {
	server, client := startPair(t)
	for i := range 200 {
		ctx, cancel := context.WithCancel(context.Background())
		call := client.NewCall(newRequest(t, "POST", server.URL("/"), io.LimitReader(endlessZeros{}, 1<<10)).WithContext(ctx))
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(time.Duration(i) * 5 * time.Microsecond)
			call.Cancel()
		}()
		go cancel()
		if i%2 == 0 {
			go call.Cancel()
		}
		resp, err := call.Execute()
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		<-done
		cancel()
	}
	resp, err := client.Get(t.Context(), server.URL("/"))
	wantBody(t, resp, err, "ok")
}

// The deprecated Request.Cancel works, and leaves no goroutine.
func TestRequestCancelChannel(t *testing.T) {
	testkit.CheckGoroutines(t)
	server, client := startPair(t)
	server.Enqueue(mock.Text("never").WithEffect(mock.AtResponseStart, mock.Stall()), mock.Text("2"))
	for i := range 2 {
		stop := make(chan struct{})
		req := newRequest(t, "GET", server.URL("/"), nil)
		//lint:ignore SA1019 this is its test
		req.Cancel = stop //nolint:staticcheck // see above
		if i == 0 {
			go func() {
				defer close(stop)
				server.TakeRequest(context.Background())
			}()
		}
		resp, err := client.Do(req)
		if i == 1 {
			wantBody(t, resp, err, "2")
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}
