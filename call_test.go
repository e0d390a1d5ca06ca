package okhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/internal/testkit"
	mock "github.com/okhttp-go/okhttp/mockwebserver"
)

func TestCallIsExecutedOnce(t *testing.T) {
	server, client := startPair(t)
	call := client.NewCall(newRequest(t, "GET", server.URL("/"), nil))
	if call.Executed() {
		t.Error("executed before it was")
	}
	resp, err := call.Execute()
	wantBody(t, resp, err, "ok")
	if !call.Executed() || call.Canceled() {
		t.Error("not executed, or canceled")
	}
	if _, err := call.Execute(); !errors.Is(err, okhttp.ErrAlreadyExecuted) {
		t.Errorf("second Execute: %v", err)
	}
	done := make(chan error, 1)
	call.Enqueue(func(_ *http.Response, err error) { done <- err })
	if err := <-done; !errors.Is(err, okhttp.ErrAlreadyExecuted) {
		t.Errorf("Enqueue after Execute: %v", err)
	}
	if n := server.RequestCount(); n != 1 {
		t.Errorf("%d requests", n)
	}
	call.Cancel() // after its end it does nothing
	if call.Canceled() {
		t.Error("a call that has ended is canceled")
	}
}

func TestCloneOfCall(t *testing.T) {
	log := newEventLog(t)
	server, client := startPair(t)
	call := client.NewCall(newRequest(t, "POST", server.URL("/"), strings.NewReader("body")), okhttp.WithEventListener(log),
		okhttp.WithUserAgent("mine"))
	okhttp.SetTag(call, "tag")
	call.Cancel()
	if _, err := call.Execute(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	clone := call.Clone()
	if clone.Canceled() || clone.Executed() || clone.Request() != call.Request() {
		t.Error("a clone is not as new")
	}
	if _, ok := okhttp.Tag[string](clone); ok {
		t.Error("a clone has the tags of the call")
	}
	for range 2 { // the body is had again each time
		resp, err := clone.Execute()
		wantBody(t, resp, err, "ok")
		if r := server.RequireRequest(t); r.Text() != "body" || r.Header.Get("User-Agent") != "mine" {
			t.Errorf("%q by %q", r.Text(), r.Header.Get("User-Agent"))
		}
		clone = clone.Clone()
	}
	once := client.NewCall(newRequest(t, "POST", server.URL("/"), io.MultiReader(strings.NewReader("once"))))
	twin := once.Clone()
	resp, err := once.Execute()
	wantBody(t, resp, err, "ok")
	var fault *okhttp.RequestError
	if _, err := twin.Execute(); !errors.As(err, &fault) {
		t.Errorf("a body that was read is sent again: %v", err)
	}
}

func TestEnqueue(t *testing.T) {
	server, client := startPair(t)
	for _, url := range []string{server.URL("/"), "http://127.0.0.1:1/"} {
		done := make(chan struct{})
		times := 0
		client.NewCall(newRequest(t, "GET", url, nil)).Enqueue(func(resp *http.Response, err error) {
			defer close(done)
			if times++; times > 1 || (resp == nil) == (err == nil) {
				t.Errorf("call %d: %v, %v", times, resp, err)
			}
			if resp != nil {
				resp.Body.Close()
			}
		})
		<-done
	}
}

// A call whose request cannot be is an error, never a panic, and closes the body.
func TestImpossibleRequests(t *testing.T) {
	client := startClient(t)
	for name, req := range map[string]*http.Request{
		"nil": nil, "no URL": {Method: "GET"},
	} {
		_, err := client.Do(req)
		var fault *okhttp.RequestError
		if !errors.As(err, &fault) || !okhttp.SafeToRetry(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, url := range []string{"ftp://example.com/", "http:///path", "http://a b/"} {
		if _, err := client.Get(t.Context(), url); err == nil || strings.Count(err.Error(), "okhttp: ") != 1 || !okhttp.SafeToRetry(err) {
			t.Errorf("%s: %v", url, err)
		}
	}
	closed := 0
	req := newRequest(t, "POST", "ftp://example.com/", nil)
	req.Body = &countedBody{strings.NewReader("x"), &closed}
	if _, err := client.Do(req); err == nil || closed != 1 {
		t.Errorf("%v, body closed %d times", err, closed)
	}
}

// P40: derived clients share connections, however many there are.
func TestDerivedClientsShareConnections(t *testing.T) {
	server, client := startPair(t)
	before := runtime.NumGoroutine()
	for i := range 1000 {
		derived := client.With(okhttp.WithUserAgent(fmt.Sprint("agent ", i)), okhttp.WithReadTimeout(time.Minute))
		resp, err := derived.Get(t.Context(), server.URL("/"))
		wantBody(t, resp, err, "ok")
		if derived.Pool() != client.Pool() || derived.Dispatcher() != client.Dispatcher() {
			t.Fatal("nothing is shared")
		}
	}
	if n := server.ConnectionCount(); n != 1 {
		t.Errorf("%d connections", n)
	}
	if after := runtime.NumGoroutine(); after > before+2 { // the server's
		t.Errorf("%d goroutines, %d before", after, before)
	}
	for range 1000 {
		if got := server.RequireRequest(t).Header.Get("User-Agent"); !strings.HasPrefix(got, "agent ") {
			t.Fatalf("User-Agent %q", got)
		}
	}
	client.Close()
	_, err := client.With(okhttp.WithUserAgent("x")).Get(t.Context(), server.URL("/"))
	if !errors.Is(err, okhttp.ErrClosed) || !errors.Is(err, net.ErrClosed) {
		t.Errorf("a derived client outlives the client: %v", err)
	}
}

func TestDerivedClientsDoNotMixOptions(t *testing.T) {
	var got []string
	named := func(name string) okhttp.Option {
		return okhttp.WithInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
			got = append(got, name)
			return ch.Proceed(ch.Request())
		}))
	}
	server, client := startPair(t, named("base"))
	left, right := client.With(named("left")), client.With(named("right"))
	for _, c := range []*okhttp.Client{client, left, right} {
		resp, err := c.Get(t.Context(), server.URL("/"))
		wantBody(t, resp, err, "ok")
	}
	if want := "base base left base right"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	own := client.With(okhttp.WithMaxIdleConnections(3))
	defer own.Close()
	if own.Pool() == client.Pool() || own.Dispatcher() != client.Dispatcher() {
		t.Error("an option of the pool does not give a pool of its own")
	}
	own.Close() // ends its own pool only
	resp, err := client.Get(t.Context(), server.URL("/"))
	wantBody(t, resp, err, "ok")
}

