package okhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp"
	mock "github.com/okhttp-go/okhttp/mockwebserver"
)

// fault is how a server breaks a connection under a request.
type fault int

const (
	closedBefore   fault = iota // orderly, before the request: it can be noticed
	resetBefore                 // by a reset, before the request
	closedUnseen                // when the request's first bytes arrive, with a FIN
	resetUnseen                 // the same, with a reset
	closedAfter                 // orderly, after the whole request was read
	resetAfter                  // by a reset, after the whole request was read
	closedInHead                // within the response head
	garbage                     // an answer that is not HTTP
	closedInStatus              // after a 100 Continue
)

var faultNames = [...]string{"closed before", "reset before", "closed at first bytes", "reset at first bytes",
	"closed after", "reset after", "closed in head", "garbage", "closed after 100"}

func (f fault) String() string { return faultNames[f] }

// brokenServer breaks its first connection, on which it may have served a
// request before, and serves all others well.
type brokenServer struct {
	t      *testing.T
	fault  fault
	reused bool
	ln     net.Listener
	broken chan struct{} // closed when the connection is broken, for faults before the request

	mu       sync.Mutex
	requests int // whose whole bodies arrived, after the first good one
	conns    int
}

func serveBroken(t *testing.T, f fault, reused bool) *brokenServer {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &brokenServer{t: t, fault: f, reused: reused, ln: ln, broken: make(chan struct{})}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns++
			first := s.conns == 1
			s.mu.Unlock()
			work.Go(func() { s.serve(conn.(*net.TCPConn), first) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		work.Wait()
	})
	return s
}

func (s *brokenServer) url() string { return "http://" + s.ln.Addr().String() + "/" }

func (s *brokenServer) count() (requests, conns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.conns
}

const goodAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"

func (s *brokenServer) serve(conn *net.TCPConn, first bool) {
	defer conn.Close()
	in := newWireReader(conn)
	if !first {
		for in.request() {
			s.seen()
			io.WriteString(conn, goodAnswer)
		}
		return
	}
	if s.reused {
		if !in.request() {
			return
		}
		io.WriteString(conn, goodAnswer)
	}
	reset := func() { conn.SetLinger(0) }
	switch s.fault {
	case closedBefore, resetBefore:
		if s.fault == resetBefore {
			reset()
		}
		conn.Close()
		close(s.broken)
		return
	case closedUnseen, resetUnseen:
		if s.fault == resetUnseen {
			reset()
		}
		in.Peek(1)
		return
	}
	if !in.request() {
		return
	}
	s.seen()
	switch s.fault {
	case closedAfter:
	case resetAfter:
		reset()
	case closedInHead:
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Le")
	case garbage:
		io.WriteString(conn, "\x16\x03\x01 what?\r\n\r\n")
	case closedInStatus:
		io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n")
	}
}

func (s *brokenServer) seen() {
	s.mu.Lock()
	s.requests++
	s.mu.Unlock()
}

// sender is a kind of request.
type sender struct {
	name       string
	idempotent bool // may be repeated though it may have been processed
	replayable bool // its body can be had again
	make       func(url string) *http.Request
	options    []okhttp.Option
}

const retryBody = "the body of a request"

func senders(t *testing.T) []sender {
	request := func(method string, body func() io.Reader, header ...string) func(string) *http.Request {
		return func(url string) *http.Request {
			var r io.Reader
			if body != nil {
				r = body()
			}
			req := newRequest(t, method, url, r)
			for i := 0; i < len(header); i += 2 {
				req.Header.Set(header[i], header[i+1])
			}
			return req
		}
	}
	memory := func() io.Reader { return strings.NewReader(retryBody) }
	oneShot := func() io.Reader { return io.MultiReader(strings.NewReader(retryBody)) }
	idempotent := []okhttp.Option{okhttp.WithIdempotent(true)}
	return []sender{
		{"GET", true, true, request("GET", nil), nil},
		{"PUT", true, true, request("PUT", memory), nil},
		{"POST", false, true, request("POST", memory), nil},
		{"POST empty", false, true, request("POST", nil), nil},
		{"POST with key", true, true, request("POST", memory, "Idempotency-Key", "1"), nil},
		{"POST marked", true, true, request("POST", memory), idempotent},
		{"POST one-shot", false, false, request("POST", oneShot), nil},
		{"PUT one-shot", true, false, request("PUT", oneShot), nil},
		{"POST one-shot marked", true, false, request("POST", oneShot), idempotent},
	}
}

