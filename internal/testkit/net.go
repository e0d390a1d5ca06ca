package testkit

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Net is an in-memory network of hosts, each with one address and a manner of
// its own: it answers, refuses, swallows, or is slow. Make it in the synctest
// bubble in which it is used.
//
//	network := testkit.NewNet()
//	listener := network.Host("192.0.2.1").Listen(80)
//	network.Host("192.0.2.2").BlackHole()
//	conn, err := network.DialContext(ctx, "tcp", "192.0.2.1:80")
type Net struct {
	mu       sync.Mutex
	hosts    map[netip.Addr]*Host
	attempts []Attempt
	dialing  int
	open     int // client ends
	nextPort int
}

// Attempt is one call of DialContext.
type Attempt struct {
	Addr netip.AddrPort
	At   time.Time
}

// NewNet returns a network without hosts.
func NewNet() *Net {
	return &Net{hosts: map[netip.Addr]*Host{}, nextPort: 49152}
}

// Host returns the host with this IP address and adds it at the first mention.
// It answers, but nothing listens on it yet.
func (n *Net) Host(ip string) *Host {
	addr := netip.MustParseAddr(ip).Unmap()
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.hosts[addr]
	if h == nil {
		h = &Host{network: n, addr: addr, silentAfter: -1, listeners: map[uint16]*Listener{}}
		n.hosts[addr] = h
	}
	return h
}

// Attempts returns how often DialContext was called.
func (n *Net) Attempts() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.attempts)
}

// AttemptLog returns the calls of DialContext in their order.
func (n *Net) AttemptLog() []Attempt {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.attempts)
}

// OpenSockets returns how many dialed connections the client has not closed.
func (n *Net) OpenSockets() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.open
}

// Dialing returns how many calls of DialContext are under way.
func (n *Net) Dialing() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dialing
}

// DialContext connects to an "ip:port". A host that was never mentioned cannot
// be reached, a port on which nothing listens refuses.
func (n *Net) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	target, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("testkit: %w", err)}
	}
	target = netip.AddrPortFrom(target.Addr().Unmap(), target.Port())
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: net.TCPAddrFromAddrPort(target), Err: err}
	}
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return fail(net.UnknownNetworkError(network))
	}

	n.mu.Lock()
	n.attempts = append(n.attempts, Attempt{target, time.Now()})
	n.dialing++
	var manner manner
	var delay time.Duration
	host := n.hosts[target.Addr()]
	if host != nil {
		manner, delay = host.manner, host.delay
	}
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		n.dialing--
		n.mu.Unlock()
	}()

	if host == nil {
		return fail(os.NewSyscallError("connect", syscall.ENETUNREACH))
	}
	var arrives <-chan time.Time
	switch {
	case manner == blackHole: // never
	case delay > 0:
		timer := time.NewTimer(delay)
		defer timer.Stop()
		arrives = timer.C
	default:
		at := make(chan time.Time)
		close(at)
		arrives = at
	}
	if ctx.Err() != nil {
		return fail(ctx.Err())
	}
	select {
	case <-ctx.Done():
		return fail(ctx.Err())
	case <-arrives:
	}
	conn := host.connect(target)
	if conn == nil {
		return fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	}
	return conn, nil
}

// manner is how a host meets a connection attempt.
type manner uint8

const (
	answers   manner = iota // accepts where something listens, refuses elsewhere
	refuses                 // refuses everywhere
	blackHole               // says nothing, ever
)

// Host is one address of a [Net]. Its methods may be called at any time; those
// that change its manner matter for later connection attempts.
type Host struct {
	network *Net
	addr    netip.Addr

	// Guarded by network.mu.
	manner      manner
	delay       time.Duration
	silentAfter int64
	listeners   map[uint16]*Listener
	conns       []*Conn // the ends on this host
}

// Addr returns the host's address.
func (h *Host) Addr() netip.Addr { return h.addr }

// Answer undoes Refuse and BlackHole.
func (h *Host) Answer() { h.set(func() { h.manner = answers }) }

// Refuse lets every connection attempt fail with ECONNREFUSED.
func (h *Host) Refuse() { h.set(func() { h.manner = refuses }) }

