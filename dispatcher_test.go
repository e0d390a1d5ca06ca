package okhttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/dns"
	mock "github.com/okhttp-go/okhttp/mockwebserver"
)

// queueing is a dispatcher under test: its calls go to servers that answer when
// they are told to.
type queueing struct {
	*testing.T
	client     *okhttp.Client
	dispatcher *okhttp.Dispatcher
	log        *eventLog

	mu      sync.Mutex
	arrived []string // paths, in the order in which the server got them
	release map[string]chan struct{}
	results map[string]error
	done    sync.WaitGroup
}

// newQueueing must be called in a bubble.
func newQueueing(t *testing.T, opts ...okhttp.Option) *queueing {
	q := &queueing{T: t, log: newEventLog(t), release: map[string]chan struct{}{}, results: map[string]error{}}
	pipe := mock.Pipe()
	mock.New(t, mock.WithListener(pipe), mock.WithDispatcher(mock.DispatcherFunc(
		func(ctx context.Context, r *mock.RecordedRequest) mock.Response {
			q.mu.Lock()
			q.arrived = append(q.arrived, r.Target)
			gate := q.release[r.Target]
			q.mu.Unlock()
			select {
			case <-gate:
			case <-ctx.Done():
			}
			return mock.Text("ok")
		})))
	q.client = startClient(t, append([]okhttp.Option{okhttp.WithDialer(pipe.DialContext), okhttp.WithEventListener(q.log)}, opts...)...)
	q.log.client.Store(q.client)
	q.dispatcher = q.client.Dispatcher()
	return q
}

// enqueue starts a call to a host; the path names it.
func (q *queueing) enqueue(host, path string, opts ...okhttp.Option) *okhttp.Call {
	q.Helper()
	q.mu.Lock()
	q.release[path] = make(chan struct{})
	q.mu.Unlock()
	call := q.client.NewCall(newRequest(q.T, "GET", "http://"+host+path, nil), opts...)
	q.done.Add(1)
	call.Enqueue(func(resp *http.Response, err error) {
		if err == nil {
			resp.Body.Close()
		}
		q.mu.Lock()
		q.results[path] = err
		q.mu.Unlock()
		q.done.Done()
	})
	synctest.Wait()
	return call
}

// answer lets the server answer a call.
func (q *queueing) answer(path string) {
	q.mu.Lock()
	close(q.release[path])
	q.mu.Unlock()
	synctest.Wait()
}

// at checks which calls have reached the server, in order.
func (q *queueing) at(paths ...string) {
	q.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Equal(q.arrived, paths) {
		q.Errorf("arrived %v, want %v", q.arrived, paths)
	}
}

func (q *queueing) counts(waiting, running int) {
	q.Helper()
	if s := q.dispatcher.Stats(); s.Waiting != waiting || s.Running != running ||
		len(q.dispatcher.Waiting()) != waiting || len(q.dispatcher.Running()) != running {
		q.Errorf("%+v; want %d waiting, %d running", s, waiting, running)
	}
}

func TestDispatcherDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueueing(t)
		var paths []string
		for host := range 13 { // 13 hosts with 5 calls each make 65
			for i := range 6 {
				path := fmt.Sprintf("/%d/%d", host, i)
				q.enqueue(fmt.Sprintf("h%d.test", host), path)
				paths = append(paths, path)
			}
		}
		q.counts(14, 64)
		for host, n := range q.dispatcher.Stats().PerHost {
			if n > 5 {
				t.Errorf("%d calls to %s", n, host)
			}
		}
		for _, path := range paths {
			q.answer(path)
		}
		q.done.Wait()
		q.counts(0, 0)
		if len(q.dispatcher.Stats().PerHost) != 0 {
			t.Errorf("%+v", q.dispatcher.Stats())
		}
	})
}

func TestDispatcherOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueueing(t)
		q.dispatcher.SetMaxCallsPerHost(1)
		q.dispatcher.SetMaxCalls(2)
		q.enqueue("a.test", "/a1")
		q.enqueue("A.test", "/a2") // the same host, at its limit
		q.enqueue("b.test", "/b1") // is not held up by it
		q.enqueue("c.test", "/c1") // the limit of all
		q.enqueue("b.test", "/b2")
		q.at("/a1", "/b1")
		q.counts(3, 2)
		q.answer("/b1") // c1 came before b2
		q.at("/a1", "/b1", "/c1")
		q.answer("/c1")
		q.at("/a1", "/b1", "/c1", "/b2")
		q.answer("/a1")
		q.at("/a1", "/b1", "/c1", "/b2", "/a2")
		q.answer("/a2")
		q.answer("/b2")
		q.done.Wait()
	})
}

func TestDispatcherEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueueing(t)
		q.dispatcher.SetMaxCalls(1)
		first := q.enqueue("a.test", "/1")
		second := q.enqueue("a.test", "/2")
		if got := names(q.log.of(second)); got != "CallStart QueueStart" {
			t.Errorf("waiting: %s", got)
		}
		for _, e := range q.log.of(second) {
			if e, ok := e.(okhttp.DispatcherQueueStart); ok && e.Dispatcher != q.dispatcher {
				t.Error("the event names another dispatcher")
			}
		}
		q.answer("/1")
		q.answer("/2")
		q.done.Wait()
		const exchange = " request RespHdrStart RespHdrEnd(200) FollowUp(none) RespBodyStart RespBodyEnd(0) Released CallEnd"
		q.log.wantOf(first, "CallStart select ConnStart ConnEnd(http/1.1) Acquired"+exchange)
		q.log.wantOf(second, "CallStart QueueStart QueueEnd Acquired(reused)"+exchange)
	})
}

func TestDispatcherRaisedLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueueing(t)
		q.dispatcher.SetMaxCalls(1)
		q.dispatcher.SetMaxCallsPerHost(2)
		var all []string
		for i := range 4 {
			path := fmt.Sprintf("/%d", i)
			q.enqueue("a.test", path)
			all = append(all, path)
		}
		q.counts(3, 1)
		q.dispatcher.SetMaxCalls(3)
		synctest.Wait()
		q.counts(2, 2)
		q.dispatcher.SetMaxCallsPerHost(4)
		synctest.Wait()
		q.counts(1, 3)
		q.dispatcher.SetMaxCalls(1) // stops none
		q.counts(1, 3)
		for _, path := range all {
			q.answer(path)
		}
		q.done.Wait()
		for _, set := range []func(int){q.dispatcher.SetMaxCalls, q.dispatcher.SetMaxCallsPerHost} {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("a limit of 0 is taken")
					}
				}()
				set(0)
			}()
		}
	})
}

func TestDispatcherCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueueing(t)
		q.dispatcher.SetMaxCalls(1)
		q.enqueue("a.test", "/running")
		waiting := q.enqueue("a.test", "/waiting")
		q.enqueue("a.test", "/next")
		waiting.Cancel() // it still waits for its turn
		synctest.Wait()
		q.counts(2, 1)
		q.answer("/running")
		q.at("/running", "/next")
		q.log.wantOf(waiting, "CallStart QueueStart Canceled QueueEnd CallFailed")
		q.enqueue("a.test", "/last")
		q.dispatcher.CancelAll()
		q.done.Wait()
		q.at("/running", "/next")
		for path, err := range q.results {
			if canceled := errors.Is(err, context.Canceled); canceled != (path != "/running") {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
}

// A canceled call frees its place only when its callback has returned.
func TestDispatcherCallbackCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueueing(t)
		q.dispatcher.SetMaxCalls(1)
		inCallback := make(chan struct{})
		call := q.client.NewCall(newRequest(t, "GET", "http://a.test/x", nil))
		q.release["/x"] = make(chan struct{})
		call.Enqueue(func(*http.Response, error) { <-inCallback })
		q.enqueue("a.test", "/next")
		call.Cancel()
		synctest.Wait()
		q.counts(1, 1)
		close(inCallback)
		synctest.Wait()
		q.counts(0, 1)
		q.answer("/next")
		q.done.Wait()
	})
}

func TestDispatcherIdleCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueueing(t)
		var idle atomic.Int32
		q.dispatcher.SetIdleCallback(func() {
			idle.Add(1)
			q.dispatcher.Stats() // no lock is held
		})
		want := func(n int32) {
			t.Helper()
			synctest.Wait()
			if got := idle.Load(); got != n {
				t.Errorf("idle %d times, want %d", got, n)
			}
		}
		q.enqueue("a.test", "/1")
		q.enqueue("a.test", "/2")
		q.answer("/1")
		want(0)
		q.answer("/2")
		want(1)
		// A call that is not enqueued counts too, up to its response head.
		q.release["/sync"] = make(chan struct{})
		go func() {
			resp, err := q.client.Get(context.Background(), "http://a.test/sync")
			if err == nil {
				resp.Body.Close()
			}
		}()
		synctest.Wait()
		q.counts(0, 1)
		q.enqueue("a.test", "/3")
		q.answer("/3")
		want(1)
		q.answer("/sync")
		want(2)
		q.dispatcher.SetIdleCallback(nil)
		q.enqueue("a.test", "/4")
		q.answer("/4")
		want(2)
		q.done.Wait()
	})
}

