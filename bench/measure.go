package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// cpuTime returns the processor time this process has used, user and system.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // only an invalid argument could be the reason
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// usage is what a loop of calls has cost.
type usage struct {
	calls           int
	cpu, wall       time.Duration
	mallocs, malloc uint64
}

// add adds the cost of more calls.
func (u *usage) add(more usage) {
	u.calls += more.calls
	u.cpu += more.cpu
	u.wall += more.wall
	u.mallocs += more.mallocs
	u.malloc += more.malloc
}

func (u usage) figures() figures {
	var f figures
	n := float64(u.calls)
	f[cpu] = float64(u.cpu) / n
	f[rate] = n / u.wall.Seconds()
	f[allocs] = float64(u.mallocs) / n
	f[allocBytes] = float64(u.malloc) / n
	return f
}

// runLoop makes about calls calls, shared evenly by the workers, all of which
// start at once, and returns what they cost.
func runLoop(workers []worker, calls int) (usage, error) {
	each := max(1, calls/len(workers))
	start := make(chan struct{})
	errs := make([]error, len(workers))
	excluded := make([]usage, len(workers))
	var done sync.WaitGroup
	for i, w := range workers {
		done.Go(func() {
			<-start
			excluded[i], errs[i] = w.run(each)
		})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, cpuBegan := time.Now(), cpuTime()
	close(start)
	done.Wait()
	u := usage{calls: each * len(workers), cpu: cpuTime() - cpuBegan, wall: time.Since(began)}
	runtime.ReadMemStats(&after)
	u.mallocs, u.malloc = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	for i, err := range errs {
		if err != nil {
			return usage{}, err
		}
		u.cpu -= excluded[i].cpu
		u.wall -= excluded[i].wall
	}
	return u, nil
}

// run makes calls calls and returns what tidying up after them has cost.
func (w worker) run(calls int) (excluded usage, err error) {
	if w.loop != nil {
		return usage{}, w.loop(calls)
	}
	for range calls {
		if err := w.call(); err != nil {
			return excluded, err
		}
		if w.after == nil {
			continue
		}
		began, cpuBegan := time.Now(), cpuTime()
		if err := w.after(); err != nil {
			return excluded, err
		}
		excluded.cpu += cpuTime() - cpuBegan
		excluded.wall += time.Since(began)
	}
	return excluded, nil
}

// makeWorkers prepares workers of a client that together make n calls at once.
func makeWorkers(c client, x exchange, n int) ([]worker, error) {
	if m, ok := c.(multiplexer); ok {
		w, err := m.multiplex(x, n)
		return []worker{w}, err
	}
	workers := make([]worker, n)
	for i := range workers {
		var err error
		if workers[i], err = c.worker(x); err != nil {
			return nil, err
		}
	}
	if !x.listener.http2() {
		return workers, nil
	}
	// A call alone, so that all later ones find the one connection it leaves: a
	// client that begins with many may dial for each.
	_, err := workers[0].run(1)
	return workers, err
}

// residentBytes collects, gives free memory back, and returns what remains
// resident of this process.
func residentBytes() (int64, error) {
	runtime.GC()
	runtime.GC() // what a finalizer or a pool held, too
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, fmt.Errorf("resident memory can be measured on Linux only: %w", err)
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, fmt.Errorf("statm: %q", text)
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}
