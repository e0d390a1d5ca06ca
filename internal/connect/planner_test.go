package connect

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/dns"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

const (
	six1  = "[2001:db8::1]:80"
	six2  = "[2001:db8::2]:80"
	four1 = "192.0.2.1:80"
	four2 = "192.0.2.2:80"
	four3 = "192.0.2.3:80"
)

// connectOnce makes one connection, as one call does.
func (n *network) connectOnce(t *testing.T, p *Planner) (Link, time.Duration, error) {
	t.Helper()
	begin := time.Now()
	link, err := p.Connect(t.Context(), Timeouts{Connect: 10 * time.Second}, nil)
	elapsed := time.Since(begin)
	synctest.Wait()
	if err == nil {
		n.wantOpen(t, 1)
		link.Raw.Close()
	}
	n.wantOpen(t, 0)
	return link, elapsed, err
}

func TestFallback(t *testing.T) {
	hole, good, refuse := behaviour{blackHole: true}, behaviour{}, behaviour{refuse: true}
	for _, test := range []struct {
		name   string
		answer string
		hosts  map[string]behaviour
		to     string
		after  time.Duration
		dials  []string
		second []string // what a second call dials
	}{
		{
			name: "two black holes", answer: "2001:db8::1 192.0.2.1 192.0.2.2",
			hosts: map[string]behaviour{six1: hole, four1: hole, four2: good},
			to:    four2, after: 500 * ms, dials: []string{six1, four1, four2},
			second: []string{four2},
		}, {
			name: "refused at once", answer: "192.0.2.1 192.0.2.2",
			hosts: map[string]behaviour{four1: refuse, four2: good},
			to:    four2, after: 0, dials: []string{four1, four2},
			second: []string{four2},
		}, {
			name: "IPv6 leads nowhere", answer: "192.0.2.1 2001:db8::1",
			hosts: map[string]behaviour{six1: hole, four1: good},
			to:    four1, after: 250 * ms, dials: []string{six1, four1},
			second: []string{four1},
		}, {
			name: "IPv6 is preferred", answer: "192.0.2.1 2001:db8::1",
			hosts: map[string]behaviour{six1: {after: 249 * ms}, four1: good},
			to:    six1, after: 249 * ms, dials: []string{six1},
			second: []string{six1},
		}, {
			name: "four dead of five", answer: "2001:db8::1 192.0.2.1 2001:db8::2 192.0.2.2 192.0.2.3",
			hosts: map[string]behaviour{six1: refuse, four1: hole, six2: refuse, four2: hole, four3: good},
			to:    four3, after: 750 * ms, dials: []string{six1, four1, six2, four2, four3},
			second: []string{four3},
		}, {
			name: "a slow one is not held against it where it wins", answer: "192.0.2.1 192.0.2.2",
			hosts: map[string]behaviour{four1: {after: 400 * ms}, four2: {after: 400 * ms}},
			to:    four1, after: 400 * ms, dials: []string{four1, four2},
			second: []string{four1, four2},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network{hosts: test.hosts}
				address, memory := testAddress(n.config(answers(test.answer))), NewRouteMemory()
				link, elapsed, err := n.connectOnce(t, NewPlanner(address, memory))
				if err != nil || link.Route.Addr.String() != test.to || elapsed != test.after {
					t.Errorf("got %v after %v, %v", link.Route, elapsed, err)
				}
				if got := n.dialled(); !slices.Equal(got, test.dials) {
					t.Errorf("dialled %v, want %v", got, test.dials)
				}
				if _, _, err := n.connectOnce(t, NewPlanner(address, memory)); err != nil {
					t.Error(err)
				}
				if got := n.dialled(); !slices.Equal(got, test.second) {
					t.Errorf("the second call dialled %v, want %v", got, test.second)
				}
			})
		})
	}
}

func TestFallbackOffWaitsForTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{hosts: map[string]behaviour{six1: {blackHole: true}, four1: {}}}
		config := n.config(answers("2001:db8::1 192.0.2.1"))
		config.FastFallback = false
		link, elapsed, err := n.connectOnce(t, NewPlanner(testAddress(config), nil))
		if err != nil || link.Route.Addr.String() != four1 || elapsed != 10*time.Second {
			t.Errorf("got %v after %v, %v", link.Route, elapsed, err)
		}
	})
}

func TestAllRoutesFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{hosts: map[string]behaviour{six1: {refuse: true}, four1: {blackHole: true}}}
		p := NewPlanner(testAddress(n.config(answers("2001:db8::1 192.0.2.1"))), nil)
		var rec recorder
		_, err := p.Connect(t.Context(), Timeouts{Connect: time.Second}, rec.trace())
		const first = "connect to a.test:80 at 2001:db8::1: connection refused"
		if err == nil || err.Error() != first+" (and 1 more: 192.0.2.1: timeout after 1s)" {
			t.Errorf("got %v", err)
		}
		var timeout *httpsem.TimeoutError
		if !errors.As(err, &timeout) || timeout.Op != httpsem.TimeoutConnect || !errors.Is(err, errRefused) {
			t.Errorf("the causes cannot be found in %v", err)
		}
		if p.HasNext() {
			t.Error("both routes were tried; nothing should be left")
		}
		rec.want(t,
			"ProxySelectStart", "ProxySelectEnd",
			"DNSStart a.test", "DNSEnd a.test [2001:db8::1 192.0.2.1]",
			"ConnectStart a.test:80 at 2001:db8::1", "ConnectFailed "+first,
			"ConnectStart a.test:80 at 192.0.2.1", "ConnectFailed connect to a.test:80 at 192.0.2.1: timeout after 1s",
		)
		if _, err := p.Connect(t.Context(), Timeouts{}, nil); !errors.Is(err, errNoRoute) {
			t.Errorf("got %v", err)
		}
		// To fail once more is better than not to try.
		if _, _, err := n.connectOnce(t, NewPlanner(p.addr, p.memory)); err == nil || len(n.dialled()) != 4 {
			t.Errorf("want both dialled again, got %v", err)
		}
	})
}

func TestPlannerRemembersAcrossRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{hosts: map[string]behaviour{six1: {blackHole: true}, four1: {}, six2: {}, four2: {}}}
		p := NewPlanner(testAddress(n.config(answers("2001:db8::1 2001:db8::2 192.0.2.1 192.0.2.2"))), nil)
		if !p.HasNext() {
			t.Error("a planner that has tried nothing has nothing left")
		}
		var got []string
		for p.HasNext() {
			link, err := p.Connect(t.Context(), Timeouts{Connect: time.Second}, nil)
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			link.Raw.Close()
			got = append(got, link.Route.Addr.String())
		}
		// The first call: six1 is given up for four1. The second: six1 again,
		// as it was deferred, and so on.
		if want := []string{four1, six2, four2, "connect to a.test:80 at 2001:db8::1: timeout after 1s"}; !slices.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		synctest.Wait()
		n.wantOpen(t, 0)
	})
}

func TestRetryRouteNeedsNoSelection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{hosts: map[string]behaviour{four1: {}, four2: {}}}
		address := testAddress(n.config(answers("192.0.2.1 192.0.2.2")))
		link, _, err := n.connectOnce(t, NewPlanner(address, nil))
		if err != nil {
			t.Fatal(err)
		}
		p := NewPlanner(address, nil) // of a call that was served from the pool
		if !p.HasNext() {
			t.Error("a planner that never selected has all before it")
		}
		p.RetryRoute(link.Route)
		var rec recorder
		link, err = p.Connect(t.Context(), Timeouts{}, rec.trace())
		if err != nil {
			t.Fatal(err)
		}
		link.Raw.Close()
		rec.want(t, "ConnectStart a.test:80 at 192.0.2.1", "ConnectEnd a.test:80 at 192.0.2.1 http/1.1")
		if !p.HasNext() {
			t.Error("the selection is still to be made")
		}
	})
}

func TestRetryRouteFailsThenSelects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{hosts: map[string]behaviour{four1: {refuse: true}, four2: {}}}
		p := NewPlanner(testAddress(n.config(answers("192.0.2.1 192.0.2.2"))), nil)
		p.RetryRoute(p.selectedRoute(t, "192.0.2.1"))
		link, _, err := n.connectOnce(t, p)
		if err != nil || link.Route.Addr.String() != four2 {
			t.Errorf("got %v, %v", link.Route, err)
		}
		// The failure has been remembered by the time of the selection.
		if got := n.dialled(); !slices.Equal(got, []string{four1, four2}) {
			t.Errorf("dialled %v", got)
		}
	})
}

