package okhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/dns"
	"github.com/okhttp-go/okhttp/internal/testkit"
)

// The tests named TestP… are the pains of Go developers that are listed in the
// project's specification, those of the pool and of connecting here.

// TestP8: counting errors in the per-host limit. The server closes after each
// answer, and callers lose their patience at random.
func TestP8(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.serve("a.test", func(_ int, c *rawConn) {
			if head, _ := c.request(); head != "" {
				time.Sleep(time.Millisecond)
				c.send(fineAnswer)
				c.Close()
			}
		})
		var most atomic.Int64
		c := m.client(okhttp.WithMaxConnectionsPerHost(1), okhttp.WithAddressDialer(
			func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := m.DialContext(ctx, network, addr)
				most.Store(max(most.Load(), int64(m.OpenSockets())))
				time.Sleep(100 * time.Microsecond)
				return conn, err
			}))
		random := rand.New(rand.NewPCG(8, 8))
		fine, canceled := 0, 0
		for range 1000 {
			var calls sync.WaitGroup
			errs := make([]error, 3)
			for i := range errs {
				ctx, cancel := context.WithCancel(context.Background())
				if random.IntN(2) == 0 {
					time.AfterFunc(time.Duration(random.IntN(5000))*time.Microsecond, cancel)
				}
				req := newRequest(t, "GET", "http://a.test/", nil).WithContext(ctx)
				calls.Go(func() {
					defer cancel()
					_, _, errs[i] = fetch(c, req)
				})
			}
			calls.Wait() // a waiter that is stuck would be a deadlock here
			for _, err := range errs {
				switch {
				case err == nil:
					fine++
				case errors.Is(err, context.Canceled):
					canceled++
				default:
					t.Fatal(err)
				}
			}
		}
		if fine < 1500 || canceled < 300 {
			t.Errorf("the test is void: %d fine, %d canceled", fine, canceled)
		}
		if most.Load() > 1 {
			t.Errorf("%d sockets were open at once", most.Load())
		}
		time.Sleep(time.Minute)
		c.CloseIdleConnections()
		if s := c.Pool().Stats(); s.Open+s.Idle+s.Dialing+s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// TestP11: five waves of 20 parallel requests need 20 connections, not 92.
func TestP11(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		s := m.serve("a.test", func(_ int, c *rawConn) {
			for head := c.head(); head != ""; head = c.head() {
				time.Sleep(10 * time.Millisecond)
				c.send(fineAnswer)
			}
		})
		c := m.client()
		for range 5 {
			var wave sync.WaitGroup
			for range 20 {
				wave.Go(func() { wantFine(t, c, "http://a.test/") })
			}
			wave.Wait()
		}
		if s.Accepted() != 20 {
			t.Errorf("%d connections, want 20", s.Accepted())
		}
	})
}

// TestP12: a maximum age makes DNS changes noticed under steady load.
func TestP12(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := testkit.NewNet()
		served := map[string]int{}
		for _, ip := range []string{"192.0.2.1", "192.0.2.2"} {
			serveRawOn(t, network.Host(ip).Listen(80), nil, func(_ int, c *rawConn) { c.answerFine() })
		}
		start := time.Now()
		resolver := dns.ResolverFunc(func(context.Context, string) ([]netip.Addr, error) {
			if time.Since(start) < 100*time.Millisecond {
				return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("192.0.2.2")}, nil
		})
		c := okhttp.New(okhttp.WithDNS(resolver), okhttp.WithAddressDialer(network.DialContext),
			okhttp.WithMaxConnectionAge(200*time.Millisecond))
		defer c.Close()
		for range 100 {
			resp, body, err := fetch(c, newRequest(t, "GET", "http://a.test/", nil))
			if err != nil || body != "fine" {
				t.Fatal(body, err)
			}
			ip := okhttp.InfoOf(resp).Route.Addr.Addr().String()
			served[ip]++
			if time.Since(start) > 300*time.Millisecond && ip != "192.0.2.2" {
				t.Errorf("after %v still %s", time.Since(start), ip)
			}
			time.Sleep(10 * time.Millisecond)
		}
		// The age is less up to a tenth: 180 to 200 ms, so 18 to 20 requests each.
		if served["192.0.2.1"] < 18 || served["192.0.2.1"] > 21 {
			t.Errorf("%v", served)
		}
		if s := c.Pool().Stats(); s.Opened < 5 || s.Opened > 6 || s.Evicted != s.Opened-1 {
			t.Errorf("%+v", s)
		}
	})
}