// outcome is what must come of it.
type outcome struct {
	requests int  // that the server read in full; -1 for zero or one
	ok       bool // else an error:
	unknown  bool // ErrOutcomeUnknown
	decided  bool // there was a RetryDecision
}

// expect is the retry table in words.
func expect(f fault, reused bool, s sender, retry bool) outcome {
	switch f {
	case closedBefore, resetBefore:
		if reused { // noticed before it was used: no failure at all
			return outcome{requests: 1, ok: true}
		}
		fallthrough
	case closedUnseen, resetUnseen, closedAfter, resetAfter:
		seen := 0
		if f == closedAfter || f == resetAfter {
			seen = 1
		}
		canRepeat := s.idempotent && s.replayable
		if reused && retry && canRepeat {
			return outcome{requests: seen + 1, ok: true, decided: true}
		}
		// A fresh connection that breaks is no stale one: there is no second address.
		return outcome{requests: seen, unknown: !canRepeat, decided: true}
	default: // the peer has answered something
		return outcome{requests: 1, decided: true}
	}
}

// TestRetryTable is the whole table: which broken exchanges are repeated, and
// what the error says where they are not.
func TestRetryTable(t *testing.T) {
	for f := range fault(len(faultNames)) {
		for _, reused := range []bool{true, false} {
			for _, s := range senders(t) {
				for _, retry := range []bool{true, false} {
					name := fmt.Sprintf("%s/reused=%t/%s/retry=%t", f, reused, s.name, retry)
					t.Run(name, func(t *testing.T) { retryOnce(t, f, reused, s, retry) })
				}
			}
		}
	}
}

func retryOnce(t *testing.T, f fault, reused bool, s sender, retry bool) {
	server := serveBroken(t, f, reused)
	log := newEventLog(t)
	opts := append([]okhttp.Option{okhttp.WithRetryOnConnectionFailure(retry), okhttp.WithEventListener(log)}, s.options...)
	client := startClient(t, opts...)
	if reused {
		resp, err := client.Get(t.Context(), server.url())
		wantBody(t, resp, err, "good")
		if f == closedBefore || f == resetBefore {
			<-server.broken
		}
	}
	want := expect(f, reused, s, retry)
	resp, err := client.Do(s.make(server.url()))
	if want.ok {
		wantBody(t, resp, err, "good")
	} else if err == nil {
		resp.Body.Close()
		t.Fatalf("%s instead of an error", resp.Status)
	}
	decisions := 0
	for _, e := range log.of(log.last()) {
		if e, ok := e.(okhttp.RetryDecision); ok {
			decisions++
			if e.Retry != want.ok {
				t.Errorf("decision %t: %s", e.Retry, e.Reason)
			}
		}
	}
	if decisions > 1 || (decisions == 1) != want.decided {
		t.Errorf("%d decisions; %s", decisions, names(log.of(log.last())))
	}
	if got := errors.Is(err, okhttp.ErrOutcomeUnknown); got != want.unknown && !provenUnsent(err, want) {
		t.Errorf("unknown outcome %t: %v", got, err)
	}
	if okhttp.SafeToRetry(err) && want.requests > 0 {
		t.Errorf("not safe to retry, the server had it: %v", err)
	}
	if requests, _ := server.count(); requests != want.requests {
		t.Errorf("the server read %d requests, want %d", requests, want.requests)
	}
	// Whatever happened, the next call works.
	if !reused && want.ok {
		return
	}
	resp, err = client.Get(t.Context(), server.url())
	wantBody(t, resp, err, "good")
}

// provenUnsent allows for a kernel that refused the first write: then the
// request provably did not leave, which is more than the table asks for.
func provenUnsent(err error, want outcome) bool {
	return want.requests == 0 && okhttp.SafeToRetry(err)
}