// selectedRoute is the route of p's address at ip.
func (p *Planner) selectedRoute(t *testing.T, ip string) Route {
	t.Helper()
	routes, err := newSelector(p.addr, p.memory, nil).next(t.Context(), nil, nil)
	i := slices.IndexFunc(routes, func(r Route) bool { return r.Addr.Addr().String() == ip })
	if err != nil || i < 0 {
		t.Fatalf("no route to %s: %v", ip, err)
	}
	return routes[i]
}

// While a route is dialled again the others are looked up, after 250 ms, but the
// resolver must not hold up the connection.
func TestSlowResolverDoesNotDelayAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{hosts: map[string]behaviour{routeTo(1).Addr.String(): {after: 300 * ms}}}
		var asked atomic.Int32
		p := NewPlanner(testAddress(n.config(deafResolver(time.Minute, "192.0.2.1", &asked))), nil)
		p.RetryRoute(Route{Scheme: "http", Host: "a.test:80", Addr: routeTo(1).Addr})
		_, elapsed, err := n.connectOnce(t, p)
		time.Sleep(time.Minute) // until the resolver returns
		synctest.Wait()
		if err != nil || elapsed != 300*ms || asked.Load() != 1 {
			t.Errorf("after %v, %d questions: %v", elapsed, asked.Load(), err)
		}
	})
}

func TestConnectEndsWithItsContext(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer string
		dns    time.Duration
		want   string
	}{
		{"while the resolver is asked", "192.0.2.1", time.Hour, "look up a.test: shutting down"},
		{"while the only route connects", "192.0.2.1", 0, "connect to a.test:80 at 192.0.2.1: shutting down"},
		{"while two routes connect", "2001:db8::1 192.0.2.1", 0, "connect to a.test:80: shutting down"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network{hosts: map[string]behaviour{six1: {blackHole: true}, four1: {blackHole: true}}}
				var asked atomic.Int32
				p := NewPlanner(testAddress(n.config(deafResolver(test.dns, test.answer, &asked))), nil)
				shutdown := errors.New("shutting down")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(shutdown) })
				begin := time.Now()
				var rec recorder
				_, err := p.Connect(ctx, Timeouts{Connect: 10 * time.Second}, rec.trace())
				if elapsed := time.Since(begin); elapsed != time.Second {
					t.Errorf("returned after %v", elapsed)
				}
				if err == nil || err.Error() != test.want || !errors.Is(err, shutdown) || !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
				starts, ends := rec.count("ConnectStart"), rec.count("ConnectFailed")
				time.Sleep(time.Hour)
				synctest.Wait()
				if starts != ends || starts != rec.count("ConnectStart") || ends != rec.count("ConnectFailed") {
					t.Errorf("events do not pair or come late: %v", rec.events)
				}
				n.wantOpen(t, 0)
			})
		})
	}
}

func (r *recorder) count(prefix string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for _, e := range r.events {
		if strings.HasPrefix(e, prefix) {
			count++
		}
	}
	return count
}

func TestEventsOfARacePair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{hosts: map[string]behaviour{six1: {blackHole: true}, four1: {after: 10 * ms}}}
		p := NewPlanner(testAddress(n.config(answers("2001:db8::1 192.0.2.1"))), nil)
		var rec recorder
		link, err := p.Connect(t.Context(), Timeouts{}, rec.trace())
		if err != nil {
			t.Fatal(err)
		}
		rec.want(t,
			"ProxySelectStart", "ProxySelectEnd",
			"DNSStart a.test", "DNSEnd a.test [2001:db8::1 192.0.2.1]",
			"ConnectStart a.test:80 at 2001:db8::1",
			"ConnectStart a.test:80 at 192.0.2.1",
			"ConnectFailed connect to a.test:80 at 2001:db8::1: given up, another address connected first",
			"ConnectEnd a.test:80 at 192.0.2.1 http/1.1",
		)
		link.Raw.Close()
	})
}

func TestDialHostGetsTheName(t *testing.T) {
	var asked string
	config := &Config{
		Resolver: dns.System(), FastFallback: true,
		DialHost: func(_ context.Context, network, addr string) (net.Conn, error) {
			asked = network + " " + addr
			a, b := net.Pipe()
			b.Close()
			return a, nil
		},
	}
	link, err := NewPlanner(testAddress(config), nil).Connect(t.Context(), Timeouts{Connect: time.Second}, nil)
	if err != nil || asked != "tcp a.test:80" || link.Route.String() != "a.test:80" {
		t.Errorf("asked for %q, got %v, %v", asked, link.Route, err)
	}
}
