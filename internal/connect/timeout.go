package connect

import (
	"context"
	"sync"
	"time"
)

// bound ends a context after some time. Unlike context.WithTimeout it lets go of
// the context when it is stopped: the runtime keeps a stopped timer, and all that
// it refers to, for about as long as it would have run, which with ten seconds
// is a lot of dials.
type bound struct {
	timer *time.Timer

	mu     sync.Mutex
	cancel context.CancelCauseFunc // nil once stopped
}

// within derives a context that ends after d, with context.DeadlineExceeded as
// its cause. The bound must be stopped.
func within(ctx context.Context, d time.Duration) (context.Context, *bound) {
	b := new(bound)
	ctx, b.cancel = context.WithCancelCause(ctx)
	b.timer = time.AfterFunc(d, func() { b.end(context.DeadlineExceeded) })
	return ctx, b
}

func (b *bound) stop() {
	b.timer.Stop()
	b.end(context.Canceled)
}

func (b *bound) end(cause error) {
	b.mu.Lock()
	cancel := b.cancel
	b.cancel = nil
	b.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

// deadlineContext only says when it ends. That is enough for net.Dialer, which
// sets the deadline of the socket by it, and needs no timer.
type deadlineContext struct {
	context.Context
	at time.Time
}

// Deadline returns the deadline.
func (c *deadlineContext) Deadline() (time.Time, bool) { return c.at, true }
