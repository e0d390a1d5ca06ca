package okhttp

import (
	"context"
	"sync"
	"time"
)

// callContext is the context of a call: the request's, ended also by
// Call.Cancel, the call timeout and the client's Close. It lies within the Call,
// and makes a channel only when somebody asks for one: most calls never do.
type callContext struct {
	parent context.Context
	call   *Call

	mu     sync.Mutex
	merged context.Context // derived from parent on demand
	cancel context.CancelCauseFunc
	cause  error // why the call was canceled; nil while it was not
	over   bool  // the call is over
}

type callKey struct{}

// CallFrom returns the call in whose course ctx was handed out: to interceptors
// (through their request), dialers and resolvers. It returns nil for other contexts.
func CallFrom(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// end cancels the context.
func (c *callContext) end(cause error) {
	c.mu.Lock()
	c.cause = cause
	cancel := c.cancel
	c.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

// free lets go of what merging costs, once the call is over.
func (c *callContext) free() {
	c.mu.Lock()
	c.over = true
	cancel := c.cancel
	c.mu.Unlock()
	if cancel != nil {
		cancel(context.Canceled)
	}
}

func (c *callContext) merge() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.merged == nil {
		c.merged, c.cancel = context.WithCancelCause(c.parent)
		switch {
		case c.cause != nil:
			c.cancel(c.cause)
		case c.over: // nobody would end it any more
			c.cancel(context.Canceled)
		}
	}
	return c.merged
}

func (c *callContext) Done() <-chan struct{} { return c.merge().Done() }

func (c *callContext) Err() error {
	c.mu.Lock()
	merged, cause := c.merged, c.cause
	c.mu.Unlock()
	switch {
	case merged != nil:
		return merged.Err()
	case cause != nil:
		return context.Canceled
	default:
		return c.parent.Err()
	}
}

func (c *callContext) Deadline() (time.Time, bool) { return c.parent.Deadline() }

func (c *callContext) Value(key any) any {
	if key == (callKey{}) {
		return c.call
	}
	c.mu.Lock()
	merged := c.merged
	c.mu.Unlock()
	if merged != nil {
		return merged.Value(key) // so that package context finds the channel that Done gave
	}
	return c.parent.Value(key)
}
