package okhttp

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/okhttp-go/okhttp/internal/linked"
)

// Limits of a dispatcher until they are set.
const (
	DefaultMaxCalls        = 64
	DefaultMaxCallsPerHost = 5
)

// Dispatcher runs enqueued calls: so many at once, and so many per host, and the
// others in the order in which they came; a host that is at its limit does not
// hold up another. Calls made by Do, RoundTrip and Execute are counted, but not
// limited. It is safe for concurrent use.
//
// It has no goroutines of its own: each call that it starts has one.
type Dispatcher struct {
	mu         sync.Mutex
	maxCalls   int
	maxPerHost int
	onIdle     func()
	waiting    []*queuedCall
	running    map[*queuedCall]struct{}
	perHost    map[string]int    // running, by the host name of the original URL
	sync       linked.List[Call] // made by Do, RoundTrip and Execute
	closed     bool

	goroutines sync.WaitGroup
}

// queuedCall is a call that was enqueued.
type queuedCall struct {
	call   *Call
	done   func(*http.Response, error)
	host   string
	waited bool // DispatcherQueueStart was, or will be, emitted

	// announced is closed when DispatcherQueueStart was emitted, so that the end
	// of the wait is not reported before its start.
	announced chan struct{}
}

// NewDispatcher makes a dispatcher with the default limits, for [WithDispatcher].
func NewDispatcher() *Dispatcher {
	return &Dispatcher{maxCalls: DefaultMaxCalls, maxPerHost: DefaultMaxCallsPerHost,
		running: map[*queuedCall]struct{}{}, perHost: map[string]int{}}
}

// SetMaxCalls sets how many enqueued calls run at once; at least 1. Raising it
// starts waiting calls; lowering it stops none.
func (d *Dispatcher) SetMaxCalls(n int) {
	d.set(n, &d.maxCalls)
}

// SetMaxCallsPerHost sets how many enqueued calls to one host name run at once;
// at least 1. Raising it starts waiting calls; lowering it stops none.
func (d *Dispatcher) SetMaxCallsPerHost(n int) {
	d.set(n, &d.maxPerHost)
}

func (d *Dispatcher) set(n int, limit *int) {
	if n < 1 {
		panic(fmt.Sprintf("okhttp: dispatcher limit %d is less than 1", n))
	}
	d.mu.Lock()
	*limit = n
	start := d.promoteLocked()
	d.mu.Unlock()
	d.start(start)
}

// SetIdleCallback sets what is called each time the last call in progress,
// enqueued or not, has ended. Nil for nothing.
func (d *Dispatcher) SetIdleCallback(f func()) {
	d.mu.Lock()
	d.onIdle = f
	d.mu.Unlock()
}

// DispatcherStats counts calls at one moment.
type DispatcherStats struct {
	Waiting int            // enqueued, not started
	Running int            // started, enqueued ones and others
	PerHost map[string]int // enqueued calls that run, by host name
}

// Stats counts. It is a snapshot.
func (d *Dispatcher) Stats() DispatcherStats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := DispatcherStats{Waiting: len(d.waiting), Running: len(d.running) + d.sync.Len(), PerHost: map[string]int{}}
	for host, n := range d.perHost {
		s.PerHost[host] = n
	}
	return s
}

// Waiting returns the calls that wait, in their order.
func (d *Dispatcher) Waiting() []*Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	calls := make([]*Call, len(d.waiting))
	for i, q := range d.waiting {
		calls[i] = q.call
	}
	return calls
}

// Running returns the calls in progress, in no order: up to their response head,
// and enqueued ones up to the return of their callback.
func (d *Dispatcher) Running() []*Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	var calls []*Call
	for q := range d.running {
		calls = append(calls, q.call)
	}
	for c := range d.sync.All {
		calls = append(calls, c)
	}
	return calls
}

// CancelAll cancels the calls that wait and those in progress. A waiting call
// still waits for its turn, and fails then.
func (d *Dispatcher) CancelAll() {
	d.cancelAll(func(c *Call) { c.Cancel() })
}