// P3, test 1: the server closes an idle connection, the client then POSTs.
func TestIdleConnectionClosedByServer(t *testing.T) {
	server := mock.New(t)
	server.Enqueue(mock.Text("1").WithEffect(mock.AtResponseEnd, mock.Pause(50*time.Millisecond), mock.CloseConnection()), mock.Text("2"))
	client := startClient(t)
	resp, err := client.Get(t.Context(), server.URL("/"))
	wantBody(t, resp, err, "1")
	if err := server.WaitOpen(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	resp, err = client.Post(t.Context(), server.URL("/"), "text/plain", io.MultiReader(strings.NewReader("once")))
	wantBody(t, resp, err, "2")
	server.RequireRequest(t)
	if r := server.RequireRequest(t); r.Method != "POST" || r.Text() != "once" || r.ConnectionIndex != 1 {
		t.Errorf("%s %q on connection %d", r.Method, r.Text(), r.ConnectionIndex)
	}
	if n := server.RequestCount(); n != 2 {
		t.Errorf("%d requests", n)
	}
	if s := client.Pool().Stats(); s.Discarded != 1 || s.Opened != 2 {
		t.Errorf("%+v", s)
	}
}

// P3, test 2: the server reads the request fully, then closes.
func TestConnectionClosedAfterRequest(t *testing.T) {
	for method, repeated := range map[string]bool{"POST": false, "PATCH": false, "PUT": true, "GET": true, "DELETE": true} {
		t.Run(method, func(t *testing.T) {
			server := mock.New(t)
			server.Enqueue(mock.Text("1"), mock.Response{}.WithEffect(mock.AtRequestEnd, mock.CloseConnection()), mock.Text("2"))
			client := startClient(t)
			resp, err := client.Get(t.Context(), server.URL("/"))
			wantBody(t, resp, err, "1")
			var body io.Reader
			if method != "GET" {
				body = strings.NewReader("once")
			}
			resp, err = client.Do(newRequest(t, method, server.URL("/"), body))
			if repeated {
				wantBody(t, resp, err, "2")
			} else {
				var failed *okhttp.Error
				if !errors.Is(err, okhttp.ErrOutcomeUnknown) || !errors.As(err, &failed) || okhttp.SafeToRetry(err) {
					t.Fatalf("%v", err)
				}
				if failed.Phase != okhttp.PhaseReceive || failed.Addr == "" || failed.Host == "" {
					t.Errorf("%+v", failed)
				}
			}
			want := 2
			if repeated {
				want = 3
			}
			if n := server.RequestCount(); n != want {
				t.Errorf("%d requests, want %d", n, want)
			}
		})
	}
}

// An error after retries tells of those that failed before it. After the stale
// connection its route is dialled again, and when that breaks too the routes are
// looked up anew, since the host may have moved; then there is nothing left.
func TestRetriedFailuresAreKept(t *testing.T) {
	server := mock.New(t)
	hangUp := mock.Response{}.WithEffect(mock.AtRequestEnd, mock.CloseConnection())
	server.Enqueue(mock.Text("1"), hangUp, hangUp, hangUp)
	log := newEventLog(t)
	client := startClient(t, okhttp.WithEventListener(log))
	resp, err := client.Get(t.Context(), server.URL("/"))
	wantBody(t, resp, err, "1")
	_, err = client.Get(t.Context(), server.URL("/"))
	var failed *okhttp.Error
	if !errors.As(err, &failed) || len(failed.Prior) != 2 {
		t.Fatalf("%v", err)
	}
	if n := server.RequestCount(); n != 4 {
		t.Errorf("%d requests", n)
	}
	log.want(`CallStart Acquired(reused) request RespFailed Retry(true) Released ConnStart ConnEnd(http/1.1) Acquired
		request RespFailed Retry(true) Released select ConnStart ConnEnd(http/1.1) Acquired
		request RespFailed Retry(false) Released CallFailed`)
}

// A body of which a part was read is had again whole, by GetBody, once.
func TestRetryReadsTheBodyAgain(t *testing.T) {
	const size = 1 << 20
	server := mock.New(t)
	server.Enqueue(mock.Text("1"), mock.Response{}.WithEffect(mock.AtRequestBody, mock.ResetConnection()), mock.Text("2"))
	client := startClient(t)
	resp, err := client.Get(t.Context(), server.URL("/"))
	wantBody(t, resp, err, "1")
	server.RequireRequest(t)

	whole := strings.Repeat("0123456789abcdef", size/16)
	var copies, closed int
	req := newRequest(t, "PUT", server.URL("/"), nil)
	get := func() (io.ReadCloser, error) {
		copies++
		return &countedBody{strings.NewReader(whole), &closed}, nil
	}
	req.Body, _ = get()
	req.GetBody, req.ContentLength = get, size
	resp, err = client.Do(req)
	wantBody(t, resp, err, "2")
	server.RequireRequest(t) // cut short
	if r := server.RequireRequest(t); r.Text() != whole {
		t.Errorf("the second attempt sent %d bytes", r.BodySize)
	}
	if copies != 2 || closed != 2 {
		t.Errorf("%d bodies, %d closed", copies, closed)
	}
}

type countedBody struct {
	io.Reader
	closed *int
}

func (b *countedBody) Close() error { *b.closed++; return nil }

// An interceptor that fails, and a body that does, are no reason to try again.
func TestOnlyTheConnectionIsRetried(t *testing.T) {
	server := mock.New(t, mock.WithFallback(mock.Text("ok")))
	log := newEventLog(t)
	boom := errors.New("boom")
	client := startClient(t, okhttp.WithEventListener(log),
		okhttp.WithNetworkInterceptor(okhttp.InterceptorFunc(func(ch *okhttp.Chain) (*http.Response, error) {
			if ch.Request().Header.Get("Fail") != "" {
				return nil, boom
			}
			return ch.Proceed(ch.Request())
		})))
	resp, err := client.Get(t.Context(), server.URL("/"))
	wantBody(t, resp, err, "ok")
	req := newRequest(t, "GET", server.URL("/"), nil)
	req.Header.Set("Fail", "1")
	if _, err := client.Do(req); !errors.Is(err, boom) {
		t.Error(err)
	}
	log.want(`CallStart Acquired(reused) Retry(false) Released CallFailed`)
	_, err = client.Post(context.Background(), server.URL("/"), "text/plain", failingReader{})
	var fault *okhttp.BodyError
	if !errors.As(err, &fault) || !errors.Is(err, errReader) {
		t.Error(err)
	}
	if n := server.RequestCount(); n > 2 {
		t.Errorf("%d requests", n)
	}
}

// SafeToRetry speaks of the whole call: what an earlier exchange of it may have
// done is not undone by the failure to open another connection.
func TestSafeToRetryIsOfTheWholeCall(t *testing.T) {
	refused := "http://127.0.0.1:1/"
	t.Run("first exchange", func(t *testing.T) {
		_, err := startClient(t).Post(t.Context(), refused, "text/plain", strings.NewReader("body"))
		if !okhttp.SafeToRetry(err) {
			t.Errorf("not safe: %v", err)
		}
	})
	t.Run("after a redirect", func(t *testing.T) {
		server := mock.New(t)
		server.Enqueue(mock.Status(307).WithHeader("Location", refused))
		_, err := startClient(t).Post(t.Context(), server.URL("/"), "text/plain", strings.NewReader("body"))
		if err == nil || okhttp.SafeToRetry(err) {
			t.Errorf("safe: %v", err)
		}
	})
	t.Run("after a retry", func(t *testing.T) {
		server := serveBroken(t, closedAfter, true)
		client := startClient(t)
		resp, err := client.Get(t.Context(), server.url())
		wantBody(t, resp, err, "good")
		server.ln.Close() // the retry cannot connect
		_, err = client.Do(newRequest(t, "PUT", server.url(), strings.NewReader("body")))
		if err == nil || okhttp.SafeToRetry(err) {
			t.Errorf("safe: %v", err)
		}
	})
	t.Run("after an interceptor's first request", func(t *testing.T) {
		server, client := startPair(t, okhttp.WithInterceptor(interceptor(func(ch *okhttp.Chain) (*http.Response, error) {
			resp, err := ch.Proceed(ch.Request())
			if err != nil {
				return nil, err
			}
			resp.Body.Close()
			return ch.Proceed(newRequest(t, "GET", refused, nil))
		})))
		_, err := client.Get(t.Context(), server.URL("/"))
		if err == nil || okhttp.SafeToRetry(err) {
			t.Errorf("safe: %v", err)
		}
	})
}
