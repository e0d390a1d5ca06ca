package connect

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/dns"
)

// ips lists the addresses of routes.
func ips(routes []Route) string {
	var list []string
	for _, r := range routes {
		list = append(list, r.Addr.Addr().String())
	}
	return strings.Join(list, " ")
}

func testAddress(config *Config) Address {
	return Address{Scheme: "http", Host: "a.test", Port: "80", Config: config}
}

func TestSelectorReportsAndOrders(t *testing.T) {
	const list = "2001:db8::1 2001:db8::2 192.0.2.1 192.0.2.2"
	for _, test := range []struct {
		name string
		fast bool
		want string
	}{
		{"fast fallback", true, "2001:db8::1 192.0.2.1 2001:db8::2 192.0.2.2"},
		{"in turn", false, list},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rec recorder
			s := newSelector(testAddress(&Config{Resolver: answers(list), FastFallback: test.fast}), NewRouteMemory(), rec.trace())
			rec.want(t, "ProxySelectStart", "ProxySelectEnd")
			if !s.hasNext() {
				t.Error("a new selector has nothing")
			}
			routes, err := s.next(t.Context(), nil, rec.trace())
			if err != nil || ips(routes) != test.want {
				t.Errorf("got %s, %v", ips(routes), err)
			}
			if r := routes[0]; r.Scheme != "http" || r.Host != "a.test:80" || r.Addr.Port() != 80 {
				t.Errorf("got %+v", r)
			}
			// The resolver's own order is what is reported.
			rec.want(t, "DNSStart a.test", "DNSEnd a.test [2001:db8::1 2001:db8::2 192.0.2.1 192.0.2.2]")
			if s.hasNext() {
				t.Error("there should be no more")
			}
		})
	}
}

func TestSelectorCleansTheAnswer(t *testing.T) {
	r := dns.ResolverFunc(func(context.Context, string) ([]netip.Addr, error) {
		return append(addrs("::ffff:192.0.2.1 192.0.2.1 2001:db8::1 192.0.2.1"), netip.Addr{}), nil
	})
	s := newSelector(testAddress(&Config{Resolver: r, FastFallback: true}), NewRouteMemory(), nil)
	routes, err := s.next(t.Context(), nil, nil)
	if err != nil || ips(routes) != "2001:db8::1 192.0.2.1" {
		t.Errorf("got %s, %v", ips(routes), err)
	}
}