// Calls that are not enqueued are counted, but never held up.
func TestDispatcherDoesNotLimitExecute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueueing(t)
		q.dispatcher.SetMaxCalls(1)
		q.enqueue("a.test", "/queued")
		q.release["/sync"] = make(chan struct{})
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				resp, err := q.client.Get(context.Background(), "http://a.test/sync")
				wantBody(t, resp, err, "ok")
			})
		}
		synctest.Wait()
		q.counts(0, 4)
		if n := q.dispatcher.Stats().PerHost["a.test"]; n != 1 {
			t.Errorf("%d calls count into the limit of the host", n)
		}
		q.answer("/sync")
		group.Wait()
		q.answer("/queued")
		q.done.Wait()
	})
}

func TestDispatcherClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueueing(t)
		q.dispatcher.SetMaxCalls(1)
		running := q.enqueue("a.test", "/running")
		waiting := q.enqueue("a.test", "/waiting")
		q.client.Close()
		q.done.Wait()
		late := q.enqueue("a.test", "/late")
		q.done.Wait()
		for path, err := range q.results {
			if !errors.Is(err, okhttp.ErrClosed) {
				t.Errorf("%s: %v", path, err)
			}
		}
		q.log.wantOf(waiting, "CallStart QueueStart CallFailed")
		q.log.wantOf(late, "CallStart CallFailed")
		want := strings.Fields(macros.Replace("CallStart select ConnStart ConnEnd(http/1.1) Acquired request RespFailed Retry(false) Released CallFailed"))
		got := strings.Fields(names(q.log.of(running)))
		if got = slices.DeleteFunc(got, func(name string) bool { return name == "Canceled" }); !slices.Equal(got, want) {
			t.Errorf("running: %v", got) // Canceled may come anywhere
		}
		q.counts(0, 0)
	})
}

// A shared dispatcher outlives the clients that use it.
func TestDispatcherShared(t *testing.T) {
	d := okhttp.NewDispatcher()
	server := mock.New(t, mock.WithFallback(mock.Text("ok")))
	for range 2 {
		client := startClient(t, okhttp.WithDispatcher(d))
		done := make(chan error, 1)
		client.NewCall(newRequest(t, "GET", server.URL("/"), nil)).Enqueue(func(resp *http.Response, err error) {
			if err == nil {
				resp.Body.Close()
			}
			done <- err
		})
		if err := <-done; err != nil {
			t.Error(err)
		}
		if client.Dispatcher() != d {
			t.Error("not the given dispatcher")
		}
		client.Close()
	}
}

// Whether the wait in the queue counts into the call timeout.
func TestQueueTimeInCallTimeout(t *testing.T) {
	for _, counts := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			q := newQueueing(t)
			q.dispatcher.SetMaxCalls(1)
			q.enqueue("a.test", "/first", okhttp.WithReadTimeout(0))
			start := time.Now()
			second := q.enqueue("a.test", "/second", okhttp.WithCallTimeout(time.Second),
				okhttp.WithReadTimeout(0), okhttp.WithQueueTimeInCallTimeout(counts))
			time.Sleep(3 * time.Second)
			q.answer("/first")
			q.done.Wait()
			if err := q.results["/second"]; !errors.Is(err, okhttp.ErrCallTimeout) {
				t.Errorf("%v", err)
			}
			want := 4 * time.Second
			if counts {
				want = 3 * time.Second // it fails as soon as it gets its turn
			}
			if took := time.Since(start); took != want {
				t.Errorf("queue time counts %t: took %v, want %v", counts, took, want)
			}
			if !second.Canceled() {
				t.Error("a call that ran out of time is not canceled")
			}
		})
	}
}

// Enqueue and promotion from many goroutines at once: each call is answered
// once, and the limits hold all the time.
func TestDispatcherUnderLoad(t *testing.T) {
	server := mock.New(t, mock.WithFallback(mock.Text("ok")), mock.WithoutRecording())
	hosts := map[string][]netip.Addr{}
	for i := range 4 {
		hosts[fmt.Sprintf("h%d.test", i)] = []netip.Addr{loopback}
	}
	client := startClient(t, okhttp.WithDNS(dns.Static(hosts)))
	d := client.Dispatcher()
	d.SetMaxCalls(6)
	d.SetMaxCallsPerHost(2)
	var group sync.WaitGroup
	var inCallback, most, answered atomic.Int32
	for i := range 200 {
		group.Add(1)
		go func() {
			call := client.NewCall(newRequest(t, "GET", fmt.Sprintf("http://h%d.test:%d/", i%4, server.Port()), nil))
			call.Enqueue(func(resp *http.Response, err error) {
				defer group.Done()
				n := inCallback.Add(1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				if err == nil {
					resp.Body.Close()
					answered.Add(1)
				}
				inCallback.Add(-1)
			})
			if i%10 == 0 {
				call.Cancel()
			}
		}()
	}
	group.Wait()
	if answered.Load() < 180 || most.Load() > 6 {
		t.Errorf("%d answered, %d at once", answered.Load(), most.Load())
	}
}