// TestP14: one canceled or broken call harms no other.
func TestP14(t *testing.T) {
	t.Run("each waiter has its own deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(t)
			m.names["a.test"] = []netip.Addr{netip.MustParseAddr("192.0.2.1")}
			m.Host("192.0.2.1").BlackHole()
			c := m.client(okhttp.WithMaxConnectionsPerHost(1))
			var calls sync.WaitGroup
			for i := range 10 {
				wait := time.Duration(i+1) * 100 * time.Millisecond
				calls.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), wait)
					defer cancel()
					start := time.Now()
					_, err := c.Get(ctx, "http://a.test/")
					if took := time.Since(start); took != wait || !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("after %v instead of %v: %v", took, wait, err)
					}
				})
			}
			calls.Wait()
			if n := m.Attempts(); n > 2 {
				t.Errorf("%d attempts", n)
			}
		})
	})
	for _, test := range []struct {
		name  string
		limit int
	}{{"with a limit", 1}, {"without a limit", 0}} {
		t.Run("a dial that its caller left serves the next, "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(t)
				s := m.serve("a.test", func(_ int, c *rawConn) { c.answerFine() })
				m.Host("192.0.2.1").Delay(100 * time.Millisecond)
				c := m.client(okhttp.WithMaxConnectionsPerHost(test.limit))
				start := time.Now()
				var calls sync.WaitGroup
				calls.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
					defer cancel()
					_, err := c.Get(ctx, "http://a.test/")
					if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 50*time.Millisecond {
						t.Errorf("after %v: %v", time.Since(start), err)
					}
				})
				time.Sleep(20 * time.Millisecond)
				calls.Go(func() {
					if id := connectionOf(t, c, "http://a.test/"); id != 1 || time.Since(start) != 100*time.Millisecond {
						t.Errorf("connection %d after %v", id, time.Since(start))
					}
				})
				calls.Wait()
				time.Sleep(time.Second)
				if want := 2 - test.limit; s.Accepted() != want || m.Attempts() != want {
					t.Errorf("%d connections, %d attempts, want %d", s.Accepted(), m.Attempts(), want)
				}
				if st := c.Pool().Stats(); st.Idle != s.Accepted() {
					t.Errorf("a finished dial is always pooled: %+v", st)
				}
			})
		})
	}
	t.Run("a failed dial fails its own call only", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(t)
			m.serve("a.test", func(_ int, c *rawConn) { c.answerFine() })
			host := m.Host("192.0.2.1")
			host.Refuse()
			host.Delay(100 * time.Millisecond)
			c := m.client(okhttp.WithMaxConnectionsPerHost(1))
			var calls sync.WaitGroup
			calls.Go(func() {
				if _, err := c.Get(context.Background(), "http://a.test/"); err == nil {
					t.Error("refused, and no error")
				}
			})
			synctest.Wait()
			calls.Go(func() { wantFine(t, c, "http://a.test/") })
			time.Sleep(150 * time.Millisecond) // the second one is being dialled
			host.Answer()
			calls.Wait()
		})
	})
}

// TestP15: no event of a call after its last one.
func TestP15(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.names["a.test"] = []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")}
		m.Host("192.0.2.1").BlackHole()
		m.Host("192.0.2.2").Refuse()
		m.Host("192.0.2.2").Delay(time.Second)
		var mu sync.Mutex
		var events []string
		c := m.client(okhttp.WithEventListener(okhttp.EventListenerFunc(func(_ *okhttp.Call, e okhttp.Event) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, fmt.Sprintf("%T", e))
		})))
		call := c.NewCall(newRequest(t, "GET", "http://a.test/", nil))
		time.AfterFunc(300*time.Millisecond, call.Cancel)
		if _, err := call.Execute(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		mu.Lock()
		atEnd := slices.Clone(events)
		mu.Unlock()
		if len(atEnd) < 5 || !strings.HasSuffix(atEnd[len(atEnd)-1], ".CallFailed") {
			t.Errorf("%v", atEnd)
		}
		if m.Dialing() == 0 {
			t.Error("the test is void: nothing is being dialled any more")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(events) != len(atEnd) {
			t.Errorf("after the end: %v", events[len(atEnd):])
		}
	})
}