func TestSelectorPostpones(t *testing.T) {
	memory := NewRouteMemory()
	address := testAddress(&Config{Resolver: answers("192.0.2.1 192.0.2.2 192.0.2.3")})
	selection := func() string {
		t.Helper()
		var rounds []string
		s := newSelector(address, memory, nil)
		for s.hasNext() {
			routes, err := s.next(t.Context(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			rounds = append(rounds, ips(routes))
		}
		return strings.Join(rounds, ", then ")
	}
	fail := func(i int) {
		all, _ := newSelector(address, NewRouteMemory(), nil).next(t.Context(), nil, nil)
		memory.Failed(all[i])
	}
	if got := selection(); got != "192.0.2.1 192.0.2.2 192.0.2.3" {
		t.Errorf("got %s", got)
	}
	fail(0)
	if got := selection(); got != "192.0.2.2 192.0.2.3, then 192.0.2.1" {
		t.Errorf("got %s", got)
	}
	fail(1)
	fail(2)
	if got := selection(); got != "192.0.2.1 192.0.2.2 192.0.2.3" {
		t.Errorf("when all have failed all are tried: got %s", got)
	}
}

func TestSelectorAsksNobody(t *testing.T) {
	forbidden := dns.ResolverFunc(func(context.Context, string) ([]netip.Addr, error) {
		return nil, errors.New("the resolver was asked")
	})
	dialHost := func(context.Context, string, string) (net.Conn, error) { return nil, nil }
	for _, test := range []struct {
		name, host string
		config     Config
		want       netip.AddrPort
	}{
		{"IPv4 literal", "192.0.2.7", Config{}, netip.MustParseAddrPort("192.0.2.7:80")},
		{"IPv6 literal", "2001:db8::7", Config{}, netip.MustParseAddrPort("[2001:db8::7]:80")},
		{"the dialer resolves", "a.test", Config{DialHost: dialHost}, netip.AddrPort{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.config.Resolver = forbidden
			address := testAddress(&test.config)
			address.Host = test.host
			var rec recorder
			routes, err := newSelector(address, NewRouteMemory(), rec.trace()).next(t.Context(), nil, rec.trace())
			if err != nil || len(routes) != 1 || routes[0].Addr != test.want || routes[0].Host != address.HostPort() {
				t.Errorf("got %v, %v", routes, err)
			}
			rec.want(t, "ProxySelectStart", "ProxySelectEnd")
		})
	}
}

func TestSelectorFailures(t *testing.T) {
	broken := errors.New("resolver is broken")
	for _, test := range []struct {
		name     string
		port     string
		resolver dns.Resolver
		want     string
		notFound bool
		events   []string
	}{
		{
			name: "resolver fails", port: "80",
			resolver: dns.ResolverFunc(func(context.Context, string) ([]netip.Addr, error) { return nil, broken }),
			want:     "look up a.test: resolver is broken",
			events:   []string{"ProxySelectStart", "ProxySelectEnd", "DNSStart a.test"},
		}, {
			name: "no address", port: "80", resolver: answers(""),
			want:     "look up a.test: the host has no address",
			notFound: true,
			events:   []string{"ProxySelectStart", "ProxySelectEnd", "DNSStart a.test"},
		}, {
			name: "port 0", port: "0", resolver: answers("192.0.2.1"),
			want:   "connect to a.test:0: port is outside 1-65535",
			events: []string{"ProxySelectStart", "ProxySelectEnd"},
		}, {
			name: "port 65536", port: "65536", resolver: answers("192.0.2.1"),
			want:   "connect to a.test:65536: port is outside 1-65535",
			events: []string{"ProxySelectStart", "ProxySelectEnd"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := testAddress(&Config{Resolver: test.resolver})
			address.Port = test.port
			var rec recorder
			s := newSelector(address, NewRouteMemory(), rec.trace())
			_, err := s.next(t.Context(), nil, rec.trace())
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
			var d *net.DNSError
			if errors.As(err, &d) && d.IsNotFound != test.notFound {
				t.Errorf("got %#v", d)
			}
			if s.hasNext() {
				t.Error("a failed look-up is not repeated")
			}
			rec.want(t, test.events...)
		})
	}
}

// deafResolver does not mind the context, and counts how often it is asked.
func deafResolver(after time.Duration, list string, asked *atomic.Int32) dns.Resolver {
	return dns.ResolverFunc(func(context.Context, string) ([]netip.Addr, error) {
		asked.Add(1)
		time.Sleep(after)
		return addrs(list), nil
	})
}

func TestSelectorIsNotHeldByADeafResolver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		s := newSelector(testAddress(&Config{Resolver: deafResolver(time.Minute, "192.0.2.1", &asked)}), NewRouteMemory(), nil)
		ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
		defer cancel()
		begin := time.Now()
		_, err := s.next(ctx, nil, nil)
		if elapsed := time.Since(begin); elapsed != 10*ms {
			t.Errorf("held for %v", elapsed)
		}
		if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "look up a.test: context deadline exceeded" {
			t.Errorf("got %v", err)
		}
		// The end of that caller is not the selector's: another may ask.
		routes, err := s.next(t.Context(), nil, nil)
		if err != nil || ips(routes) != "192.0.2.1" {
			t.Errorf("got %v, %v", routes, err)
		}
	})
}

func TestSelectorIsInterruptedByNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		var rec recorder
		s := newSelector(testAddress(&Config{Resolver: deafResolver(time.Second, "192.0.2.1", &asked)}), NewRouteMemory(), rec.trace())
		news := make(chan struct{}, 1)
		news <- struct{}{}
		if _, err := s.next(t.Context(), news, rec.trace()); err != errNews {
			t.Errorf("got %v", err)
		}
		if !s.hasNext() {
			t.Error("the look-up was forgotten")
		}
		routes, err := s.next(t.Context(), news, rec.trace())
		if err != nil || ips(routes) != "192.0.2.1" || asked.Load() != 1 {
			t.Errorf("got %v, %v after %d questions", routes, err, asked.Load())
		}
		rec.want(t, "ProxySelectStart", "ProxySelectEnd", "DNSStart a.test", "DNSEnd a.test [192.0.2.1]")
	})
}

func TestSystemResolverIsAskedInPlace(t *testing.T) {
	l := startLookup(t.Context(), dns.System(), "localhost", true)
	if l.done != alwaysDone {
		t.Error("the system's resolver minds its context and needs no goroutine")
	}
	if l.err == nil && !slices.ContainsFunc(l.addrs, netip.Addr.IsLoopback) {
		t.Errorf("localhost is %v", l.addrs)
	}
}
