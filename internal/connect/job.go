package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"net/netip"
	"reflect"
	"sync"
	"time"
)

// orphanTime is how long an attempt may go on that nobody waits for.
const orphanTime = 10 * time.Second

// job is one attempt to open a connection to a host. It belongs to the pool:
// the call for which it was begun may leave, and the connection then serves
// another.
type job struct {
	pool    *Pool
	host    *host
	owner   *waiter
	ctx     context.Context
	cancel  context.CancelCauseFunc
	planner *Planner
	gate    traceGate
	served  *Conn // what makes the attempt needless, with a lease; owned by who runs it

	// Guarded by pool.mu.
	orphaned *time.Timer
}

// startJobsLocked begins an attempt for each waiter without one, in their order,
// as far as the host's limit allows, and no more than are needed (see [burst]).
func (p *Pool) startJobsLocked(h *host) {
	if p.closed {
		return
	}
	for w := range h.waiters.All {
		if p.limits.MaxPerHost > 0 && h.live >= p.limits.MaxPerHost {
			return
		}
		if w.job != nil {
			continue
		}
		if !p.mayStartLocked(h) {
			return
		}
		p.startJobLocked(h, w)
	}
}

func (p *Pool) startJobLocked(h *host, w *waiter) {
	j := p.jobLocked(h, w)
	base := context.Background()
	if h.addr.Config.custom() {
		base = quietContext{context.WithoutCancel(w.ctx)}
	}
	j.ctx, j.cancel = context.WithCancelCause(base)
	go j.run()
}

// jobLocked makes an attempt for w, to be run by the caller.
func (p *Pool) jobLocked(h *host, w *waiter) *job {
	j := &job{pool: p, host: h, owner: w, planner: w.params.Planner}
	if w.params.Stay != nil {
		j.cancel = w.params.Stay.Cancel
	}
	if j.planner == nil {
		j.planner = NewPlanner(h.addr, w.params.Memory)
	}
	if h.addr.Secure() {
		if h.tls == nil {
			h.tls = tlsConfig(h.addr)
			if h.only1 {
				h.tls.NextProtos = []string{protoHTTP1}
			}
		}
		j.planner.tls = h.tls
	}
	if !h.only1 && h.addr.coalesces() {
		j.planner.served = func(routes []Route) bool {
			j.served = j.coalesce(routes)
			return j.served != nil
		}
	}
	w.job = j
	h.live++
	h.dialing++
	h.lastStart = p.now()
	p.jobs[j] = struct{}{}
	p.running.Add(1)
	return j
}

// dialHere makes the attempt on the goroutine of the call that it is for.
func (j *job) dialHere(ctx context.Context) (Lease, error) {
	defer j.pool.running.Done()
	finished := false
	defer func() {
		if !finished { // a dialer or listener panics
			_ = j.finish(Link{}, errPanic)
		}
	}()
	var trace *Trace
	if t := j.owner.params.Tracer; t != nil {
		trace = t.Trace(j.host.addr)
	}
	link, err := j.planner.Connect(quietContext{ctx}, j.owner.params.Timeouts, trace)
	finished = true
	if err = j.finish(link, err); err != nil {
		return Lease{Planner: j.planner}, err
	}
	return j.owner.lease(), nil
}

var errPanic = errors.New("panic while connecting")

func (j *job) run() {
	growStack()
	defer j.pool.running.Done()
	defer j.cancel(nil)
	var trace *Trace
	if t := j.owner.params.Tracer; t != nil {
		trace = j.gate.wrap(t.Trace(j.host.addr))
	}
	link, err := j.planner.Connect(j.ctx, j.owner.params.Timeouts, trace)
	_ = j.finish(link, err) // who waits is told
}

// finish books the end of an attempt that came to a link, to an error, or to
// nothing because there is a connection that serves the host. The connection
// goes to the call for which the attempt was begun, else to another.
func (j *job) finish(link Link, err error) error {
	p, h := j.pool, j.host
	made, c := (*Conn)(nil), j.served
	switch {
	case c != nil:
		err = nil
	case err == nil:
		if link.multiplexed() {
			c = j.coalesce([]Route{link.Route})
		}
		made = p.newConn(h, link)
	}

	p.mu.Lock()
	delete(p.jobs, j)
	h.dialing--
	if j.orphaned != nil {
		j.orphaned.Stop()
	}
	if p.closed && err == nil {
		c, err = nil, ErrPoolClosed
	}
	var dead *Conn
	if err != nil {
		if err != ErrPoolClosed {
			p.counter.Failed++
		}
		if j.owner.queued.Linked() {
			j.owner.failLocked(err)
		}
	} else {
		c, dead = j.serveLocked(c, made)
	}
	switch {
	case c == nil || c != made:
		p.vacateLocked(h)
	case h.may: // it may be time for the others, now that it is known what is spoken
		p.startJobsLocked(h)
	}
	start := c != nil && c == made && c.engine != nil && c.leases == 0
	p.mu.Unlock()

	if made != nil && made != c {
		made.close(err == nil)
	}
	if start {
		c.engine.Start()
	}
	if dead != nil {
		p.bury(true, dead)
	}
	return err
}