// BlackHole lets every connection attempt hang until its context ends.
func (h *Host) BlackHole() { h.set(func() { h.manner = blackHole }) }

// Delay makes each connection attempt take d, whether it succeeds or not.
func (h *Host) Delay(d time.Duration) { h.set(func() { h.delay = d }) }

// SilentAfter lets each later connection fall silent, as [Conn.Silence] does,
// once the host has sent n bytes on it. A negative n undoes it.
func (h *Host) SilentAfter(n int64) { h.set(func() { h.silentAfter = n }) }

// Silence makes all present connections of the host half-dead; see
// [Conn.Silence]. New ones work.
func (h *Host) Silence() {
	for _, c := range h.present() {
		c.Silence()
	}
}

// AbortAll resets all present connections of the host.
func (h *Host) AbortAll() {
	for _, c := range h.present() {
		_ = c.Abort() // one that is closed already needs nothing
	}
}

func (h *Host) set(change func()) {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	change()
}

func (h *Host) present() []*Conn {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	return slices.Clone(h.conns)
}

// Attempts returns how many connections to this host were tried.
func (h *Host) Attempts() int {
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	n := 0
	for _, a := range h.network.attempts {
		if a.Addr.Addr() == h.addr {
			n++
		}
	}
	return n
}

// Listen accepts connections to a port, which must be free.
func (h *Host) Listen(port uint16) *Listener {
	l := &Listener{host: h, addr: netip.AddrPortFrom(h.addr, port), changed: make(chan struct{})}
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	if h.listeners[port] != nil {
		panic(fmt.Sprintf("testkit: %v is in use", l.addr))
	}
	h.listeners[port] = l
	return l
}

// connect returns the client's end of a new connection, or nil if it is refused.
func (h *Host) connect(target netip.AddrPort) net.Conn {
	n := h.network
	n.mu.Lock()
	defer n.mu.Unlock()
	l := h.listeners[target.Port()]
	if h.manner == refuses || l == nil {
		return nil
	}
	from := netip.MustParseAddr("198.51.100.1")
	if h.addr.Is6() {
		from = netip.MustParseAddr("2001:db8:ffff::1")
	}
	client, server := newPair(
		net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, uint16(n.nextPort))),
		net.TCPAddrFromAddrPort(target),
	)
	n.nextPort++
	if n.nextPort > 65535 {
		n.nextPort = 49152
	}
	server.out.budget = h.silentAfter
	if h.silentAfter == 0 {
		server.wire.silent = true
	}
	n.open++
	client.onClose = func() { h.set(func() { n.open-- }) }
	server.onClose = func() {
		h.set(func() { h.conns = slices.DeleteFunc(h.conns, func(c *Conn) bool { return c == server }) })
	}
	h.conns = append(h.conns, server)
	l.queue = append(l.queue, server)
	l.wake()
	return client
}

// Listener is a net.Listener on a [Host]. A connection is established as soon
// as it is queued, before it is accepted, as with TCP.
type Listener struct {
	host *Host
	addr netip.AddrPort

	// Guarded by host.network.mu.
	queue   []*Conn
	closed  bool
	changed chan struct{}
}

func (l *Listener) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Accept returns the next connection, a *[Conn].
func (l *Listener) Accept() (net.Conn, error) {
	mu := &l.host.network.mu
	for {
		mu.Lock()
		if l.closed {
			mu.Unlock()
			return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
		}
		if len(l.queue) > 0 {
			c := l.queue[0]
			l.queue = l.queue[1:]
			mu.Unlock()
			return c, nil
		}
		changed := l.changed
		mu.Unlock()
		<-changed
	}
}

// Close frees the port and resets the connections that nobody has accepted.
func (l *Listener) Close() error {
	mu := &l.host.network.mu
	mu.Lock()
	if l.closed {
		mu.Unlock()
		return &net.OpError{Op: "close", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
	l.closed = true
	delete(l.host.listeners, l.addr.Port())
	queue := l.queue
	l.queue = nil
	l.wake()
	mu.Unlock()
	for _, c := range queue {
		_ = c.Abort() // nobody has it, so it cannot be closed already
	}
	return nil
}

// Addr returns the address that is listened on.
func (l *Listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.addr) }