// P16: Close ends every call, and leaves no goroutine and no socket.
func TestCloseEndsEverything(t *testing.T) {
	testkit.CheckGoroutines(t)
	stall := mock.New(t, mock.WithFallback(mock.Text("never").WithEffect(mock.AtResponseStart, mock.Stall())))
	half := mock.New(t, mock.WithFallback(mock.Text("half of a body").WithEffect(mock.AtResponseBody, mock.Stall())))
	quick := mock.New(t, mock.WithFallback(mock.Text("ok")))
	log := newEventLog(t)
	client := startClient(t, okhttp.WithEventListener(log),
		okhttp.WithAddressDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			if strings.HasSuffix(addr, ":9") {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		}))
	client.Dispatcher().SetMaxCallsPerHost(10)
	urls := []string{stall.URL("/"), half.URL("/"), quick.URL("/"), "http://127.0.0.1:9/", stall.URL("/post")}
	var group sync.WaitGroup
	var mu sync.Mutex
	failed := 0
	result := func(resp *http.Response, err error) {
		defer group.Done()
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed++
			if !errors.Is(err, okhttp.ErrClosed) {
				t.Errorf("%v", err)
			}
		}
	}
	for i := range 50 {
		group.Add(1)
		req := newRequest(t, "GET", urls[i%len(urls)], nil)
		if i%len(urls) == 4 {
			req = newRequest(t, "POST", urls[4], io.LimitReader(endlessZeros{}, 8<<20))
		}
		if call := client.NewCall(req); i%2 == 0 {
			call.Enqueue(result)
		} else {
			go func() { result(call.Execute()) }()
		}
	}
	for stall.ConnectionCount() < 10 || half.ConnectionCount() < 5 || client.Pool().Stats().Dialing < 5 {
		time.Sleep(time.Millisecond)
	}
	client.Close()
	group.Wait()
	if failed < 20 {
		t.Errorf("%d calls have failed", failed)
	}
	if s := client.Pool().Stats(); s.Open != 0 || s.Dialing != 0 || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
	for _, server := range []*mock.Server{stall, half, quick} {
		if err := server.WaitOpen(t.Context(), 0); err != nil {
			t.Error(err)
		}
	}
	if _, err := client.Get(t.Context(), quick.URL("/")); !errors.Is(err, okhttp.ErrClosed) || !okhttp.SafeToRetry(err) {
		t.Errorf("after Close: %v", err)
	}
}

