package connect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// script is a planner whose attempts take the time and the end that a test
// writes down for them. It logs what happens, with the virtual time.
type script struct {
	begin time.Time
	todo  []*scripted
	given []attempt // deferred

	mu   sync.Mutex // virtual time orders nothing for the race detector
	log  []string
	open int // sockets
	last int // number of the last attempt
}

// scripted is one attempt. By default it connects at once.
type scripted struct {
	*script
	id       int
	tcp, tls time.Duration
	planErr  error
	tcpErr   error
	tlsErr   error
	deaf     bool // does not mind its context
	followUp *scripted
	again    *scripted // what retry returns; nil: a new one

	connected bool // owned by whoever runs connectTCP, then by the race
}

func (s *script) add(a scripted) *scripted {
	p := s.make(a)
	s.todo = append(s.todo, p)
	return p
}

// make numbers an attempt without planning it.
func (s *script) make(a scripted) *scripted {
	a.script, a.id = s, s.last
	s.last++
	return &a
}

func (s *script) logf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf("%v ", time.Since(s.begin))+fmt.Sprintf(format, args...))
}

func (s *script) hasNext() bool { return len(s.given) > 0 || len(s.todo) > 0 }

func (s *script) next(context.Context, <-chan struct{}) (attempt, error) {
	if len(s.given) > 0 {
		next := s.given[0]
		s.given = s.given[1:]
		return next, nil
	}
	next := s.todo[0]
	s.todo = s.todo[1:]
	s.logf("take plan %d", next.id)
	if next.planErr != nil {
		return nil, next.planErr
	}
	return next, nil
}

func (s *script) deferFirst(a ...attempt) { s.given = slices.Insert(s.given, 0, a...) }
func (s *script) deferLast(a ...attempt)  { s.given = append(s.given, a...) }

func (a *scripted) started() { a.logf("plan %d TCP connecting", a.id) }

func (a *scripted) connectTCP(ctx context.Context) error {
	if a.deaf {
		time.Sleep(a.tcp)
	} else if a.tcp > 0 {
		select {
		case <-time.After(a.tcp):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if a.tcpErr != nil {
		return a.tcpErr
	}
	a.mu.Lock()
	a.open++
	a.mu.Unlock()
	a.connected = true
	return nil
}

func (a *scripted) connectTLS(ctx context.Context) (Link, []attempt, error) {
	a.logf("plan %d TLS connecting", a.id)
	if a.tls > 0 {
		select {
		case <-time.After(a.tls):
		case <-ctx.Done():
			return Link{}, nil, ctx.Err()
		}
	}
	if a.tlsErr != nil {
		var next []attempt
		if a.followUp != nil {
			next = append(next, a.followUp)
		}
		return Link{}, next, a.tlsErr
	}
	a.logf("plan %d connected", a.id)
	return Link{Protocol: fmt.Sprintf("plan %d", a.id)}, nil, nil
}

func (a *scripted) failed(err error) { a.logf("plan %d failed: %v", a.id, err) }

func (a *scripted) abandoned(why error, after time.Duration) {
	a.logf("plan %d given up after %v", a.id, after)
}

func (a *scripted) discard() {
	if a.connected {
		a.logf("plan %d closed", a.id)
		a.mu.Lock()
		a.open--
		a.mu.Unlock()
	}
}

func (a *scripted) retry() attempt {
	if a.again == nil {
		a.again = a.make(scripted{})
	}
	return a.again
}

// wantLog compares the whole log and makes sure that no socket is open.
func (s *script) wantLog(t *testing.T, want string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for line := range strings.Lines(want) {
		lines = append(lines, strings.TrimSpace(line))
	}
	if !slices.Equal(s.log, lines) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(s.log, "\n\t"), strings.Join(lines, "\n\t"))
	}
	if s.open != 0 {
		t.Errorf("%d sockets are left open", s.open)
	}
}
