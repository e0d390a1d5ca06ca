package okhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/okhttp-go/okhttp/internal/connect"
	"github.com/okhttp-go/okhttp/internal/httpsem"
	"github.com/okhttp-go/okhttp/internal/linked"
)

// Call is one request on its way to one response, with all the exchanges that
// this takes. It can be executed once; [Call.Clone] makes another. Its methods
// are safe for concurrent use.
type Call struct {
	client   *Client
	cfg      *settings
	original *http.Request
	door     door
	hidden   bool          // made by Do or RoundTrip: the caller has no handle to cancel it with
	listener EventListener // nil: nobody listens
	tracer   *tracer       // for the request's httptrace.ClientTrace; also in listener
	ctx      callContext

	inSync    linked.Elem[Call] // guarded by the dispatcher's lock
	root      *Call             // that this one is a clone of; nil: of none
	executed  atomic.Bool
	canceled  atomic.Bool
	bodyTaken atomic.Bool // of a root: it, or a clone, has used the body of the request

	// Owned by the goroutine that runs the chain.
	fresh   bool // the next connection must be a new one
	spoke   bool // an exchange before the present one may have been processed
	phase   Phase
	planner *connect.Planner // where the call could still go after a failed exchange
	body    requestBody      // of the current hop
	prior   *http.Response   // the response that the current hop follows
	attempt *attempt         // of the current Proceed; nil as a rule
	stop    func() bool      // ends the watch over the request's context
	timer   *time.Timer      // of the call timeout

	mu       sync.Mutex // guards what follows; a leaf, except that a socket is closed under it
	tags     map[reflect.Type]any
	cause    error         // why the call was canceled
	conn     *connect.Conn // held from its acquisition until the call has no further use for it
	reusable bool          // how the last exchange left conn
	chain    chainState
	reason   string           // why it is not reusable
	exchange *exchange        // in progress; nil between exchanges
	failure  error            // why the call failed
	leak     *runtime.Cleanup // the watch over a response that was handed out

	first exchange // here because most calls need exactly one
}

// door is how a call came in.
type door uint8

const (
	wholeClient  door = iota // Do, NewCall: redirects, authentication, cookies
	roundTripper             // RoundTrip: those are the caller's
)

// chainState says whether a call may still begin exchanges.
type chainState uint8

const (
	chainIdle    chainState = iota // not executed yet
	chainRunning                   // the chain may begin exchanges; ends when it returns
	chainEnded                     // the chain has returned; open exchanges keep the call alive
	callSettled                    // nothing is open any more; the terminal event was emitted
)

func newCall(client *Client, cfg *settings, req *http.Request, d door) *Call {
	c := &Call{client: client, cfg: cfg, original: req, door: d}
	c.ctx.parent, c.ctx.call = context.Background(), c
	if req != nil {
		c.ctx.parent = req.Context()
	}
	c.listener = cfg.listener
	if len(cfg.factories) > 0 {
		all := []EventListener{cfg.listener}
		for _, f := range cfg.factories {
			all = append(all, f(c))
		}
		c.listener = JoinListeners(all...)
	}
	if t := httptrace.ContextClientTrace(c.ctx.parent); t != nil {
		c.tracer = &tracer{hooks: t}
		c.listener = JoinListeners(c.listener, c.tracer)
	}
	return c
}

// emit reports one event. It costs nothing where nobody listens; the type
// parameter keeps the event off the heap then.
func emit[E Event](c *Call, e E) {
	if c.listener != nil {
		c.listener.OnEvent(c, e)
	}
}

// Request is the request that the call was made for.
func (c *Call) Request() *http.Request { return c.original }

// Context is the call's context: the request's, ended also by [Call.Cancel] and
// the call timeout.
func (c *Call) Context() context.Context { return &c.ctx }

// Executed reports whether the call was executed or enqueued.
func (c *Call) Executed() bool { return c.executed.Load() }

// Canceled reports whether the call was canceled.
func (c *Call) Canceled() bool { return c.canceled.Load() }

// Clone makes a call for the same request with the same options, that has not
// been executed. Tags are not carried over. A request with a body that was
// read can be sent again only if it has GetBody.
func (c *Call) Clone() *Call {
	clone := newCall(c.client, c.cfg, c.original, c.door)
	clone.root = c.rootCall()
	return clone
}

