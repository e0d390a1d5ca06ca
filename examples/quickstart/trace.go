package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/logging"
)

// trace is the listener of one call: a factory makes one for each, so its fields
// are that call's state.
type trace struct {
	mu     sync.Mutex // events of one call may come from several goroutines
	start  time.Time
	lines  []line
	reused bool
}

type line struct {
	at            time.Duration
	name, details string
}

// OnEvent notes an event.
func (t *trace) OnEvent(call *okhttp.Call, event okhttp.Event) {
	name, details := logging.Describe(call, event)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := event.(type) {
	case okhttp.CallStart:
		t.start = time.Now()
	case okhttp.ConnectionAcquired:
		t.reused = e.Reused
	}
	t.lines = append(t.lines, line{time.Since(t.start), name, details})
}

func (t *trace) count(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, l := range t.lines {
		if l.name == name {
			n++
		}
	}
	return n
}

// print writes the events as a table.
func (t *trace) print(out io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.lines {
		if l.details == "" {
			fmt.Fprintf(out, "   %9s  %s\n", "+"+millis(l.at), l.name)
			continue
		}
		fmt.Fprintf(out, "   %9s  %-20s  %s\n", "+"+millis(l.at), l.name, l.details)
	}
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
