package connect

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errBoom = errors.New("boom")

const ms = time.Millisecond

func TestRace(t *testing.T) {
	for _, test := range []struct {
		name   string
		inTurn bool
		plans  func(s *script)
		finds  int    // how often a connection is asked for; 0 means once
		want   string // the plan of the last link, or the error
		log    string
	}{
		{
			name:  "only one",
			plans: func(s *script) { s.add(scripted{tcp: 400 * ms, tls: 10 * ms}) },
			want:  "plan 0",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				400ms plan 0 TLS connecting
				410ms plan 0 connected`,
		}, {
			name: "first connects before the second may start",
			plans: func(s *script) {
				s.add(scripted{tcp: 240 * ms})
				s.add(scripted{})
			},
			want: "plan 0",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				240ms plan 0 TLS connecting
				240ms plan 0 connected`,
		}, {
			name: "first connects before the second",
			plans: func(s *script) {
				s.add(scripted{tcp: 260 * ms})
				s.add(scripted{tcp: 20 * ms})
			},
			want: "plan 0",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				250ms take plan 1
				250ms plan 1 TCP connecting
				260ms plan 1 given up after 10ms
				260ms plan 0 TLS connecting
				260ms plan 0 connected`,
		}, {
			name: "second connects before the first",
			plans: func(s *script) {
				s.add(scripted{tcp: 270 * ms})
				s.add(scripted{tcp: 10 * ms})
			},
			want: "plan 1",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				250ms take plan 1
				250ms plan 1 TCP connecting
				260ms plan 0 given up after 260ms
				260ms plan 1 TLS connecting
				260ms plan 1 connected`,
		}, {
			name: "third connects first",
			plans: func(s *script) {
				s.add(scripted{tcp: 520 * ms})
				s.add(scripted{tcp: 260 * ms})
				s.add(scripted{tcp: 5 * ms})
			},
			want: "plan 2",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				250ms take plan 1
				250ms plan 1 TCP connecting
				500ms take plan 2
				500ms plan 2 TCP connecting
				505ms plan 0 given up after 505ms
				505ms plan 1 given up after 255ms
				505ms plan 2 TLS connecting
				505ms plan 2 connected`,
		}, {
			name: "a loser that cannot be interrupted is closed when it connects",
			plans: func(s *script) {
				s.add(scripted{tcp: 270 * ms, deaf: true})
				s.add(scripted{tcp: 10 * ms})
			},
			want: "plan 1",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				250ms take plan 1
				250ms plan 1 TCP connecting
				260ms plan 0 given up after 260ms
				260ms plan 1 TLS connecting
				260ms plan 1 connected
				270ms plan 0 closed`,
		}, {
			name: "a loser does no TLS",
			plans: func(s *script) {
				s.add(scripted{tcp: 270 * ms, deaf: true})
				s.add(scripted{tcp: 10 * ms, tls: 20 * ms})
			},
			want: "plan 1",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				250ms take plan 1
				250ms plan 1 TCP connecting
				260ms plan 0 given up after 260ms
				260ms plan 1 TLS connecting
				270ms plan 0 closed
				280ms plan 1 connected`,
		}, {
			name:  "asked again, the loser gets its chance",
			finds: 2,
			plans: func(s *script) {
				loser := s.add(scripted{tcp: 270 * ms, deaf: true})
				s.add(scripted{tcp: 10 * ms})
				loser.again = s.make(scripted{tcp: 20 * ms})
			},
			want: "plan 2",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				250ms take plan 1
				250ms plan 1 TCP connecting
				260ms plan 0 given up after 260ms
				260ms plan 1 TLS connecting
				260ms plan 1 connected
				260ms plan 2 TCP connecting
				270ms plan 0 closed
				280ms plan 2 TLS connecting
				280ms plan 2 connected`,
		}, {
			name:  "only one, and it fails",
			plans: func(s *script) { s.add(scripted{tcpErr: errBoom}) },
			want:  "boom",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				0s plan 0 failed: boom`,
		}, {
			name: "a failure starts the next at once",
			plans: func(s *script) {
				s.add(scripted{tcp: 3 * ms, tcpErr: errBoom})
				s.add(scripted{})
			},
			want: "plan 1",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				3ms plan 0 failed: boom
				3ms take plan 1
				3ms plan 1 TCP connecting
				3ms plan 1 TLS connecting
				3ms plan 1 connected`,
		}, {
			name: "the first error leads",
			plans: func(s *script) {
				s.add(scripted{tcpErr: errors.New("boom 0")})
				s.add(scripted{tcpErr: errors.New("boom 1")})
			},
			want: "boom 0 (and 1 more: boom 1)",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				0s plan 0 failed: boom 0
				0s take plan 1
				0s plan 1 TCP connecting
				0s plan 1 failed: boom 1`,
		}, {
			name:  "planning fails",
			plans: func(s *script) { s.add(scripted{planErr: errBoom}) },
			want:  "boom",
			log:   `0s take plan 0`,
		}, {
			name: "planning fails once",
			plans: func(s *script) {
				s.add(scripted{planErr: errBoom})
				s.add(scripted{})
			},
			want: "plan 1",
			log: `0s take plan 0
				0s take plan 1
				0s plan 1 TCP connecting
				0s plan 1 TLS connecting
				0s plan 1 connected`,
		}, {
			name: "the winner's TLS fails and the loser is dialled again",
			plans: func(s *script) {
				loser := s.add(scripted{tcp: 270 * ms, deaf: true})
				s.add(scripted{tcp: 10 * ms, tlsErr: errBoom})
				loser.again = s.make(scripted{})
			},
			want: "plan 2",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				250ms take plan 1
				250ms plan 1 TCP connecting
				260ms plan 0 given up after 260ms
				260ms plan 1 TLS connecting
				260ms plan 1 closed
				260ms plan 1 failed: boom
				260ms plan 2 TCP connecting
				260ms plan 2 TLS connecting
				260ms plan 2 connected
				270ms plan 0 closed`,
		}, {
			name: "what TLS asks for is done",
			plans: func(s *script) {
				first := s.add(scripted{tlsErr: errBoom})
				first.followUp = s.make(scripted{})
			},
			want: "plan 1",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				0s plan 0 TLS connecting
				0s plan 0 closed
				0s plan 0 failed: boom
				0s plan 1 TCP connecting
				0s plan 1 TLS connecting
				0s plan 1 connected`,
		}, {
			// Two races: 0 against 1, then 1's follow-up against 0's retry. The
			// follow-up goes first, and its rival keeps the distance again.
			name: "a second race after TLS failed",
			plans: func(s *script) {
				zero := s.add(scripted{tcp: 280 * ms, deaf: true})
				one := s.add(scripted{tcp: 10 * ms, tls: 10 * ms, tlsErr: errBoom})
				one.followUp = s.make(scripted{tcp: 270 * ms, deaf: true})
				zero.again = s.make(scripted{tcp: 10 * ms})
			},
			want: "plan 3",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				250ms take plan 1
				250ms plan 1 TCP connecting
				260ms plan 0 given up after 260ms
				260ms plan 1 TLS connecting
				270ms plan 1 closed
				270ms plan 1 failed: boom
				270ms plan 2 TCP connecting
				280ms plan 0 closed
				520ms plan 3 TCP connecting
				530ms plan 2 given up after 260ms
				530ms plan 3 TLS connecting
				530ms plan 3 connected
				540ms plan 2 closed`,
		}, {
			name: "what TLS asks for precedes the rest and the losers",
			plans: func(s *script) {
				s.add(scripted{tcp: time.Hour})
				one := s.add(scripted{tlsErr: errBoom})
				s.add(scripted{})
				one.followUp = s.make(scripted{tcpErr: errBoom})
			},
			want: "plan 4", // 0's retry; 2 is never needed
			log: `0s take plan 0
				0s plan 0 TCP connecting
				250ms take plan 1
				250ms plan 1 TCP connecting
				250ms plan 0 given up after 250ms
				250ms plan 1 TLS connecting
				250ms plan 1 closed
				250ms plan 1 failed: boom
				250ms plan 3 TCP connecting
				250ms plan 3 failed: boom
				250ms plan 4 TCP connecting
				250ms plan 4 TLS connecting
				250ms plan 4 connected`,
		}, {
			// Several fail at nearly the same time: a start at once only when
			// nothing else is under way, else 250 ms between two starts.
			name: "the distance between starts is kept",
			plans: func(s *script) {
				s.add(scripted{tcp: 510 * ms, tcpErr: errBoom})
				s.add(scripted{tcp: 270 * ms, tcpErr: errBoom})
				s.add(scripted{tcp: 30 * ms, tcpErr: errBoom})
				s.add(scripted{tcp: 270 * ms})
				s.add(scripted{tcp: 10 * ms})
			},
			want: "plan 4",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				250ms take plan 1
				250ms plan 1 TCP connecting
				500ms take plan 2
				500ms plan 2 TCP connecting
				510ms plan 0 failed: boom
				520ms plan 1 failed: boom
				530ms plan 2 failed: boom
				530ms take plan 3
				530ms plan 3 TCP connecting
				780ms take plan 4
				780ms plan 4 TCP connecting
				790ms plan 3 given up after 260ms
				790ms plan 4 TLS connecting
				790ms plan 4 connected`,
		}, {
			name:   "in turn: nothing beside, however long it takes",
			inTurn: true,
			plans: func(s *script) {
				s.add(scripted{tcp: 10 * time.Second, tcpErr: errBoom})
				one := s.add(scripted{tcp: 400 * ms, tlsErr: errBoom})
				s.add(scripted{tcp: time.Hour})
				one.followUp = s.make(scripted{tcp: 300 * ms})
			},
			want: "plan 3",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				10s plan 0 failed: boom
				10s take plan 1
				10s plan 1 TCP connecting
				10.4s plan 1 TLS connecting
				10.4s plan 1 closed
				10.4s plan 1 failed: boom
				10.4s plan 3 TCP connecting
				10.7s plan 3 TLS connecting
				10.7s plan 3 connected`,
		}, {
			name:   "in turn: all fail",
			inTurn: true,
			plans: func(s *script) {
				s.add(scripted{tcpErr: errBoom})
				s.add(scripted{planErr: errors.New("bad plan")})
				s.add(scripted{tlsErr: errors.New("bad certificate")})
			},
			want: "boom (and 2 more: bad plan; bad certificate)",
			log: `0s take plan 0
				0s plan 0 TCP connecting
				0s plan 0 failed: boom
				0s take plan 1
				0s take plan 2
				0s plan 2 TCP connecting
				0s plan 2 TLS connecting
				0s plan 2 closed
				0s plan 2 failed: bad certificate`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{begin: time.Now()}
				test.plans(s)
				var got string
				for range max(test.finds, 1) {
					r := race{from: s, inTurn: test.inTurn}
					if link, err := r.run(t.Context()); err != nil {
						got = err.Error()
					} else {
						got = link.Protocol
						s.mu.Lock()
						s.open-- // the link's own
						s.mu.Unlock()
					}
				}
				time.Sleep(time.Second) // for those that cannot be interrupted
				synctest.Wait()
				if got != test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
				s.wantLog(t, test.log)
			})
		})
	}
}

