package logging

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/okhttp-go/okhttp"
)

// Listener gives log one line for each event of each call:
//
//	[12 ms] connectEnd: example.com:443 at 192.0.2.1 http/1.1
//
// The time is that since the call's CallStart. The lines of concurrent calls come
// between each other; to tell them apart, make log in a factory of your own:
//
//	okhttp.WithEventListenerFactory(func(call *okhttp.Call) okhttp.EventListener {
//		id := nextID()
//		return logging.Listener(func(line string) { log.Printf("call %d %s", id, line) })(call)
//	})
//
// log is called on the goroutines of the calls, which wait for it.
func Listener(log func(line string)) okhttp.EventListenerFactory {
	return func(*okhttp.Call) okhttp.EventListener {
		var since clock
		return okhttp.EventListenerFunc(func(call *okhttp.Call, event okhttp.Event) {
			name, details := Describe(call, event)
			line := fmt.Sprintf("[%d ms] %s", since.at(event).Milliseconds(), lowerName(name))
			if details != "" {
				line += ": " + details
			}
			log(line)
		})
	}
}

// SlogListener logs each event of each call as a record, with the event's name as
// its message and the attributes "call" (the calls of this listener, counted from
// 1), "elapsed" (a duration, since CallStart) and what the event tells, such as
// "route", "connection", "bytes", "reason", "error". Where the logger does not log
// at that level, an event costs next to nothing. The record's context is the
// call's. A nil logger means slog.Default.
func SlogListener(logger *slog.Logger, level slog.Level) okhttp.EventListenerFactory {
	if logger == nil {
		logger = slog.Default()
	}
	numbers := new(atomic.Uint64)
	return func(*okhttp.Call) okhttp.EventListener {
		number := numbers.Add(1)
		var since clock
		return okhttp.EventListenerFunc(func(call *okhttp.Call, event okhttp.Event) {
			elapsed, ctx := since.at(event), context.Background()
			if call != nil {
				ctx = call.Context()
			}
			if !logger.Enabled(ctx, level) {
				return
			}
			details := detailsOf(call, event)
			attrs := make([]slog.Attr, 0, len(details)+2)
			attrs = append(attrs, slog.Uint64("call", number), slog.Duration("elapsed", elapsed))
			for _, d := range details {
				attrs = append(attrs, slog.Any(d.key, d.value))
			}
			logger.LogAttrs(ctx, level, lowerName(eventName(event)), attrs...)
		})
	}
}

// clock tells the time since a call's first event.
type clock struct{ start atomic.Pointer[time.Time] }

// at is the time of an event that is being reported.
func (c *clock) at(event okhttp.Event) time.Duration {
	if _, first := event.(okhttp.CallStart); first {
		now := time.Now()
		c.start.Store(&now)
	}
	if start := c.start.Load(); start != nil {
		return time.Since(*start)
	}
	return 0 // canceled before it started
}
