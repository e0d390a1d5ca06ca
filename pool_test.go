package okhttp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptrace"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/certs"
	"github.com/okhttp-go/okhttp/dns"
	"github.com/okhttp-go/okhttp/internal/testkit"
)

// memory is an in-memory network with good servers, for tests in a bubble.
type memory struct {
	*testkit.Net
	t       *testing.T
	names   map[string][]netip.Addr
	servers map[string]*rawServer
}

func newMemory(t *testing.T) *memory {
	return &memory{Net: testkit.NewNet(), t: t, names: map[string][]netip.Addr{}, servers: map[string]*rawServer{}}
}

// serve gives a name an address of its own, on port 80, and a script.
func (m *memory) serve(name string, script func(n int, c *rawConn)) *rawServer {
	ip := fmt.Sprintf("192.0.2.%d", len(m.names)+1)
	m.names[name] = []netip.Addr{netip.MustParseAddr(ip)}
	s := serveRawOn(m.t, m.Host(ip).Listen(80), nil, script)
	m.servers[name] = s
	return s
}

func (m *memory) client(opts ...okhttp.Option) *okhttp.Client {
	c := okhttp.New(append([]okhttp.Option{okhttp.WithAddressDialer(m.DialContext), okhttp.WithDNS(dns.Static(m.names))}, opts...)...)
	m.t.Cleanup(func() {
		c.Close()
		if n := m.OpenSockets(); n != 0 {
			m.t.Errorf("%d sockets are open at the end", n)
		}
	})
	return c
}

// openCall begins a call and leaves its body open.
func openCall(t *testing.T, c *okhttp.Client, url string) (id uint64, finish func()) {
	t.Helper()
	resp, err := c.Get(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	return okhttp.InfoOf(resp).Connection.ID(), func() {
		t.Helper()
		if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "fine" {
			t.Errorf("%q, %v", b, err)
		}
		resp.Body.Close()
	}
}

func connectionOf(t *testing.T, c *okhttp.Client, url string) uint64 {
	t.Helper()
	id, finish := openCall(t, c, url)
	finish()
	return id
}

func TestPoolTakesTheLastUsedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.serve("a.test", func(_ int, c *rawConn) { c.answerFine() })
		c := m.client()
		var finish []func()
		for range 3 {
			_, f := openCall(t, c, "http://a.test/")
			finish = append(finish, f)
		}
		finish[1]() // connection 2 is the oldest idle one, then 3, then 1
		finish[2]()
		finish[0]()
		id1, f1 := openCall(t, c, "http://a.test/")
		id2, f2 := openCall(t, c, "http://a.test/")
		id3, f3 := openCall(t, c, "http://a.test/")
		if got := []uint64{id1, id2, id3}; !slices.Equal(got, []uint64{1, 3, 2}) {
			t.Errorf("taken in the order %v", got)
		}
		f1()
		f2()
		f3()
		if s := c.Pool().Stats(); s.Open != 3 || s.Idle != 3 || s.Opened != 3 || s.Reused != 3 {
			t.Errorf("%+v", s)
		}
	})
}

// TestPoolIdleLimitIsOneForAllHosts: 256 in all, no matter of which host; the
// longest idle goes first.
func TestPoolIdleLimitIsOneForAllHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		hosts := []string{"a.test", "b.test", "c.test"}
		for _, h := range hosts {
			m.serve(h, func(_ int, c *rawConn) { c.answerFine() })
		}
		c := m.client()
		var finish []func()
		for i := range 300 {
			_, f := openCall(t, c, "http://"+hosts[i%3]+"/")
			finish = append(finish, f)
		}
		if s := c.Pool().Stats(); s.Open != 300 || s.Idle != 0 {
			t.Errorf("the limit is for idle ones only: %+v", s)
		}
		for _, f := range finish {
			f()
		}
		synctest.Wait()
		if s := c.Pool().Stats(); s.Open != 256 || s.Idle != 256 || s.Evicted != 44 || m.OpenSockets() != 256 {
			t.Errorf("%+v, %d sockets", s, m.OpenSockets())
		}
		if first := c.Pool().Connections()[0]; first.ID != 45 {
			t.Errorf("the oldest that is left is %d, want 45", first.ID)
		}
		if id := connectionOf(t, c, "http://a.test/"); id != 298 {
			t.Errorf("a.test is served by %d, its last one", id)
		}
	})
}

func TestPoolKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		s := m.serve("a.test", func(_ int, c *rawConn) { c.answerFine() })
		c := m.client()
		_, first := openCall(t, c, "http://a.test/")
		_, second := openCall(t, c, "http://a.test/")
		first()
		time.Sleep(time.Minute)
		second()
		time.Sleep(4*time.Minute - time.Second)
		if n := s.Open(); n != 2 {
			t.Errorf("%d open before the time", n)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := s.Open(); n != 1 {
			t.Errorf("%d open after 5 minutes of the first", n)
		}
		if id := connectionOf(t, c, "http://a.test/"); id != 2 {
			t.Errorf("connection %d", id)
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if st := c.Pool().Stats(); st.Open != 0 || st.Evicted != 2 || s.Open() != 0 {
			t.Errorf("%+v", st)
		}
	})
}

func TestIdleConnectionCostsNoGoroutine(t *testing.T) {
	server := serveRaw(t, func(_ int, c *rawConn) { c.answerFine() })
	c := okhttp.New()
	defer c.Close()
	var finish []func()
	for range 20 {
		_, f := openCall(t, c, server.URL("/"))
		finish = append(finish, f)
	}
	for _, f := range finish {
		f()
	}
	buf := make([]byte, 1<<20)
	for range 100 { // one that opened a connection may be on its way out
		if !strings.Contains(string(buf[:runtime.Stack(buf, true)]), "internal/connect.") {
			return
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
	t.Errorf("goroutines of the pool:\n%s", buf[:runtime.Stack(buf, true)])
}

// TestDeadConnectionsAreDiscarded: what is wrong with an idle connection is seen
// before a request is sent on it, so that even a POST with a one-shot body is safe.
func TestDeadConnectionsAreDiscarded(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(c *rawConn)
		why  string
		fine bool // nothing is wrong
	}{
		{name: "closed", do: func(c *rawConn) { c.Close() }, why: "closed by the peer"},
		{name: "half-closed", do: (*rawConn).finish, why: "closed by the peer"},
		{name: "reset", do: (*rawConn).reset, why: "closed by the peer"},
		{name: "unsolicited response", do: func(c *rawConn) { c.send("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n") }, why: "nobody asked for"},
		{name: "one byte", do: func(c *rawConn) { c.send("\n") }, why: "nobody asked for"},
		{name: "quiet", do: func(*rawConn) {}, fine: true},
	} {
		for _, over := range []string{"plain", "TLS 1.2", "TLS 1.3"} {
			t.Run(test.name+" "+over, func(t *testing.T) {
				held := certs.Localhost()
				config := held.ServerConfig()
				switch over {
				case "plain":
					config = nil
				case "TLS 1.2":
					config.MaxVersion = tls.VersionTLS12
				}
				idle, done := make(chan struct{}), make(chan struct{})
				server := serveRawTLS(t, config, func(n int, c *rawConn) {
					if n == 0 {
						c.request()
						c.send(fineAnswer)
						<-idle
						if over != "plain" && test.name == "half-closed" {
							c.Conn.(*tls.Conn).CloseWrite()
						} else {
							test.do(c)
						}
						close(done)
						if !test.fine {
							return
						}
					}
					c.answerFine()
				})
				var discarded []string
				c := okhttp.New(okhttp.WithTLSConfig(certs.ClientConfig(held.Root())),
					okhttp.WithEventListener(okhttp.EventListenerFunc(func(_ *okhttp.Call, e okhttp.Event) {
						if d, ok := e.(okhttp.ConnectionDiscarded); ok {
							discarded = append(discarded, d.Reason.Error())
						}
					})))
				defer c.Close()
				wantFine(t, c, server.URL("/"))
				close(idle)
				<-done
				if !test.fine {
					awaitDelivery(t, server)
				}
				resp, body, err := fetch(c, newRequest(t, "POST", server.URL("/"), io.MultiReader(strings.NewReader("once"))))
				if err != nil || body != "fine" {
					t.Fatalf("%q, %v", body, err)
				}
				want := uint64(2)
				if test.fine {
					want = 1
				}
				if id := okhttp.InfoOf(resp).Connection.ID(); id != want {
					t.Errorf("connection %d, want %d", id, want)
				}
				if s := c.Pool().Stats(); s.Discarded != want-1 {
					t.Errorf("%+v", s)
				}
				if !test.fine && (len(discarded) != 1 || !strings.Contains(discarded[0], test.why)) {
					t.Errorf("discarded because %q", discarded)
				}
			})
		}
	}
}

// awaitDelivery lets the loopback interface deliver what was just sent: by the
// time that a round trip elsewhere is over, it has been.
func awaitDelivery(t *testing.T, s *rawServer) {
	t.Helper()
	probe, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	probe.Close()
}

// TestLateSessionTicketsAreNotUnsolicited: TLS 1.3 tickets come when they like.
func TestLateSessionTicketsAreNotUnsolicited(t *testing.T) {
	held := certs.Localhost()
	server := serveRawTLS(t, held.ServerConfig(), func(_ int, c *rawConn) {
		for {
			// An answer that leaves before the ticket is read: the client stops
			// reading at its end.
			if head, _ := c.request(); head == "" {
				return
			}
			c.send(fineAnswer)
		}
	})
	c := okhttp.New(okhttp.WithTLSConfig(certs.ClientConfig(held.Root())))
	defer c.Close()
	for range 50 {
		wantFine(t, c, server.URL("/"))
	}
	if s := c.Pool().Stats(); s.Opened != 1 || s.Discarded != 0 || s.Reused != 49 {
		t.Errorf("%+v", s)
	}
}

// TestConnectionQueueIsFair: calls beyond the limit are served in their order.
func TestConnectionQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		var mu sync.Mutex
		var order []string
		s := m.serve("a.test", func(_ int, c *rawConn) {
			for {
				head := c.head()
				if head == "" {
					return
				}
				mu.Lock()
				order = append(order, strings.Fields(head)[1])
				mu.Unlock()
				time.Sleep(10 * time.Millisecond)
				c.send(fineAnswer)
			}
		})
		c := m.client(okhttp.WithMaxConnectionsPerHost(1))
		var calls sync.WaitGroup
		var want []string
		for i := range 20 {
			path := fmt.Sprintf("/%d", i)
			want = append(want, path)
			calls.Go(func() { wantFine(t, c, "http://a.test"+path) })
			synctest.Wait() // it is in the queue
		}
		if st := c.Pool().Stats(); st.Open != 1 || st.Waiting != 19 {
			t.Errorf("%+v", st)
		}
		calls.Wait()
		if !slices.Equal(order, want) {
			t.Errorf("served in the order %v", order)
		}
		if s.Accepted() != 1 {
			t.Errorf("%d connections", s.Accepted())
		}
	})
}

