package connect

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// attemptDelay is how long an attempt has the field to itself before the next
// one starts beside it (RFC 8305 section 5: the Connection Attempt Delay).
const attemptDelay = 250 * time.Millisecond

// errOvertaken is why attempts are given up when another has connected.
var errOvertaken = errors.New("given up, another address connected first")

// attempt is one way to open a connection, as a race sees it: it does not know
// what the steps do.
//
// connectTCP may be called in a goroutine of its own and must return soon after
// its context ends. No other method is called while it runs, save started before
// and abandoned; those must not touch what connectTCP writes.
type attempt interface {
	started()                             // reports the beginning
	connectTCP(ctx context.Context) error // the step that is raced

	// connectTLS does the rest, for the winner of the race only. If it fails it
	// may name attempts that should be made before all others.
	connectTLS(ctx context.Context) (Link, []attempt, error)

	failed(err error)                         // reports that a step failed
	abandoned(why error, after time.Duration) // reports that it was given up while connecting
	discard()                                 // closes what is open
	retry() attempt                           // the same way, afresh
}

// candidates is where the attempts of a race come from.
type candidates interface {
	// hasNext reports whether next may have another attempt.
	hasNext() bool

	// next takes the next attempt. It may block; when news arrives meanwhile it
	// fails with errNews. With errServed it ends the race. Another error is a failed
	// attempt like any other.
	next(ctx context.Context, news <-chan struct{}) (attempt, error)

	// deferFirst and deferLast give attempts back, to be taken before all
	// others: at the front of those given back earlier, or behind them.
	deferFirst(...attempt)
	deferLast(...attempt)
}

// race opens a connection in the manner of RFC 8305, "Happy Eyeballs".
//
//  1. Start the first attempt.
//  2. When one fails with nothing else under way, start the next at once. When
//     [attemptDelay] passes in silence, start the next beside those under way.
//  3. The first to connect TCP wins. The others are given up; they go to the end
//     of the deferred attempts, for the case that the winner disappoints.
//  4. The winner alone does TLS. If that fails, what the winner names goes to
//     the front of the deferred attempts, and it all begins again.
//
// The first error is the one to report; later ones are attached.
//
// With inTurn nothing runs beside anything else. The same holds for a last
// attempt with no rival: it is made on the caller's goroutine, at no more cost
// than the dialling itself.
type race struct {
	from   candidates
	inTurn bool

	// Owned by the caller's goroutine.
	running   []*entrant
	nextStart time.Time // not before this, while anything is running
	timer     *time.Timer
	errs      []error

	// news has a token when something was added to finished.
	news chan struct{}

	mu       sync.Mutex
	finished []*entrant // guarded by mu
}

// entrant is an attempt under way.
type entrant struct {
	attempt
	began  time.Time
	cancel context.CancelFunc // nil when made on the caller's goroutine

	// Guarded by race.mu until the entrant is taken from finished.
	err     error
	givenUp bool // its own goroutine clears up
}

// run races until a link is open or nothing is left to try. When it returns, no
// timer and no socket of the race is left but the link, and its goroutines end
// as soon as their dialling returns.
func (r *race) run(ctx context.Context) (Link, error) {
	defer r.stop()
	for {
		if end := endOf(ctx); end != nil {
			return Link{}, r.ended(ctx, end)
		}
		e := r.take()
		if e == nil {
			more := r.from.hasNext()
			switch {
			case len(r.running) == 0 && !more:
				return Link{}, joinErrors(r.errs)
			case !more || len(r.running) > 0 && time.Now().Before(r.nextStart):
				r.wait(ctx, more)
				continue
			}
			var news chan struct{}
			if len(r.running) > 0 {
				news = r.news
			}
			a, err := r.from.next(ctx, news)
			switch {
			case err == errNews:
				continue
			case err == errServed:
				return Link{}, err
			case err != nil && endOf(ctx) != nil:
				return Link{}, r.ended(ctx, err)
			case err != nil:
				r.errs = append(r.errs, err)
				continue
			}
			if !r.inTurn && (len(r.running) > 0 || r.from.hasNext()) {
				r.start(ctx, a)
				continue
			}
			e = &entrant{attempt: a, began: time.Now()}
			a.started()
			e.err = a.connectTCP(ctx)
		}
		link, err := r.finish(ctx, e)
		if err == nil {
			return link, nil
		}
		if endOf(ctx) != nil {
			return Link{}, r.ended(ctx, err)
		}
		r.errs = append(r.errs, err)
	}
}

