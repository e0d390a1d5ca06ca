package connect

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Whatever the attempts do: each that starts has one end; two never start within
// 250 ms unless nothing else is under way; a connection is found exactly if one
// can be; and no socket but its own is left open.
func TestRaceInvariants(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		synctest.Test(t, func(t *testing.T) {
			s := &script{begin: time.Now()}
			canConnect := false
			for range 1 + random.IntN(6) {
				a := randomAttempt(random)
				if a.planErr == nil && a.tcpErr == nil && a.tlsErr == nil {
					canConnect = true
				}
				p := s.add(a)
				if a.tlsErr != nil && random.IntN(2) == 0 {
					follow := randomAttempt(random)
					canConnect = canConnect || follow.tcpErr == nil && follow.tlsErr == nil
					p.followUp = s.make(follow)
				}
				// A retry ends as the first try would have.
				again := scripted{tcp: p.tcp, tcpErr: p.tcpErr, tlsErr: p.tlsErr}
				p.again = s.make(again)
				p.again.again = s.make(again)
				p.again.again.again = s.make(again)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			canceled := random.IntN(4) == 0
			if canceled {
				time.AfterFunc(time.Duration(random.IntN(800))*ms, cancel)
			}
			r := race{from: s, inTurn: random.IntN(5) == 0}
			_, err := r.run(ctx)
			s.mu.Lock()
			lines := len(s.log)
			s.mu.Unlock()
			time.Sleep(time.Hour)
			synctest.Wait()

			s.mu.Lock()
			defer s.mu.Unlock()
			open := 0
			if err == nil {
				open = 1
			}
			switch {
			case s.open != open:
				t.Errorf("seed %d: %d sockets are open, want %d", seed, s.open, open)
			case err != nil && canConnect && !canceled:
				t.Errorf("seed %d: nothing found: %v", seed, err)
			case err != nil && canceled && canConnect && !errors.Is(err, context.Canceled):
				t.Errorf("seed %d: got %v", seed, err)
			}
			for _, line := range s.log[lines:] {
				if !strings.HasSuffix(line, " closed") {
					t.Errorf("seed %d: reported after the end: %s", seed, line)
				}
			}
			if problem := checkStarts(s.log, r.inTurn); problem != "" {
				t.Errorf("seed %d: %s", seed, problem)
			}
			if t.Failed() {
				t.Logf("seed %d:\n\t%s", seed, strings.Join(s.log, "\n\t"))
			}
		})
		if t.Failed() {
			return
		}
	}
}

func randomAttempt(random *rand.Rand) scripted {
	a := scripted{
		tcp:  time.Duration(random.IntN(60)) * 10 * ms,
		tls:  time.Duration(random.IntN(3)) * 10 * ms,
		deaf: random.IntN(3) == 0,
	}
	switch random.IntN(6) {
	case 0:
		a.planErr = errBoom
	case 1, 2:
		a.tcpErr = errBoom
	case 3:
		a.tlsErr = errBoom
	}
	return a
}

// checkStarts reads a log and returns what is wrong about the attempts' starts
// and ends.
func checkStarts(log []string, inTurn bool) string {
	running := map[int]bool{}
	last := time.Duration(-1)
	for _, line := range log {
		var at, event string
		var id int
		if n, _ := fmt.Sscanf(line, "%s plan %d %s", &at, &id, &event); n != 3 {
			continue // "take plan"
		}
		when, err := time.ParseDuration(at)
		if err != nil {
			return err.Error()
		}
		switch event {
		case "TCP":
			if len(running) > 0 && (inTurn || when-last < attemptDelay) {
				return fmt.Sprintf("started too early: %s", line)
			}
			running[id], last = true, when
		case "failed:", "given", "connected":
			if !running[id] {
				return fmt.Sprintf("ended without a start, or twice: %s", line)
			}
			delete(running, id)
		case "TLS", "closed":
		default:
			return "unknown line: " + line
		}
	}
	if len(running) > 0 {
		return fmt.Sprintf("without an end: %v", running)
	}
	return ""
}
