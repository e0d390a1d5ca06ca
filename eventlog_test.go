package okhttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp"
)

// eventLog is a listener that keeps what it hears, checks that it may call back
// into the client, and holds each call to the invariants of the events.
type eventLog struct {
	t      *testing.T
	client atomic.Pointer[okhttp.Client]

	mu      sync.Mutex
	events  map[*okhttp.Call][]okhttp.Event
	order   []*okhttp.Call
	changed chan struct{}
	hook    func(*okhttp.Call, okhttp.Event)
}

func newEventLog(t *testing.T) *eventLog {
	l := &eventLog{t: t, events: map[*okhttp.Call][]okhttp.Event{}, changed: make(chan struct{})}
	t.Cleanup(func() {
		l.mu.Lock() // Canceled may still come, from another goroutine
		defer l.mu.Unlock()
		for _, call := range l.order {
			checkInvariants(t, l.events[call])
		}
	})
	return l
}

func (l *eventLog) OnEvent(call *okhttp.Call, event okhttp.Event) {
	l.callBack(call, event)
	l.mu.Lock()
	if _, known := l.events[call]; !known {
		l.order = append(l.order, call)
	}
	l.events[call] = append(l.events[call], event)
	close(l.changed)
	l.changed = make(chan struct{})
	hook := l.hook
	l.mu.Unlock()
	if hook != nil {
		hook(call, event)
	}
}

// callBack uses everything that a listener may use, on another goroutine: were
// the client to hold a lock meanwhile, this would not end.
func (l *eventLog) callBack(call *okhttp.Call, event okhttp.Event) {
	free := make(chan struct{})
	go func() {
		defer close(free)
		okhttp.SetTag(call, l)
		_, _, _ = call.Canceled(), call.Context().Err(), call.Request()
		if c := l.client.Load(); c != nil {
			_, _ = c.Pool().Stats(), c.Pool().Connections()
			_, _, _ = c.Dispatcher().Stats(), c.Dispatcher().Running(), c.Dispatcher().Waiting()
		}
		if e, ok := event.(okhttp.ConnectionAcquired); ok {
			_, _ = e.Connection.RemoteAddr(), e.Connection.Route()
		}
	}()
	select {
	case <-free:
	case <-time.After(5 * time.Second):
		l.t.Errorf("a lock is held while %s is reported", short(event))
	}
}

// onEvent sets what is called after each event was noted.
func (l *eventLog) onEvent(f func(*okhttp.Call, okhttp.Event)) {
	l.mu.Lock()
	l.hook = f
	l.mu.Unlock()
}

// of returns the events of a call so far.
func (l *eventLog) of(call *okhttp.Call) []okhttp.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events[call])
}

// last returns the call whose first event came last.
func (l *eventLog) last() *okhttp.Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.order) == 0 {
		l.t.Fatal("no call was reported")
	}
	return l.order[len(l.order)-1]
}

// await waits until the call has an event for which is returns true.
func (l *eventLog) await(call *okhttp.Call, is func(okhttp.Event) bool) {
	l.t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		l.mu.Lock()
		found, changed := slices.ContainsFunc(l.events[call], is), l.changed
		l.mu.Unlock()
		if found {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			l.t.Fatalf("the event does not come; so far: %s", names(l.of(call)))
		}
	}
}

func isTerminal(e okhttp.Event) bool {
	switch e.(type) {
	case okhttp.CallEnd, okhttp.CallFailed:
		return true
	}
	return false
}

// want compares the events of the last call, once it has ended, with a list of
// short names. Some stand for several: see macros.
func (l *eventLog) want(list string) {
	l.t.Helper()
	l.wantOf(l.last(), list)
}

func (l *eventLog) wantOf(call *okhttp.Call, list string) {
	l.t.Helper()
	l.await(call, isTerminal)
	want := strings.Fields(macros.Replace(list))
	if got := names(l.of(call)); got != strings.Join(want, " ") {
		l.t.Errorf("events\n got: %s\nwant: %s", got, strings.Join(want, " "))
	}
}

var macros = strings.NewReplacer(
	"select", "ProxyStart ProxyEnd",
	"tlsdial", "ProxyStart ProxyEnd DNSStart(server.test) DNSEnd(server.test) ConnStart SecStart SecEnd ConnEnd(http/1.1)",
	"dial", "ProxyStart ProxyEnd DNSStart(server.test) DNSEnd(server.test) ConnStart ConnEnd(http/1.1)",
	"request", "ReqHdrStart ReqHdrEnd",
)

func names(events []okhttp.Event) string {
	all := make([]string, len(events))
	for i, e := range events {
		all[i] = short(e)
	}
	return strings.Join(all, " ")
}