// start makes an attempt in a goroutine of its own.
func (r *race) start(ctx context.Context, a attempt) {
	if r.news == nil {
		r.news = make(chan struct{}, 1)
	}
	ctx, cancel := context.WithCancel(ctx)
	e := &entrant{attempt: a, began: time.Now(), cancel: cancel}
	r.running = append(r.running, e)
	r.nextStart = e.began.Add(attemptDelay)
	a.started()
	go func() {
		err := a.connectTCP(ctx)
		r.mu.Lock()
		givenUp := e.givenUp
		if !givenUp {
			e.err = err
			r.finished = append(r.finished, e)
		}
		r.mu.Unlock()
		if givenUp {
			a.discard()
			return
		}
		select {
		case r.news <- struct{}{}:
		default: // a token is there already
		}
	}()
}

// wait sleeps until an attempt has finished, ctx ends, or, if there is another
// to start, its time has come.
func (r *race) wait(ctx context.Context, more bool) {
	var start <-chan time.Time
	if more {
		d := time.Until(r.nextStart)
		if r.timer == nil {
			r.timer = time.NewTimer(d)
		} else {
			r.timer.Reset(d)
		}
		start = r.timer.C
	}
	select {
	case <-r.news:
	case <-start:
	case <-ctx.Done():
	}
}

// take returns an attempt that has finished its TCP step, if there is one.
func (r *race) take() *entrant {
	if len(r.running) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.finished) == 0 {
		return nil
	}
	e := r.finished[0]
	r.finished = r.finished[1:]
	r.running = slices.DeleteFunc(r.running, func(other *entrant) bool { return other == e })
	e.cancel()
	return e
}

// finish turns an attempt whose TCP step is done into a link, or its error.
func (r *race) finish(ctx context.Context, e *entrant) (Link, error) {
	if e.err != nil {
		if endOf(ctx) != nil {
			e.abandoned(e.err, time.Since(e.began))
		} else {
			e.failed(e.err)
		}
		return Link{}, e.err
	}
	for _, loser := range r.giveUp(errOvertaken) {
		r.from.deferLast(loser.retry())
	}
	link, followUps, err := e.connectTLS(ctx)
	if err != nil {
		e.discard()
		if endOf(ctx) != nil {
			e.abandoned(err, time.Since(e.began))
		} else {
			e.failed(err)
		}
		r.from.deferFirst(followUps...)
	}
	return link, err
}

// giveUp ends all attempts under way and returns them.
func (r *race) giveUp(why error) []*entrant {
	if len(r.running) == 0 {
		return nil
	}
	r.mu.Lock()
	late := r.finished
	r.finished = nil
	for _, e := range r.running {
		if !slices.Contains(late, e) {
			e.givenUp = true
		}
	}
	r.mu.Unlock()
	losers := r.running
	r.running = nil
	for _, e := range losers {
		e.cancel()
		e.abandoned(why, time.Since(e.began))
	}
	for _, e := range late {
		e.discard() // it connected too, a moment later
	}
	return losers
}

// stop clears up at the end of the race.
func (r *race) stop() {
	r.giveUp(errOvertaken)
	if r.timer != nil {
		r.timer.Stop()
	}
}

// ended is the error of a race that ctx cut short: why, which says where, comes
// first, what had failed before is attached.
func (r *race) ended(ctx context.Context, why error) error {
	r.giveUp(endOf(ctx))
	return joinErrors(append([]error{why}, r.errs...))
}