// serveLocked gives a connection to j's owner: c, on which it has a lease already;
// else one of the host's that carries many exchanges, if it is that for which made
// was made; else made. If the owner has left it is for the others. It returns the
// one chosen, and in dead whether that must be closed.
func (j *job) serveLocked(c, made *Conn) (chosen, dead *Conn) {
	p, h, w := j.pool, j.host, j.owner
	if made != nil {
		p.learnLocked(h, made.link)
	}
	if c == nil && made.engine != nil {
		if c = h.fittingLocked(); c != nil {
			p.leaseLocked(c)
		}
	}
	if c == nil {
		c = made
		p.adoptLocked(c)
	}
	here := w.ready == nil
	if here || w.queued.Linked() {
		w.conn, w.fresh, w.reused = c, true, c.begun
		c.begun = true
		if !here {
			w.serveLocked(c)
		}
		if c.engine != nil {
			p.shareLocked(c, h)
		}
		return c, nil
	}
	why := ""
	if c.engine == nil {
		why = p.offerLocked(c)
	} else {
		c.leases--
		if c.host != h {
			p.shareLocked(c, c.host)
		}
		why = p.shareLocked(c, h)
	}
	if why != "" {
		p.unlinkLocked(c, why)
		dead = c
	}
	return c, dead
}

// growStack makes a new goroutine's stack large enough for a dial, once and
// while there is nothing on it to copy. Growing it step by step from deep within
// package net costs more than all else that a goroutine costs.
//
//go:noinline
func growStack() {
	var room [7 << 10]byte
	stackRoom(&room)
}

//go:noinline
func stackRoom(*[7 << 10]byte) {}

// orphanLocked notes that the call for which j was begun has left. Others may
// still want the connection, so j goes on, but not for ever. The caller then
// detaches j.
func (j *job) orphanLocked() {
	if j == nil {
		return
	}
	if _, running := j.pool.jobs[j]; running && j.orphaned == nil {
		j.orphaned = time.AfterFunc(orphanTime, func() { j.cancel(context.Canceled) })
	}
}

// detach ends j's reports to the call for which it was begun. It waits for one
// that is being delivered, so that nothing is reported after it returns.
func (j *job) detach() {
	if j != nil {
		j.gate.shut()
	}
}

// traceGate stands between an attempt and the trace of a call that may leave.
type traceGate struct {
	mu     sync.Mutex
	closed bool
	inside int
	empty  chan struct{} // closed when the last report has left, after shut
}

// pass runs report unless the gate is shut. The gate's lock is not held meanwhile.
func (g *traceGate) pass(report func()) {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return
	}
	g.inside++
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		if g.inside--; g.inside == 0 && g.empty != nil {
			close(g.empty)
			g.empty = nil
		}
		g.mu.Unlock()
	}()
	report()
}

func (g *traceGate) shut() {
	g.mu.Lock()
	g.closed = true
	var wait chan struct{}
	if g.inside > 0 {
		if g.empty == nil {
			g.empty = make(chan struct{})
		}
		wait = g.empty
	}
	g.mu.Unlock()
	if wait != nil {
		<-wait
	}
}

// wrap returns t behind the gate.
func (g *traceGate) wrap(t *Trace) *Trace {
	if t == nil {
		return nil
	}
	return &Trace{
		ProxySelectStart: func() { g.pass(func() { call0(t.ProxySelectStart) }) },
		ProxySelectEnd:   func() { g.pass(func() { call0(t.ProxySelectEnd) }) },
		DNSStart:         func(h string) { g.pass(func() { call1(t.DNSStart, h) }) },
		DNSEnd: func(h string, addrs []netip.Addr) {
			g.pass(func() { call2(t.DNSEnd, h, addrs) })
		},
		ConnectStart:       func(r Route) { g.pass(func() { call1(t.ConnectStart, r) }) },
		SecureConnectStart: func(r Route) { g.pass(func() { call1(t.SecureConnectStart, r) }) },
		SecureConnectEnd: func(r Route, s *tls.ConnectionState) {
			g.pass(func() { call2(t.SecureConnectEnd, r, s) })
		},
		ConnectEnd:    func(r Route, proto string) { g.pass(func() { call2(t.ConnectEnd, r, proto) }) },
		ConnectFailed: func(r Route, err error) { g.pass(func() { call2(t.ConnectFailed, r, err) }) },
	}
}

func call0(f func()) {
	if f != nil {
		f()
	}
}

func call1[A any](f func(A), a A) {
	if f != nil {
		f(a)
	}
}

func call2[A, B any](f func(A, B), a A, b B) {
	if f != nil {
		f(a, b)
	}
}

// quietContext keeps a call's context values from net.Dialer's own trace hooks:
// net/http/httptrace plants them under a key of the package internal/nettrace.
// The attempt reports the same steps through its Trace, for every dialer and
// only while the call waits; both together would report them twice.
type quietContext struct{ context.Context }

func (c quietContext) Value(key any) any {
	if t := reflect.TypeOf(key); t != nil && t.PkgPath() == "internal/nettrace" {
		return nil
	}
	return c.Context.Value(key)
}