// short names an event, with what matters of its fields.
func short(event okhttp.Event) string {
	switch e := event.(type) {
	case okhttp.DispatcherQueueStart:
		return "QueueStart"
	case okhttp.DispatcherQueueEnd:
		return "QueueEnd"
	case okhttp.ProxySelectStart:
		return "ProxyStart"
	case okhttp.ProxySelectEnd:
		return "ProxyEnd"
	case okhttp.DNSStart:
		return "DNSStart(" + e.Host + ")"
	case okhttp.DNSEnd:
		return "DNSEnd(" + e.Host + ")"
	case okhttp.ConnectStart:
		return "ConnStart"
	case okhttp.SecureConnectStart:
		return "SecStart"
	case okhttp.SecureConnectEnd:
		return "SecEnd"
	case okhttp.ConnectEnd:
		return "ConnEnd(" + e.Protocol + ")"
	case okhttp.ConnectFailed:
		return "ConnFailed"
	case okhttp.ConnectionDiscarded:
		return "Discarded"
	case okhttp.ConnectionAcquired:
		if e.Reused {
			return "Acquired(reused)"
		}
		return "Acquired"
	case okhttp.ConnectionReleased:
		return "Released"
	case okhttp.RequestHeadersStart:
		return "ReqHdrStart"
	case okhttp.RequestHeadersEnd:
		return "ReqHdrEnd"
	case okhttp.RequestBodyStart:
		return "ReqBodyStart"
	case okhttp.RequestBodyEnd:
		return fmt.Sprintf("ReqBodyEnd(%d)", e.Bytes)
	case okhttp.RequestFailed:
		return "ReqFailed"
	case okhttp.ResponseHeadersStart:
		return "RespHdrStart"
	case okhttp.InformationalResponse:
		return fmt.Sprintf("Info(%d)", e.Code)
	case okhttp.ResponseHeadersEnd:
		return fmt.Sprintf("RespHdrEnd(%d)", e.Response.StatusCode)
	case okhttp.ResponseBodyStart:
		return "RespBodyStart"
	case okhttp.ResponseBodyEnd:
		return fmt.Sprintf("RespBodyEnd(%d)", e.Bytes)
	case okhttp.ResponseFailed:
		return "RespFailed"
	case okhttp.RetryDecision:
		return fmt.Sprintf("Retry(%t)", e.Retry)
	case okhttp.FollowUpDecision:
		if e.Next == nil {
			return "FollowUp(none)"
		}
		return "FollowUp(" + e.Next.URL.Path + ")"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", event), "okhttp.")
}

// checkInvariants holds one call's events, complete, to what is true of all calls.
func checkInvariants(t *testing.T, events []okhttp.Event) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s\nin %s", fmt.Sprintf(format, args...), names(events))
	}
	open := map[string]int{}
	begin := func(key string) { open[key]++ }
	end := func(e okhttp.Event, key string) {
		if open[key]--; open[key] < 0 {
			fail("%s without a start", short(e))
		}
	}
	started, ended, canceled := false, false, false
	held := okhttp.Connection{}
	for i, event := range events {
		if _, ok := event.(okhttp.Canceled); ok {
			if canceled {
				fail("canceled twice")
			}
			canceled = true
			continue
		}
		if ended {
			fail("%s after the end", short(event))
		}
		_, first := event.(okhttp.CallStart)
		if first == started {
			fail("event %d: the call must begin with CallStart, once", i)
		}
		started = true
		switch e := event.(type) {
		case okhttp.DispatcherQueueStart:
			begin("queue")
		case okhttp.DispatcherQueueEnd:
			end(e, "queue")
		case okhttp.ProxySelectStart:
			begin("proxy")
		case okhttp.ProxySelectEnd:
			end(e, "proxy")
		case okhttp.DNSStart:
			begin("dns " + e.Host)
		case okhttp.DNSEnd:
			end(e, "dns "+e.Host)
		case okhttp.ConnectStart:
			begin("connect " + e.Route.String())
		case okhttp.SecureConnectStart:
			begin("tls " + e.Route.String())
		case okhttp.SecureConnectEnd:
			end(e, "tls "+e.Route.String())
		case okhttp.ConnectEnd:
			end(e, "connect "+e.Route.String())
		case okhttp.ConnectFailed:
			end(e, "connect "+e.Route.String())
			if e.Err == nil {
				fail("ConnectFailed without an error")
			}
		case okhttp.ConnectionAcquired:
			if !held.IsZero() || e.Connection.IsZero() {
				fail("a connection was acquired while one was held")
			}
			held = e.Connection
		case okhttp.ConnectionReleased:
			if held != e.Connection {
				fail("a connection was released that was not held")
			}
			held = okhttp.Connection{}
		case okhttp.RequestHeadersStart:
			begin("request")
		case okhttp.RequestHeadersEnd:
			end(e, "request")
		case okhttp.RequestBodyStart:
			begin("request body")
		case okhttp.RequestBodyEnd:
			end(e, "request body")
		case okhttp.ResponseHeadersStart:
			begin("response")
		case okhttp.ResponseHeadersEnd:
			end(e, "response")
		case okhttp.ResponseBodyStart:
			begin("response body")
		case okhttp.ResponseBodyEnd:
			end(e, "response body")
		case okhttp.RetryDecision:
			if e.Reason == "" || e.Err == nil {
				fail("a retry decision without a reason or an error: %+v", e)
			}
		case okhttp.FollowUpDecision:
			if e.Reason == "" || e.Response == nil {
				fail("a follow-up decision without a reason or a response: %+v", e)
			}
		case okhttp.CallEnd, okhttp.CallFailed:
			ended = true
			if !held.IsZero() {
				fail("the call ended before it released its connection")
			}
		}
	}
	if !ended {
		fail("the call has not ended")
	}
}

// startClient makes a client that is closed with the test, which fails if a
// connection is still held then.
func startClient(t *testing.T, opts ...okhttp.Option) *okhttp.Client {
	t.Helper()
	client, err := okhttp.NewClient(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s := client.Pool().Stats(); s.Open != s.Idle && !t.Failed() {
			t.Errorf("connections are still held: %+v", s)
		}
		client.Close()
	})
	return client
}

// newRequest makes a request, or ends the test.
func newRequest(t *testing.T, method, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// wantBody reads and closes a response.
func wantBody(t *testing.T, resp *http.Response, err error, want string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		t.Fatalf("reading the body: %v", err)
	}
	if string(got) != want {
		t.Fatalf("body %.100q, want %.100q", got, want)
	}
}