// TestDeadConnectionIsNotHandedOn: what a call in the queue is given is checked
// like what lies idle, and a dead one costs the call nothing, not even its place.
func TestDeadConnectionIsNotHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		s := m.serve("a.test", func(_ int, c *rawConn) {
			c.request()
			time.Sleep(time.Millisecond)
			c.send(fineAnswer)
			c.Close()
		})
		c := m.client(okhttp.WithMaxConnectionsPerHost(1))
		var calls sync.WaitGroup
		for range 5 {
			calls.Go(func() {
				_, body, err := fetch(c, newRequest(t, "POST", "http://a.test/", io.MultiReader(strings.NewReader("once"))))
				if err != nil || body != "fine" {
					t.Errorf("%q, %v", body, err)
				}
			})
		}
		calls.Wait()
		if st := c.Pool().Stats(); s.Accepted() != 5 || st.Discarded != 4 || st.Reused != 0 {
			t.Errorf("%d connections, %+v", s.Accepted(), st)
		}
	})
}

func TestCloseIdleConnectionsLeavesTheBusyOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		s := m.serve("a.test", func(_ int, c *rawConn) { c.answerFine() })
		c := m.client()
		_, busy := openCall(t, c, "http://a.test/")
		_, idle := openCall(t, c, "http://a.test/")
		idle()
		infos := c.Pool().Connections()
		if len(infos) != 2 || infos[0].Calls != 1 || !infos[0].IdleSince.IsZero() || infos[1].Calls != 0 || infos[1].IdleSince.IsZero() {
			t.Errorf("%+v", infos)
		}
		for i, info := range infos {
			if info.ID != uint64(i+1) || info.Protocol != "http/1.1" || info.Route.Host != "a.test:80" || info.Created.IsZero() {
				t.Errorf("%+v", info)
			}
		}
		c.CloseIdleConnections()
		synctest.Wait()
		if n := s.Open(); n != 1 {
			t.Errorf("%d open", n)
		}
		busy()
		if id := connectionOf(t, c, "http://a.test/"); id != 1 {
			t.Errorf("connection %d", id)
		}
	})
}

