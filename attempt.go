package okhttp

import (
	"context"
	"net/http"
)

// attempt is the context that an interceptor has put into the request with which
// it proceeds, to bound what is below it: a timeout for one try, say. Its end
// ends the exchange, not the call. Most calls have none.
type attempt struct {
	ctx  context.Context
	stop func() bool // ends the watch over ctx; nil while there is none
}

// attemptOf returns the attempt that a request stands for, nil for none.
func (c *Call) attemptOf(req *http.Request) *attempt {
	if len(c.cfg.applicationInterceptors)+len(c.cfg.networkInterceptors) == 0 {
		return nil
	}
	ctx := req.Context()
	if own, ok := ctx.(*callContext); ok && own == &c.ctx || ctx.Done() == nil {
		return nil
	}
	return &attempt{ctx: ctx}
}

// err is why the attempt has ended, nil if it has not.
func (a *attempt) err() error {
	if a == nil {
		return nil
	}
	return endOf(a.ctx)
}

// within derives the attempt's context for something that must also end with
// the call. done must be called.
func (a *attempt) within(call context.Context) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(a.ctx)
	stop := context.AfterFunc(call, func() { cancel(context.Cause(call)) })
	return ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

// watch ends the exchange when the attempt ends. It replaces an earlier watch.
func (e *exchange) watch(a *attempt) {
	e.unwatch()
	e.attempt = a
	if a == nil {
		return
	}
	a.stop = context.AfterFunc(a.ctx, func() {
		c := e.call
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.exchange == e { // else the connection is not this exchange's any more
			e.codec.Cancel()
		}
	})
}

func (e *exchange) unwatch() {
	if a := e.attempt; a != nil && a.stop != nil {
		a.stop()
	}
}

// ended is why the call was canceled or the exchange's attempt ended, nil if
// neither is so.
func (e *exchange) ended() error {
	if cause := e.call.canceledErr(); cause != nil {
		return cause
	}
	return e.attempt.err()
}