// rootCall is the call that this one is a clone of, in the end.
func (c *Call) rootCall() *Call {
	if c.root != nil {
		return c.root
	}
	return c
}

// Execute runs the call on the caller's goroutine. See [Client.Do].
func (c *Call) Execute() (*http.Response, error) { return c.execute() }

// Enqueue hands the call to the dispatcher, which runs it as soon as its limits
// allow, and then calls done exactly once with a response or an error, on a
// goroutine of its own. done must close the response's body; until it returns
// the call counts into the limits. A panic in the call's interceptors reaches
// done as an error, and then goes on.
func (c *Call) Enqueue(done func(*http.Response, error)) {
	if !c.executed.CompareAndSwap(false, true) {
		done(nil, &Error{Phase: PhaseRequest, Host: hostPort(c.original), Err: ErrAlreadyExecuted})
		return
	}
	emit(c, CallStart{})
	if c.cfg.queueCounts {
		c.startTimer()
	}
	c.cfg.dispatcher.enqueue(c, done)
}

// Cancel ends the call, whatever it is doing: its socket is closed, what waits
// returns, and the call's error is a context.Canceled. It may be called at any
// time, also before the call is executed, and more than once.
func (c *Call) Cancel() { c.cancel(context.Canceled) }

// cancel ends the call for a reason. The first reason stays.
func (c *Call) cancel(cause error) {
	c.mu.Lock()
	if c.cause != nil || c.chain == callSettled {
		c.mu.Unlock()
		return
	}
	c.cause = cause
	c.canceled.Store(true)
	if c.exchange != nil {
		c.exchange.codec.Cancel() // under the lock, so that it is still this call's connection
	}
	c.mu.Unlock()
	c.ctx.end(cause)
	emit(c, Canceled{})
}