// A dial that a call makes itself, because it is the only one, is ended with the
// pool; and the event of that is reported without the pool's lock.
func TestPoolClosesDuringDial(t *testing.T) {
	log := newEventLog(t)
	pool := okhttp.NewPool(okhttp.PoolConfig{})
	dialing := make(chan struct{})
	c := okhttp.New(okhttp.WithConnectionPool(pool), okhttp.WithEventListener(log), okhttp.WithDialer(
		func(ctx context.Context, _, _ string) (net.Conn, error) {
			close(dialing)
			<-ctx.Done()
			return nil, ctx.Err()
		}))
	log.client.Store(c)
	go func() {
		<-dialing
		pool.Close()
	}()
	if _, err := c.Do(newRequest(t, "GET", "http://a.test/", nil)); !errors.Is(err, okhttp.ErrClosed) {
		t.Error(err)
	}
	if s := pool.Stats(); s.Dialing != 0 {
		t.Errorf("%+v", s)
	}
}

// A panic of a dialer reaches its caller, who may go on.
func TestDialerPanics(t *testing.T) {
	c := startClient(t, okhttp.WithDialer(func(context.Context, string, string) (net.Conn, error) { panic("boom") }))
	for range 2 {
		func() {
			defer func() {
				if p := recover(); p != "boom" {
					t.Errorf("recovered %v", p)
				}
			}()
			_, err := c.Do(newRequest(t, "GET", "http://a.test/", nil))
			t.Error(err)
		}()
	}
	if s := c.Pool().Stats(); s.Dialing != 0 || s.Failed != 2 {
		t.Errorf("%+v", s)
	}
}

// A dial that nobody waits for ends after ten seconds, also if its call was
// served by another connection meanwhile.
func TestDialThatIsNotNeededEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.serve("a.test", func(_ int, c *rawConn) { c.answerFine() })
		dials := 0
		c := m.client(okhttp.WithConnectTimeout(0), okhttp.WithAddressDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			if dials++; dials == 1 {
				return m.DialContext(ctx, network, addr)
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		time.Sleep(time.Minute)
		connectionOf(t, c, "http://a.test/") // and is idle for a minute
		time.Sleep(time.Minute)
		_, finish := openCall(t, c, "http://a.test/")
		go func() {
			time.Sleep(time.Second)
			finish()
		}()
		req := newRequest(t, "GET", "http://a.test/", nil)
		resp, err := c.Do(req.WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn: func(got httptrace.GotConnInfo) {
				if !got.Reused || got.WasIdle {
					t.Errorf("handed on, and yet %+v", got)
				}
			},
		})))
		wantBody(t, resp, err, "fine")
		if s := c.Pool().Stats(); s.Dialing != 1 {
			t.Errorf("the test is void: %+v", s)
		}
		time.Sleep(11 * time.Second)
		if s := c.Pool().Stats(); s.Dialing != 0 {
			t.Errorf("%+v", s)
		}
	})
}