func TestRaceEndsWithItsContext(t *testing.T) {
	shutdown := errors.New("shutting down")
	for _, test := range []struct {
		name  string
		after time.Duration
		plans func(s *script)
		log   string
	}{
		{
			name: "before anything starts", after: 0,
			plans: func(s *script) { s.add(scripted{}) },
		}, {
			name: "while the only one connects", after: 100 * ms,
			plans: func(s *script) { s.add(scripted{tcp: time.Hour}) },
			log: `0s take plan 0
				0s plan 0 TCP connecting
				100ms plan 0 given up after 100ms`,
		}, {
			name: "while two connect", after: 300 * ms,
			plans: func(s *script) {
				s.add(scripted{tcp: time.Hour})
				s.add(scripted{tcp: 400 * ms, deaf: true})
				s.add(scripted{})
			},
			log: `0s take plan 0
				0s plan 0 TCP connecting
				250ms take plan 1
				250ms plan 1 TCP connecting
				300ms plan 0 given up after 300ms
				300ms plan 1 given up after 50ms
				650ms plan 1 closed`,
		}, {
			name: "while the winner does TLS", after: 300 * ms,
			plans: func(s *script) {
				s.add(scripted{tcp: 10 * ms, tls: time.Hour})
				s.add(scripted{})
			},
			log: `0s take plan 0
				0s plan 0 TCP connecting
				10ms plan 0 TLS connecting
				300ms plan 0 closed
				300ms plan 0 given up after 300ms`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{begin: time.Now()}
				test.plans(s)
				ctx, cancel := context.WithCancelCause(t.Context())
				if test.after == 0 {
					cancel(shutdown)
				} else {
					time.AfterFunc(test.after, func() { cancel(shutdown) })
				}
				r := race{from: s}
				_, err := r.run(ctx)
				if elapsed := time.Since(s.begin); elapsed != test.after {
					t.Errorf("returned after %v, want %v", elapsed, test.after)
				}
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				s.wantLog(t, test.log)
			})
		})
	}
}

func TestRaceEndedEarlyTellsWhatFailedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{begin: time.Now()}
		s.add(scripted{tcpErr: errBoom})
		s.add(scripted{tcp: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := (&race{from: s}).run(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errBoom) || !isTimeout(err) {
			t.Errorf("got %v", err)
		}
	})
}

// Two connect at the same moment: one is the winner, the other is closed.
func TestRaceDeadHeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{begin: time.Now()}
		r := race{from: s}
		r.start(t.Context(), s.make(scripted{}))
		r.start(t.Context(), s.make(scripted{}))
		synctest.Wait()
		if _, err := r.finish(t.Context(), r.take()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s.open != 1 || len(r.running) != 0 || r.take() != nil || len(s.given) != 1 {
			t.Errorf("%d sockets are open, %d attempts run, %d are deferred", s.open, len(r.running), len(s.given))
		}
	})
}