// canceledErr is why the call was canceled, nil if it was not.
func (c *Call) canceledErr() error {
	if !c.canceled.Load() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

func (c *Call) execute() (*http.Response, error) {
	if !c.executed.CompareAndSwap(false, true) {
		return nil, &Error{Phase: PhaseRequest, Host: hostPort(c.original), Err: ErrAlreadyExecuted}
	}
	emit(c, CallStart{})
	c.cfg.dispatcher.beginSync(c)
	defer c.cfg.dispatcher.endSync(c)
	return c.run()
}

// run is the whole call, up to the response head.
func (c *Call) run() (resp *http.Response, err error) {
	c.phase = PhaseRequest
	c.mu.Lock()
	c.chain = chainRunning
	c.mu.Unlock()
	c.body.init(c.original)
	if c.rootCall().bodyTaken.Swap(true) {
		c.body.spend()
	}
	returned := false
	defer func() {
		if !returned { // an interceptor panics
			c.cancel(errPanicked)
			c.body.close()
			c.endChain(c.wrap(errPanicked))
		}
	}()
	c.watch()
	if err = c.ready(); err == nil {
		resp, err = c.applicationChain(0, c.cfg, c.chainRequest())
	}
	returned = true
	if err == nil {
		if cause := c.canceledErr(); cause != nil {
			resp.Body.Close()
			resp, err = nil, cause
		}
	}
	if err != nil || !c.uploading() {
		c.body.close()
	}
	if err != nil {
		err = c.wrap(err)
		c.endChain(err)
		return nil, err
	}
	c.detectLeak()
	c.endChain(nil)
	return resp, nil
}

// uploading reports whether the request body is being sent beside the response.
// Then the upload closes it.
func (c *Call) uploading() bool {
	if c.original.Body == nil && c.body.req == c.original {
		return false
	}
	e := c.openExchange()
	return e != nil && e.upload != nil && !e.sendEnded()
}

var errPanicked = errors.New("an interceptor or listener panicked")

// ready refuses requests that cannot go anywhere.
func (c *Call) ready() error {
	if c.client.life.closed.Load() {
		return ErrClosed
	}
	if err := c.canceledErr(); err != nil {
		return err
	}
	if c.original == nil || c.original.URL == nil {
		return &RequestError{reason: "request has no URL"}
	}
	if r := c.original; c.door == roundTripper && r.Body == nil && r.ContentLength != 0 {
		return &RequestError{reason: fmt.Sprintf("ContentLength=%d with nil Body", r.ContentLength)}
	}
	return nil
}

// chainRequest is what the first interceptor gets. Where there is none, nobody
// sees the request's context, so the request need not be copied.
func (c *Call) chainRequest() *http.Request {
	if len(c.cfg.applicationInterceptors)+len(c.cfg.networkInterceptors) == 0 {
		return c.original
	}
	return c.original.WithContext(&c.ctx)
}

// applicationChain runs the application interceptors from the i-th on, then the
// rest of the call.
func (c *Call) applicationChain(i int, cfg *settings, req *http.Request) (*http.Response, error) {
	if i == len(c.cfg.applicationInterceptors) {
		return c.retryAndFollowUp(cfg, req)
	}
	ch := &Chain{req: req, call: c, cfg: cfg, proceeds: new(atomic.Int32)}
	ch.next = func(cfg *settings, req *http.Request) (*http.Response, error) {
		return c.applicationChain(i+1, cfg, req)
	}
	return ch.intercept(c.cfg.applicationInterceptors[i])
}

// networkChain runs the network interceptors from the i-th on, then the exchange.
// They must keep where the request goes.
func (c *Call) networkChain(i int, e *exchange, req *http.Request, where hostAndPort) (*http.Response, error) {
	if i == len(c.cfg.networkInterceptors) {
		return e.do(req)
	}
	ch := &Chain{req: req, call: c, cfg: e.cfg, network: true, exchange: e, proceeds: new(atomic.Int32)}
	interceptor := c.cfg.networkInterceptors[i]
	ch.next = func(_ *settings, next *http.Request) (*http.Response, error) {
		if origin(next.URL) != where {
			return nil, &InterceptorError{Interceptor: interceptorName(interceptor), Reason: "must keep the request's host and port"}
		}
		return c.networkChain(i+1, e, next, where)
	}
	return ch.intercept(interceptor)
}

// watch ends the call when its context or its time ends.
func (c *Call) watch() {
	parent := c.ctx.parent
	if parent.Done() != nil {
		if parent.Err() != nil {
			c.contextEnded()
		} else {
			c.stop = context.AfterFunc(parent, c.whenContextEnds())
		}
	}
	if cancelChannel(c.original) != nil {
		c.watchCancelChannel()
	}
	if c.timer == nil {
		c.startTimer()
	}
}

// whenContextEnds is what the request's context calls. While leaks are looked
// for it must not hold on to the call: the context may live as long as the
// program, and a call that is forgotten has to be found before.
func (c *Call) whenContextEnds() func() {
	if c.cfg.leaks == nil {
		return c.contextEnded
	}
	forgotten := weak.Make(c)
	return func() {
		if c := forgotten.Value(); c != nil {
			c.contextEnded()
		}
	}
}

func (c *Call) startTimer() {
	if d := c.cfg.callTimeout; d > 0 {
		c.timer = time.AfterFunc(d, func() {
			c.cancel(&httpsem.TimeoutError{Op: httpsem.TimeoutCall, After: d})
		})
	}
}

// clientTimeoutTail is how far an http.Client's timer may lag behind its deadline.
const clientTimeoutTail = 5 * time.Millisecond

func (c *Call) contextEnded() {
	parent := c.ctx.parent
	err := parent.Err()
	if cancel := cancelChannel(c.original); err == context.DeadlineExceeded && cancel != nil {
		// The timeout of an http.Client sets both, and tells of itself only once it
		// has closed the channel, which is now.
		waitFor(cancel, clientTimeoutTail)
	}
	c.cancel(withCause(err, parent))
}

// endOf is why a context has ended, nil if it has not.
func endOf(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return withCause(err, ctx)
	}
	return nil
}

// withCause adds to a context's error the cause that was given to it.
func withCause(err error, ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, err) {
		return &causeError{err, cause}
	}
	return err
}

// causeError keeps both a context's error and the cause that was given to it.
type causeError struct{ err, cause error }

func (e *causeError) Error() string   { return e.err.Error() + ": " + e.cause.Error() }
func (e *causeError) Unwrap() []error { return []error{e.err, e.cause} }

// cancelChannel is the deprecated Request.Cancel, which old callers still set.
func cancelChannel(req *http.Request) <-chan struct{} {
	if req == nil {
		return nil
	}
	//lint:ignore SA1019 see above
	return req.Cancel //nolint:staticcheck // see above
}

