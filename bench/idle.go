package main

import (
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// openers is how many goroutines open the idle connections: two cores, each
// with one end of a TLS handshake to work on, are kept busy.
const openers = 8

// idle measures what connections keep resident that a client holds idle. It
// opens them by exchanges whose answers it leaves half read, so that none can be
// reused for the next; then it reads all the rest.
func (j job) idle(s scenario) (report, error) {
	name := j.Clients[0]
	if err := allowDescriptors(j.Connections); err != nil {
		return report{}, err
	}
	c, err := newClient(name, newEnvironment(j.Servers, s.x))
	if err != nil {
		return report{}, err
	}
	defer c.close()
	line, err := dialControl(j.Servers)
	if err != nil {
		return report{}, err
	}
	defer line.close()

	// A few connections first, so that what is paid once does not count.
	const first = 2 * openers
	if err := openIdle(c, s.x, line, first); err != nil {
		return report{}, err
	}
	goroutinesBefore := settledGoroutines()
	before, err := residentBytes()
	if err != nil {
		return report{}, err
	}
	counts, err := line.counts()
	if err != nil {
		return report{}, err
	}
	if err := openIdle(c, s.x, line, first+j.Connections); err != nil {
		return report{}, err
	}
	goroutinesAfter := settledGoroutines()
	after, err := residentBytes()
	if err != nil {
		return report{}, err
	}
	countsAfter, err := line.counts()
	if err != nil {
		return report{}, err
	}
	opened := countsAfter.Accepted - counts.Accepted

	if opened < int64(j.Connections*9/10) {
		return report{}, fmt.Errorf("only %d connections were opened for %d exchanges at once", opened, j.Connections)
	}

	// They must still be there, and of use: as many exchanges again find them
	// all. (raw never reuses one that was held.)
	if name != rawConn {
		if err := openIdle(c, s.x, line, first+j.Connections); err != nil {
			return report{}, err
		}
		if countsAfter, err = line.counts(); err != nil {
			return report{}, err
		}
		if again := countsAfter.Accepted - counts.Accepted - opened; again > 0 {
			return report{}, fmt.Errorf("of %d idle connections %d had to be opened again", opened, again)
		}
	}

	var f figures
	f[resident] = float64(after-before) / float64(opened)
	f[goroutines] = float64(goroutinesAfter-goroutinesBefore) / float64(opened)
	return report{Figures: map[string][]figures{name: {f}}, Dials: opened}, nil
}

// openIdle brings a client to have n idle connections, those it has included.
func openIdle(c client, x exchange, line *control, n int) error {
	var opening sync.WaitGroup
	finish := make([][]func() error, openers)
	errs := make([]error, openers)
	for i := range openers {
		opening.Go(func() {
			for len(finish[i]) < n/openers {
				f, err := c.hold(x, i+openers*len(finish[i]))
				if err != nil {
					errs[i] = err
					return
				}
				finish[i] = append(finish[i], f)
			}
		})
	}
	opening.Wait()
	if err := line.release(); err != nil {
		return err
	}
	for i := range openers {
		if errs[i] != nil {
			return errs[i]
		}
		for _, f := range finish[i] {
			if err := f(); err != nil {
				return err
			}
		}
	}
	return nil
}

// settledGoroutines returns the number of goroutines once it has stopped
// changing.
func settledGoroutines() int {
	n := runtime.NumGoroutine()
	for range 50 {
		time.Sleep(20 * time.Millisecond)
		now := runtime.NumGoroutine()
		if now == n {
			break
		}
		n = now
	}
	return n
}

// allowDescriptors raises the limit on open files so that n connections fit.
func allowDescriptors(n int) error {
	need := uint64(n + 200)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if limit.Cur >= need {
		return nil
	}
	if limit.Max < need {
		return fmt.Errorf("%d connections need %d open files, the limit is %d (raise it, or lower -connections)", n, need, limit.Max)
	}
	limit.Cur = limit.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}
