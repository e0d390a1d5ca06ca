// Command concurrent makes calls at the same time, with one listener for each: a
// factory is asked for a listener when a call is made, so the listener's fields
// are that call's state, and nothing has to be sorted out afterwards.
//
//	go run ./examples/concurrent
//
// It starts its own server and needs no network.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/logging"
	"github.com/okhttp-go/okhttp/mockwebserver"
)

func main() {
	if err := run(os.Stdout, 3); err != nil {
		fmt.Fprintln(os.Stderr, "concurrent:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, calls int) error {
	server := mockwebserver.NewServer(mockwebserver.WithDispatcher(mockwebserver.DispatcherFunc(
		func(_ context.Context, r *mockwebserver.RecordedRequest) mockwebserver.Response {
			return mockwebserver.Text("this is " + r.Target).WithHeadDelay(20 * time.Millisecond)
		})))
	if err := server.Start(); err != nil {
		return err
	}
	defer server.Close()

	printer := &printer{out: out}
	client := okhttp.New(okhttp.WithEventListenerFactory(printer.listen))
	defer client.Close()

	var done sync.WaitGroup
	failed := make(chan error, calls)
	for i := range calls {
		req, err := http.NewRequest(http.MethodGet, server.URL(fmt.Sprintf("/%d", i+1)), nil)
		if err != nil {
			return err
		}
		done.Add(1)
		client.NewCall(req).Enqueue(func(resp *http.Response, err error) {
			defer done.Done()
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			if err != nil {
				failed <- err
			}
		})
	}
	done.Wait()
	close(failed)
	return <-failed // nil if none failed
}

// printer makes the listeners, and prints what they hear line by line.
type printer struct {
	mu    sync.Mutex
	out   io.Writer
	calls atomic.Int64
}

// callListener is one call's listener.
type callListener struct {
	printer *printer
	number  int64
	start   time.Time // set at CallStart, which precedes all that reads it
}

func (p *printer) listen(*okhttp.Call) okhttp.EventListener {
	return &callListener{printer: p, number: p.calls.Add(1)}
}

// OnEvent prints an event in its call's column.
func (l *callListener) OnEvent(call *okhttp.Call, event okhttp.Event) {
	if _, ok := event.(okhttp.CallStart); ok {
		l.start = time.Now()
	}
	name, details := logging.Describe(call, event)
	text := strings.Repeat("    ", int(l.number-1)) + strings.TrimSpace(name+" "+details)
	l.printer.mu.Lock()
	defer l.printer.mu.Unlock()
	fmt.Fprintf(l.printer.out, "call %d  %8.1f ms  %s\n", l.number, float64(time.Since(l.start).Microseconds())/1000, text)
}