// TestP16: Close leaves nothing, whatever the calls are doing.
func TestP16(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
		m := newMemory(t)
		var servers []*rawServer
		servers = append(servers,
			m.serve("good.test", func(_ int, c *rawConn) { c.answerFine() }),
			m.serve("silent.test", func(_ int, c *rawConn) { c.head() }),
			m.serve("slow.test", func(_ int, c *rawConn) { c.head(); c.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfi") }),
		)
		m.names["nowhere.test"] = []netip.Addr{netip.MustParseAddr("203.0.113.1")}
		m.Host("203.0.113.1").BlackHole()
		hosts := []string{"good.test", "silent.test", "slow.test", "nowhere.test", "good.test"}
		c := m.client(okhttp.WithMaxConnectionsPerHost(4))
		var calls sync.WaitGroup
		var fine, closed atomic.Int32
		for i := range 50 {
			req := newRequest(t, "POST", "http://"+hosts[i%5]+"/", nil)
			if i%2 == 0 {
				r, w := io.Pipe()
				req.Body = r
				if hosts[i%5] == "good.test" {
					w.Close()
				}
			}
			done := func(resp *http.Response, err error) {
				switch {
				case err == nil:
					fine.Add(1)
				case errors.Is(err, okhttp.ErrClosed) && errors.Is(err, net.ErrClosed):
					closed.Add(1)
				default:
					t.Errorf("%s: %v", req.URL.Host, err)
				}
			}
			if i%3 == 0 {
				calls.Add(1)
				c.NewCall(req).Enqueue(func(resp *http.Response, err error) {
					defer calls.Done()
					if err == nil {
						_, err = io.ReadAll(resp.Body)
						resp.Body.Close()
					}
					done(resp, err)
				})
				continue
			}
			calls.Go(func() {
				resp, _, err := fetch(c, req)
				done(resp, err)
			})
		}
		time.Sleep(time.Second)
		c.Close()
		calls.Wait()
		synctest.Wait()
		if fine.Load() == 0 || closed.Load() < 25 || fine.Load()+closed.Load() != 50 {
			t.Errorf("%d fine, %d closed", fine.Load(), closed.Load())
		}
		for _, s := range servers {
			if s.Open() != 0 {
				t.Errorf("%d sockets are open", s.Open())
			}
		}
		if _, err := c.Get(context.Background(), "http://good.test/"); !errors.Is(err, okhttp.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// TestP16OneHostsFailuresCostNoOtherItsConnections: giving up closes nothing else.
func TestP16OneHostsFailuresCostNoOtherItsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		busy := m.serve("busy.test", func(_ int, c *rawConn) { c.answerFine() })
		m.serve("failing.test", func(n int, c *rawConn) {
			c.request()
			if n%4 == 0 {
				c.send(fineAnswer)
				c.request()
			}
			c.reset()
		})
		c := m.client()
		failed := 0
		for range 30 {
			wantFine(t, c, "http://busy.test/")
			if _, _, err := fetch(c, newRequest(t, "GET", "http://failing.test/", nil)); err != nil {
				failed++
			}
		}
		if failed == 0 || busy.Accepted() != 1 || busy.Open() != 1 {
			t.Errorf("%d failures; the busy host has %d connections, %d open", failed, busy.Accepted(), busy.Open())
		}
	})
}

// TestP18: every address is raced, and what failed is tried last from then on.
func TestP18(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		v6, v4, good := "2001:db8::1", "192.0.2.1", "192.0.2.2"
		for _, ip := range []string{v6, v4, good} {
			m.names["a.test"] = append(m.names["a.test"], netip.MustParseAddr(ip))
		}
		m.Host(v6).BlackHole()
		m.Host(v4).BlackHole()
		serveRawOn(t, m.Host(good).Listen(80), nil, func(_ int, c *rawConn) { c.answerFine() })
		c := m.client()
		start := time.Now()
		wantFine(t, c, "http://a.test/")
		if took := time.Since(start); took != 500*time.Millisecond {
			t.Errorf("connected in %v", took)
		}
		synctest.Wait()
		if m.Attempts() != 3 || m.Dialing() != 0 || m.OpenSockets() != 1 {
			t.Errorf("%d attempts, %d going on, %d sockets", m.Attempts(), m.Dialing(), m.OpenSockets())
		}
		c.CloseIdleConnections()
		start = time.Now()
		wantFine(t, c, "http://a.test/")
		if took := time.Since(start); took != 0 || m.Attempts() != 4 {
			t.Errorf("the second time: %v, %d attempts in all", took, m.Attempts())
		}
	})
	t.Run("a refusal costs no time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(t)
			m.serve("a.test", func(_ int, c *rawConn) { c.answerFine() })
			m.names["a.test"] = append([]netip.Addr{netip.MustParseAddr("192.0.2.9")}, m.names["a.test"]...)
			m.Host("192.0.2.9").Refuse()
			start := time.Now()
			wantFine(t, m.client(), "http://a.test/")
			if took := time.Since(start); took > 20*time.Millisecond || m.Attempts() != 2 {
				t.Errorf("%v, %d attempts", took, m.Attempts())
			}
		})
	})
	t.Run("all fail, and each is told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(t)
			m.names["a.test"] = []netip.Addr{netip.MustParseAddr("192.0.2.8"), netip.MustParseAddr("192.0.2.9")}
			m.Host("192.0.2.8").BlackHole()
			m.Host("192.0.2.9").Refuse()
			c := m.client(okhttp.WithConnectTimeout(time.Second))
			_, err := c.Get(context.Background(), "http://a.test/")
			var e *okhttp.Error
			if !errors.As(err, &e) || len(e.Prior) != 1 || !okhttp.SafeToRetry(err) {
				t.Fatalf("%#v", err)
			}
			all := err.Error() + e.Prior[0].Error()
			if !strings.Contains(all, "192.0.2.8") || !strings.Contains(all, "192.0.2.9") || errors.Is(err, os.ErrDeadlineExceeded) == errors.Is(e.Prior[0], os.ErrDeadlineExceeded) {
				t.Errorf("%v; %v", err, e.Prior)
			}
		})
	})
}