type endlessZeros struct{}

func (endlessZeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// P16: giving up on one call touches no other connection.
func TestFailuresLeaveOthersAlone(t *testing.T) {
	good := mock.New(t, mock.WithFallback(mock.Text("ok")))
	bad := mock.New(t, mock.WithFallback(mock.Response{}.WithEffect(mock.AtRequestEnd, mock.ResetConnection())))
	client := startClient(t)
	for range 10 {
		resp, err := client.Get(t.Context(), good.URL("/"))
		wantBody(t, resp, err, "ok")
		if _, err := client.Get(t.Context(), bad.URL("/")); err == nil {
			t.Fatal("no error")
		}
	}
	if n := good.ConnectionCount(); n != 1 {
		t.Errorf("%d connections to the good server", n)
	}
}

func TestCloseIdleConnections(t *testing.T) {
	server, client := startPair(t)
	resp, err := client.Get(t.Context(), server.URL("/"))
	if err != nil {
		t.Fatal(err)
	}
	client.CloseIdleConnections() // this one is in use
	wantBody(t, resp, err, "ok")
	if s := client.Pool().Stats(); s.Idle != 1 {
		t.Errorf("%+v", s)
	}
	(&http.Client{Transport: client}).CloseIdleConnections()
	if err := server.WaitOpen(t.Context(), 0); err != nil {
		t.Error(err)
	}
	resp, err = client.Get(t.Context(), server.URL("/"))
	wantBody(t, resp, err, "ok")
}

// makeLeak is the place that a leak must name.
func makeLeak(t *testing.T, client *okhttp.Client, ctx context.Context, url string) {
	resp, err := client.Get(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

func TestLeakDetector(t *testing.T) {
	leaks := make(chan okhttp.Leak, 10)
	server := mock.New(t, mock.WithFallback(mock.Text(strings.Repeat("long ", 1000))))
	client := startClient(t, okhttp.WithLeakDetector(func(l okhttp.Leak) { leaks <- l }))

	for _, path := range []string{"read", "closed"} {
		resp, err := client.Get(t.Context(), server.URL(path))
		if err != nil {
			t.Fatal(err)
		}
		if path == "read" {
			io.Copy(io.Discard, resp.Body)
		} else {
			resp.Body.Close()
		}
	}
	long, cancel := context.WithCancel(context.Background()) // as long as the program, for example
	defer cancel()
	for name, ctx := range map[string]context.Context{"background": context.Background(), "cancelable": long} {
		makeLeak(t, client, ctx, server.URL("/leak?secret=1"))
		var leak okhttp.Leak
		deadline := time.After(10 * time.Second)
		for found := false; !found; {
			runtime.GC()
			select {
			case leak = <-leaks:
				found = true
			case <-deadline:
				t.Fatalf("%s: the leak is not found", name)
			case <-time.After(time.Millisecond):
			}
		}
		if leak.Method != "GET" || !strings.Contains(server.URL("/"), leak.Host) || !strings.Contains(leak.Stack, "makeLeak") {
			t.Errorf("%s: %+v", name, leak)
		}
		if first, _, _ := strings.Cut(leak.Stack, "\n"); strings.Contains(first, "okhttp.(*Call)") {
			t.Errorf("%s: the stack begins within the client:\n%s", name, leak.Stack)
		}
		if text := leak.String(); strings.Contains(text, "secret") || !strings.Contains(text, "never closed") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if len(leaks) > 0 {
		t.Errorf("a body that was read or closed: %v", <-leaks)
	}
	for client.Pool().Stats().Open != client.Pool().Stats().Idle {
		time.Sleep(time.Millisecond) // released before it was reported
	}
}

// The context of a call that is over has ended for whoever asks only now, and
// holds on to nothing.
func TestContextAfterTheCall(t *testing.T) {
	server, client := startPair(t)
	call := client.NewCall(newRequest(t, "GET", server.URL("/"), nil))
	resp, err := call.Execute()
	wantBody(t, resp, err, "ok")
	select {
	case <-call.Context().Done():
	default:
		t.Error("it has not ended")
	}
	if err := call.Context().Err(); err != context.Canceled {
		t.Error(err)
	}
}