func (d *Dispatcher) cancelAll(cancel func(*Call)) {
	for _, c := range append(d.Waiting(), d.Running()...) {
		cancel(c)
	}
}

func (d *Dispatcher) enqueue(c *Call, done func(*http.Response, error)) {
	q := &queuedCall{call: c, done: done, announced: make(chan struct{})}
	if c.original != nil && c.original.URL != nil {
		q.host = origin(c.original.URL).host
	}
	d.mu.Lock()
	closed := d.closed
	var start []*queuedCall
	if !closed {
		d.waiting = append(d.waiting, q)
		start = d.promoteLocked()
		q.waited = len(d.waiting) > 0 && d.waiting[len(d.waiting)-1] == q
	}
	d.mu.Unlock()
	if closed {
		d.reject(q)
		return
	}
	d.start(start)
	if q.waited {
		emit(c, DispatcherQueueStart{d})
	}
	close(q.announced)
}

// promoteLocked moves waiting calls that may start to the running ones.
func (d *Dispatcher) promoteLocked() (start []*queuedCall) {
	rest := d.waiting[:0]
	for _, q := range d.waiting {
		if len(d.running) >= d.maxCalls || d.perHost[q.host] >= d.maxPerHost {
			rest = append(rest, q)
			continue
		}
		d.running[q] = struct{}{}
		d.perHost[q.host]++
		d.goroutines.Add(1)
		start = append(start, q)
	}
	clear(d.waiting[len(rest):])
	d.waiting = rest
	return start
}

func (d *Dispatcher) start(calls []*queuedCall) {
	for _, q := range calls {
		go d.run(q)
	}
}

func (d *Dispatcher) run(q *queuedCall) {
	defer d.goroutines.Done()
	defer d.finish(q)
	<-q.announced
	if q.waited {
		emit(q.call, DispatcherQueueEnd{d})
	}
	handed := false
	defer func() {
		if !handed { // an interceptor panics; it goes on after done was told
			q.done(nil, q.call.wrap(errPanicked))
		}
	}()
	resp, err := q.call.run()
	handed = true
	q.done(resp, err)
}

func (d *Dispatcher) finish(q *queuedCall) {
	d.mu.Lock()
	delete(d.running, q)
	if d.perHost[q.host]--; d.perHost[q.host] == 0 {
		delete(d.perHost, q.host)
	}
	start := d.promoteLocked()
	idle := d.idleLocked()
	d.mu.Unlock()
	d.start(start)
	if idle != nil {
		idle()
	}
}

// idleLocked returns the idle callback if nothing is in progress.
func (d *Dispatcher) idleLocked() func() {
	if len(d.running)+d.sync.Len() > 0 {
		return nil
	}
	return d.onIdle
}

func (d *Dispatcher) beginSync(c *Call) {
	d.mu.Lock()
	d.sync.PushBack(&c.inSync, c)
	d.mu.Unlock()
}

func (d *Dispatcher) endSync(c *Call) {
	d.mu.Lock()
	c.inSync.Remove()
	idle := d.idleLocked()
	d.mu.Unlock()
	if idle != nil {
		idle()
	}
}

// reject fails a call that came after the end.
func (d *Dispatcher) reject(q *queuedCall) {
	c := q.call
	c.phase = PhaseQueue
	c.body.init(c.original)
	c.body.close()
	err := c.wrap(ErrClosed)
	c.endChain(err)
	q.done(nil, err)
}

// close fails the waiting calls, and ends those in progress.
func (d *Dispatcher) close() {
	d.mu.Lock()
	d.closed = true
	waiting := d.waiting
	d.waiting = nil
	d.mu.Unlock()
	for _, q := range waiting {
		<-q.announced
		d.reject(q)
	}
	d.cancelAll(func(c *Call) { c.cancel(ErrClosed) })
}

// wait returns when no goroutine of the dispatcher is left.
func (d *Dispatcher) wait() { d.goroutines.Wait() }
