package connect

import (
	"context"

	"github.com/okhttp-go/okhttp/internal/linked"
)

// AcquireParams says what connection is wanted, and how to open one.
type AcquireParams struct {
	Address  Address
	Planner  *Planner     // where this call could still go; nil: everywhere
	Memory   *RouteMemory // for a new planner
	Timeouts Timeouts
	Tracer   Tracer // nil: nobody listens
	Fresh    bool   // open a new connection: a pooled one has just failed

	// Stay, if set, says that the context will not end by itself, so the caller
	// will be there when a dial ends and may as well make it. It is called when
	// the pool is closed.
	Stay Canceler
}

// Canceler ends the context of a call.
type Canceler interface {
	Cancel(cause error)
}

// Tracer gives the trace of a call that needs one: only those that open a
// connection do.
type Tracer interface {
	Trace(Address) *Trace
}

// Lease is a connection that is held, until it is given to [Pool.Release].
type Lease struct {
	Conn      *Conn
	Reused    bool     // it was open before
	Coalesced bool     // it was opened for another host
	Planner   *Planner // to go on with if the exchange fails; nil when there is nothing to remember
}

// waiter is a call that waits for a connection.
type waiter struct {
	params AcquireParams
	ctx    context.Context

	// Guarded by pool.mu.
	queued linked.Elem[waiter]
	job    *job // the attempt that was begun for it; nil while the host's limit holds it back

	// Written under pool.mu before ready is closed, only read after. A nil ready
	// means that the caller makes the dial itself.
	ready  chan struct{}
	conn   *Conn
	fresh  bool // conn comes straight from a job
	reused bool // conn carries many exchanges, and was leased before
	err    error
}

// serveLocked hands the caller's lease on c to w.
func (w *waiter) serveLocked(c *Conn) {
	w.queued.Remove()
	w.conn = c
	close(w.ready)
}

func (w *waiter) failLocked(err error) {
	w.queued.Remove()
	w.err = err
	close(w.ready)
}

// Acquire leases a connection to an address: one that is available and alive,
// else the first to become free or to be opened. It waits no longer than ctx;
// then it returns the cause of ctx's end, while the dial that it began goes on
// for others.
func (p *Pool) Acquire(ctx context.Context, params AcquireParams) (Lease, error) {
	for {
		c, alone, w, err := p.takeOrQueue(ctx, params)
		if err != nil {
			return Lease{}, err
		}
		switch {
		case w == nil:
		case w.ready == nil: // nobody else knows of w
			return w.job.dialHere(ctx)
		default:
			return p.wait(ctx, w)
		}
		if alone { // else it is alive as far as its other holders know
			if err := c.check(); err != nil {
				p.discard(c, nil, err)
				params.discarded(c, err)
				continue
			}
		}
		return Lease{Conn: c, Reused: true, Planner: params.Planner}, nil
	}
}

func (params *AcquireParams) discarded(c *Conn, why error) {
	if params.Tracer != nil {
		if t := params.Tracer.Trace(params.Address); t.Discarded != nil {
			t.Discarded(c, why)
		}
	}
}

// takeOrQueue is Acquire's decision: an available connection, and whether nobody
// else holds it; or a place in the queue with an attempt to open one.
func (p *Pool) takeOrQueue(ctx context.Context, params AcquireParams) (c *Conn, alone bool, w *waiter, err error) {
	var dead []*Conn
	defer func() { p.bury(true, dead...) }()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, nil, ErrPoolClosed
	}
	h := p.hostLocked(params.Address)
	if c := p.takeLocked(h, params.Fresh, &dead); c != nil {
		return c, c.leases == 1, nil, nil
	}
	w = &waiter{params: params, ctx: ctx}
	if params.Stay != nil && p.limits.MaxPerHost == 0 && h.live == 0 {
		// Nobody else waits for this dial, nobody leaves it, and no other dial
		// could end, nor a connection become free, sooner.
		p.jobLocked(h, w)
		return nil, false, w, nil
	}
	w.ready = make(chan struct{})
	if params.Fresh && p.limits.MaxPerHost > 0 && h.live >= p.limits.MaxPerHost {
		// The limit is full; make room for the new connection among the idle ones.
		if c := h.available.Last(); c != nil && c.leases == 0 {
			p.unlinkLocked(c, "replaced after a failure")
			dead = append(dead, c)
		}
	}
	h.waiters.PushBack(&w.queued, w)
	p.startJobsLocked(h)
	return nil, false, w, nil
}

// wait waits until w is served with a connection that is alive.
func (p *Pool) wait(ctx context.Context, w *waiter) (Lease, error) {
	for {
		lease, err := p.waitOnce(ctx, w)
		if err != nil || w.fresh {
			return lease, err
		}
		if lease.Reused && lease.Conn.engine == nil { // where others hold it too it lives
			if err := lease.Conn.check(); err != nil {
				p.discard(lease.Conn, w, err)
				w.params.discarded(lease.Conn, err)
				continue
			}
		}
		p.mu.Lock()
		w.job.orphanLocked() // it is not needed any more
		p.mu.Unlock()
		w.job.detach()
		return lease, nil
	}
}

func (p *Pool) waitOnce(ctx context.Context, w *waiter) (Lease, error) {
	select {
	case <-w.ready:
	case <-ctx.Done():
		p.mu.Lock()
		select {
		case <-w.ready: // served at the last moment
			c := w.conn
			j := w.job
			j.orphanLocked()
			p.mu.Unlock()
			j.detach()
			if c != nil {
				p.Release(c, true, "")
			}
			return Lease{}, context.Cause(ctx)
		default:
		}
		w.queued.Remove()
		j := w.job
		j.orphanLocked()
		p.forgetLocked(p.hostLocked(w.params.Address))
		p.mu.Unlock()
		j.detach()
		return Lease{}, context.Cause(ctx)
	}
	if w.err != nil {
		return Lease{Planner: w.planner()}, w.err
	}
	return w.lease(), nil
}

// lease is what w was served with.
func (w *waiter) lease() Lease {
	l := Lease{Conn: w.conn, Reused: w.reused}
	if w.conn.engine != nil {
		l.Coalesced = w.conn.host.addr != w.params.Address
	} else if !w.fresh {
		l.Reused = w.conn.served > 0
	}
	if w.fresh {
		l.Planner = w.planner()
	}
	return l
}

// planner returns the planner of w's own attempt, if that has ended.
func (w *waiter) planner() *Planner {
	if w.job == nil {
		return w.params.Planner
	}
	return w.job.planner
}

// discard drops a connection that was found dead on reuse. A waiter to which it
// was handed goes back to the head of its queue.
func (p *Pool) discard(c *Conn, w *waiter, reason error) {
	var ended *job
	p.mu.Lock()
	p.counter.Reused--
	p.counter.Discarded++
	linked := c.inAll.Linked() // the pool may have been closed meanwhile
	if c.engine != nil {
		c.leases--
		linked = linked && p.retireLocked(c, reason.Error())
	} else if linked {
		p.unlinkLocked(c, reason.Error())
	}
	if w != nil {
		w.conn, w.ready = nil, make(chan struct{})
		if _, running := p.jobs[w.job]; !running {
			ended, w.job = w.job, nil
		}
		if p.closed {
			w.failLocked(ErrPoolClosed)
		} else {
			c.host.waiters.PushFront(&w.queued, w)
		}
	}
	p.mu.Unlock()
	ended.detach()
	if linked {
		p.bury(false, c)
	}
}
