package connect

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/okhttp-go/okhttp/dns"
)

// selectorState is how far a selector has come.
type selectorState uint8

const (
	// selectorFresh: the addresses have not been asked for. The first call of
	// next ends it.
	selectorFresh selectorState = iota

	// selectorAsking: a look-up is under way in its own goroutine. Its answer,
	// or stop, ends the state.
	selectorAsking

	// selectorAsked: the answer has been given out, well or ill. What is left
	// are the postponed routes. Final.
	selectorAsked
)

// errNews interrupts a look-up: something else in the race is more urgent. The
// look-up goes on, and the next call of next takes it up again.
var errNews = errors.New("something else has happened")

// selector finds the routes to an address: those that should work first, those
// that failed of late (see [RouteMemory]) last. It is made only when a call
// must dial and has no route left from before, because all that it does shows
// in the call's events and may block.
type selector struct {
	addr      Address
	memory    *RouteMemory
	state     selectorState
	lookup    *lookup // while asking
	postponed []Route
}

// newSelector begins a selection. The events of choosing a proxy are reported
// although there is only the direct way so far: listeners rely on the pair.
func newSelector(addr Address, memory *RouteMemory, t *Trace) *selector {
	if t != nil && t.ProxySelectStart != nil {
		t.ProxySelectStart()
	}
	if t != nil && t.ProxySelectEnd != nil {
		t.ProxySelectEnd()
	}
	return &selector{addr: addr, memory: memory}
}

// hasNext reports whether next has anything to give.
func (s *selector) hasNext() bool {
	return s.state != selectorAsked || len(s.postponed) > 0
}

// next returns the next routes to try. It blocks while the resolver is asked,
// until ctx ends, or until news arrives, in which case it fails with errNews.
// A nil news never arrives.
func (s *selector) next(ctx context.Context, news <-chan struct{}, t *Trace) ([]Route, error) {
	if s.state == selectorAsked {
		routes := s.postponed
		s.postponed = nil
		return routes, nil
	}
	port, err := strconv.ParseUint(s.addr.Port, 10, 16)
	if err != nil || port == 0 {
		s.state = selectorAsked
		return nil, &ConnectError{
			Phase: PhaseConnect, Host: s.addr.HostPort(),
			Err: errors.New("port is outside 1-65535"),
		}
	}
	if s.addr.Config.DialHost != nil {
		s.state = selectorAsked
		return []Route{s.route(netip.AddrPort{})}, nil
	}
	if ip, err := netip.ParseAddr(s.addr.Host); err == nil {
		s.state = selectorAsked
		return []Route{s.route(netip.AddrPortFrom(ip.Unmap(), uint16(port)))}, nil
	}
	addrs, err := s.resolve(ctx, news, t)
	if err != nil {
		return nil, err
	}
	return s.partition(addrs, uint16(port)), nil
}

func (s *selector) route(to netip.AddrPort) Route {
	return Route{Scheme: s.addr.Scheme, Host: s.addr.HostPort(), Addr: to}
}

// resolve asks for the host's addresses. DNSEnd is reported only for an answer.
func (s *selector) resolve(ctx context.Context, news <-chan struct{}, t *Trace) ([]netip.Addr, error) {
	host := s.addr.Host
	if s.state == selectorFresh {
		if t != nil && t.DNSStart != nil {
			t.DNSStart(host)
		}
		s.lookup = startLookup(ctx, s.addr.Config.Resolver, host, news == nil)
		s.state = selectorAsking
	}
	select {
	case <-s.lookup.done:
	case <-news:
		return nil, errNews
	case <-ctx.Done():
		s.stop()
		return nil, &ConnectError{Phase: PhaseDNS, Host: host, Err: endOf(ctx)}
	}
	addrs, err := s.lookup.addrs, s.lookup.err
	s.stop()
	if err != nil {
		if end := endOf(ctx); end != nil {
			return nil, &ConnectError{Phase: PhaseDNS, Host: host, Err: end}
		}
		s.state = selectorAsked
		return nil, &ConnectError{Phase: PhaseDNS, Host: host, Err: err}
	}
	s.state = selectorAsked
	if !slices.ContainsFunc(addrs, netip.Addr.IsValid) {
		return nil, &ConnectError{Phase: PhaseDNS, Host: host, Err: &net.DNSError{
			Err: "the host has no address", Name: host, IsNotFound: true,
		}}
	}
	if t != nil && t.DNSEnd != nil {
		t.DNSEnd(host, addrs)
	}
	return addrs, nil
}

// stop gives up a look-up that is under way; the next call of next begins anew.
func (s *selector) stop() {
	if s.state == selectorAsking {
		s.lookup.cancel()
		s.lookup = nil
		s.state = selectorFresh
	}
}

// partition makes routes of the addresses, and keeps back those that failed of
// late, unless there are no others. An address that the resolver names twice is
// one route.
func (s *selector) partition(addrs []netip.Addr, port uint16) []Route {
	clean := make([]netip.Addr, 0, len(addrs))
	for _, a := range addrs {
		if a = a.Unmap(); a.IsValid() && !slices.Contains(clean, a) {
			clean = append(clean, a)
		}
	}
	if s.addr.Config.FastFallback {
		clean = interleave(clean)
	}
	routes := make([]Route, 0, len(clean))
	for _, a := range clean {
		r := s.route(netip.AddrPortFrom(a, port))
		if s.memory.Postponed(r) {
			s.postponed = append(s.postponed, r)
		} else {
			routes = append(routes, r)
		}
	}
	if len(routes) == 0 {
		routes, s.postponed = s.postponed, nil
	}
	return routes
}

// lookup is one question to a resolver. The caller can leave before the answer.
type lookup struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the answer is in

	// Written before done is closed, only read after.
	addrs []netip.Addr
	err   error
}

// alwaysDone is the done channel of look-ups that were answered at once.
var alwaysDone = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// startLookup asks r for host. A resolver that minds the context is asked on
// the caller's goroutine, if the caller has nothing else to listen to; any other
// gets a goroutine, which lives until the resolver returns.
func startLookup(ctx context.Context, r dns.Resolver, host string, mayBlock bool) *lookup {
	if mayBlock && (ctx.Done() == nil || r == dns.System()) {
		l := &lookup{cancel: func() {}, done: alwaysDone}
		l.addrs, l.err = r.Lookup(ctx, host)
		return l
	}
	ctx, cancel := context.WithCancel(ctx)
	l := &lookup{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.addrs, l.err = r.Lookup(ctx, host)
	}()
	return l
}