// watchCancelChannel serves the deprecated Request.Cancel.
func (c *Call) watchCancelChannel() {
	ended := make(chan struct{})
	stop := c.stop
	c.stop = func() bool {
		close(ended)
		return stop == nil || stop()
	}
	go func() {
		select {
		case <-cancelChannel(c.original):
			if deadline, ok := c.ctx.parent.Deadline(); ok && !time.Now().Before(deadline) {
				c.cancel(context.DeadlineExceeded) // by an http.Client's timeout
			} else {
				c.Cancel()
			}
		case <-ended:
		}
	}()
}

// wrap makes an *Error of a chain's error. That of a canceled call is why it was
// canceled, whatever broke because of it.
func (c *Call) wrap(err error) error {
	var done *Error
	placed := errors.As(err, &done)
	if cause := c.canceledErr(); cause != nil && cause != errPanicked {
		if placed && errors.Is(err, cause) {
			return err
		}
		e := &Error{Phase: c.phase, Host: hostPort(c.original)}
		if placed {
			e = &Error{Phase: done.Phase, Host: done.Host, Addr: done.Addr, Prior: done.Prior, safe: done.safe}
		}
		return c.located(e, cause)
	}
	if c.client.life.closed.Load() && !errors.Is(err, ErrClosed) {
		if placed {
			e := *done
			e.Err = &causeError{ErrClosed, done.Err}
			return &e
		}
		err = &causeError{ErrClosed, err}
	}
	if placed {
		return err
	}
	return c.located(&Error{Phase: c.phase, Host: hostPort(c.original)}, err)
}

// located completes e with what err tells of the place where the call failed.
func (c *Call) located(e *Error, err error) *Error {
	switch failed := err.(type) {
	case *connect.ConnectError:
		return c.located(&Error{Phase: Phase(failed.Phase), Host: e.Host, Addr: failed.Addr, Prior: e.Prior}, failed.Err)
	case *connect.RoutesError:
		// The first failure is that of the way that should have worked.
		e.Prior = e.Prior[:len(e.Prior):len(e.Prior)]
		for _, other := range failed.Errs[1:] {
			e.Prior = append(e.Prior, c.located(&Error{Phase: e.Phase, Host: e.Host}, other))
		}
		return c.located(e, failed.Errs[0])
	}
	e.Err = translate(err)
	switch e.Phase {
	case PhaseQueue, PhaseRequest, PhaseDNS, PhaseConnect, PhaseTLS:
		e.safe = !c.spoke
	}
	return e
}

// endChain says that no further exchange will begin.
func (c *Call) endChain(err error) {
	c.mu.Lock()
	c.chain = chainEnded
	if err != nil && c.failure == nil {
		c.failure = err
	}
	open := c.exchange
	if err != nil && open != nil {
		c.mu.Unlock()
		open.abandon()
		c.mu.Lock()
	}
	c.settleAndUnlock()
}

// settleAndUnlock ends the call if nothing of it is open any more. It is called
// with the call's lock held and lets it go.
func (c *Call) settleAndUnlock() {
	if c.chain != chainEnded || c.exchange != nil {
		c.mu.Unlock()
		return
	}
	c.chain = callSettled
	failure, leak := c.failure, c.leak
	conn, reusable, reason := c.letGoLocked()
	c.mu.Unlock()
	if leak != nil {
		leak.Stop()
	}
	c.released(conn, reusable, reason)
	if c.stop != nil {
		c.stop()
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.ctx.free()
	if failure != nil {
		emit(c, CallFailed{failure})
	} else {
		emit(c, CallEnd{})
	}
}

// releaseConnection gives the held connection back, if there is one.
func (c *Call) releaseConnection() {
	c.mu.Lock()
	conn, reusable, reason := c.letGoLocked()
	c.mu.Unlock()
	c.released(conn, reusable, reason)
}

// letGoLocked takes the held connection from the call.
func (c *Call) letGoLocked() (conn *connect.Conn, reusable bool, reason string) {
	conn, reusable, reason = c.conn, c.reusable, c.reason
	c.conn = nil
	if c.cause != nil && conn != nil && !isShared(conn) { // cancel may have closed it
		reusable, reason = false, "the call was canceled"
	}
	return conn, reusable, reason
}

func (c *Call) released(conn *connect.Conn, reusable bool, reason string) {
	if conn != nil {
		conn.Release(reusable, reason)
		emit(c, ConnectionReleased{Connection{conn}})
	}
}
