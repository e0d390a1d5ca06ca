package mockwebserver_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

func TestDispatcherFunc(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithDispatcher(mockwebserver.DispatcherFunc(
		func(_ context.Context, r *mockwebserver.RecordedRequest) mockwebserver.Response {
			return mockwebserver.Text(fmt.Sprintf("%d/%d %s", r.ConnectionIndex, r.ExchangeIndex, r.Target)).
				WithEffect(mockwebserver.AtRequestStart, mockwebserver.CloseConnection()) // too late to matter
		})))
	client := newClient(t, server)
	var got []string
	for range 2 {
		for range 2 {
			_, body := mustFetch(t, client, server.URL("/x"))
			got = append(got, body)
		}
		client.CloseIdleConnections()
	}
	if s := strings.Join(got, ","); s != "0/0 /x,0/1 /x,1/0 /x,1/1 /x" {
		t.Errorf("got %s", s)
	}
}

// byConnection resets each connection's first request before its body is read.
type byConnection struct{}

func (byConnection) Dispatch(context.Context, *mockwebserver.RecordedRequest) mockwebserver.Response {
	return mockwebserver.Text("dispatched")
}

func (byConnection) Peek(m mockwebserver.Moment) (mockwebserver.Response, bool) {
	if m.At != mockwebserver.AtRequestStart || m.Request.Target == "/late" {
		return mockwebserver.Response{}, false
	}
	return mockwebserver.Text(fmt.Sprintf("peeked %d/%d", m.ConnectionIndex, m.ExchangeIndex)), true
}

func TestPeeker(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithDispatcher(byConnection{}))
	client := newClient(t, server)
	for _, tc := range []struct{ target, want string }{{"/", "peeked 0/0"}, {"/late", "dispatched"}, {"/", "peeked 0/2"}} {
		if _, body := mustFetch(t, client, server.URL(tc.target)); body != tc.want {
			t.Errorf("got %q, want %q", body, tc.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Enqueue without a Queue did not panic")
		}
	}()
	server.Enqueue(mockwebserver.Response{})
}

func TestSetDispatcher(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Text("queue"))
	client := newClient(t, server)
	if _, body := mustFetch(t, client, server.URL("/")); body != "queue" {
		t.Errorf("got %q", body)
	}
	server.SetDispatcher(mockwebserver.NewQueue(mockwebserver.Text("another")))
	if _, body := mustFetch(t, client, server.URL("/")); body != "another" {
		t.Errorf("got %q", body)
	}
}

func TestQueue(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithFallback(mockwebserver.Status(404)))
	if _, ok := server.PeekResponse(); ok {
		t.Error("a response in an empty queue")
	}
	server.Enqueue(mockwebserver.Text("one"), mockwebserver.Text("two"))
	if r, ok := server.PeekResponse(); !ok || r.Header().Get("Content-Length") != "3" {
		t.Errorf("got %v, %t", r, ok)
	}
	queue := server.Dispatcher().(*mockwebserver.Queue)
	if queue.Len() != 2 {
		t.Errorf("%d responses", queue.Len())
	}
	client := newClient(t, server)
	if _, body := mustFetch(t, client, server.URL("/")); body != "one" {
		t.Errorf("got %q", body)
	}
	queue.Clear()
	if resp, _ := mustFetch(t, client, server.URL("/")); resp.StatusCode != 404 {
		t.Errorf("got %v", resp)
	}
}

// TestQueueWaits adds the response after the request has come.
func TestQueueWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, server *mockwebserver.Server, client *http.Client) {
		got := make(chan string)
		go func() {
			_, body, _ := fetch(client, server.URL("/"))
			got <- body
		}()
		server.RequireRequest(t)
		synctest.Wait()
		server.Enqueue(mockwebserver.Text("at last"))
		if body := <-got; body != "at last" {
			t.Errorf("got %q", body)
		}
	})
}

// TestGoneClientGetsNoResponse has a client give up on an empty queue: the
// response that is added later must go to the next client.
func TestGoneClientGetsNoResponse(t *testing.T) {
	inBubble(t, func(t *testing.T, server *mockwebserver.Server, client *http.Client) {
		client.Timeout = time.Second
		if _, _, err := fetch(client, server.URL("/1")); err == nil {
			t.Error("no timeout")
		}
		if err := server.WaitOpen(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		server.Enqueue(mockwebserver.Text("for the second"))
		if _, body := mustFetch(t, client, server.URL("/2")); body != "for the second" {
			t.Errorf("got %q", body)
		}
	})
}

// TestResponseGoesBack has a client hang up in its request: the response that
// was meant for it is kept.
func TestResponseGoesBack(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Text("kept"), mockwebserver.Text("next"))
	exchangeRaw(t, server, "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc")
	if r := server.RequireRequest(t); r.Failure != io.ErrUnexpectedEOF || r.Text() != "abc" {
		t.Errorf("got %+v", r)
	}
	if _, body := mustFetch(t, newClient(t, server), server.URL("/")); body != "kept" {
		t.Errorf("got %q", body)
	}
}

// TestConcurrentRequests has many connections take from one queue.
func TestConcurrentRequests(t *testing.T) {
	const n = 32
	server := mockwebserver.New(t)
	for i := range n {
		r := mockwebserver.Text(fmt.Sprint(i))
		if i%2 == 1 {
			r = r.WithEffect(mockwebserver.AtRequestBody, mockwebserver.CloseConnection())
		}
		server.Enqueue(r)
	}
	client := newClient(t, server)
	var mu sync.Mutex
	var answered, cut int
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			got := post(client, server.URL("/"), "request")
			mu.Lock()
			defer mu.Unlock()
			if got.err == nil {
				answered++
			} else {
				cut++
			}
		})
	}
	wg.Wait()
	if answered != n/2 || cut != n/2 {
		t.Errorf("%d answered, %d cut", answered, cut)
	}
}

// TestParallelServers shows that servers share nothing.
func TestParallelServers(t *testing.T) {
	for i := range 64 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			server := mockwebserver.New(t)
			server.Enqueue(mockwebserver.Text(fmt.Sprint(i)))
			if _, body := mustFetch(t, newClient(t, server), server.URL("/")); body != fmt.Sprint(i) {
				t.Errorf("got %q", body)
			}
		})
	}
}

func TestPipelining(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Raw("1"), mockwebserver.Raw("2"), mockwebserver.Raw("3"))
	got := exchangeRaw(t, server, strings.Repeat("POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", 3))
	if got != "123" {
		t.Errorf("got %q", got)
	}
}

func TestUnixSocket(t *testing.T) {
	path := t.TempDir() + "/socket"
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := mockwebserver.New(t, mockwebserver.WithListener(l))
	server.Enqueue(mockwebserver.Text("over a file"))
	if server.URL("/x") != "http://localhost/x" {
		t.Error(server.URL("/x"))
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	defer transport.CloseIdleConnections()
	if _, body := mustFetch(t, &http.Client{Transport: transport}, server.URL("/x")); body != "over a file" {
		t.Errorf("got %q", body)
	}
}
