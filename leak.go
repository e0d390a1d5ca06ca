package okhttp

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"

	"github.com/okhttp-go/okhttp/internal/connect"
)

// Leak describes a response whose body was never closed nor read to its end.
type Leak struct {
	Method string
	Host   string // host:port
	Stack  string // of the goroutine that made the call, one "function\n\tfile:line" a frame
}

func (l Leak) String() string {
	return fmt.Sprintf("okhttp: response body of %s %s was never closed; the call was made by\n%s", l.Method, l.Host, l.Stack)
}

// leakRecord is what remains of a call after the garbage collector took it. It
// must not refer to the call.
type leakRecord struct {
	report func(Leak)
	method string
	host   string
	pcs    []uintptr
	conn   *connect.Conn
	codec  connect.Codec
	stop   func() bool // ends the watch over the request's context; may be nil
}

// detectLeak watches over the response that the call is about to hand out.
func (c *Call) detectLeak() {
	if c.cfg.leaks == nil {
		return
	}
	c.mu.Lock()
	conn, open := c.conn, c.exchange
	c.mu.Unlock()
	if open == nil || conn == nil {
		return
	}
	pcs := make([]uintptr, 32)
	pcs = pcs[:runtime.Callers(4, pcs)]
	r := &leakRecord{report: c.cfg.leaks, method: c.original.Method, host: hostPort(c.original), pcs: pcs, conn: conn, codec: open.codec, stop: c.stop}
	if r.method == "" {
		r.method = http.MethodGet
	}
	cleanup := runtime.AddCleanup(c, (*leakRecord).found, r)
	c.mu.Lock()
	c.leak = &cleanup
	c.mu.Unlock()
}

// found runs when a call is unreachable that was not settled.
func (r *leakRecord) found() {
	if r.stop != nil {
		r.stop()
	}
	r.codec.Cancel()
	reusable := false
	if r.conn.Multiplexed() {
		reusable, _ = r.codec.End()
	}
	r.conn.Release(reusable, "response body was never closed")
	r.report(Leak{Method: r.method, Host: r.host, Stack: formatStack(r.pcs)})
}

func formatStack(pcs []uintptr) string {
	var b strings.Builder
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" {
			fmt.Fprintf(&b, "%s\n\t%s:%d\n", f.Function, f.File, f.Line)
		}
		if !more {
			return b.String()
		}
	}
}
