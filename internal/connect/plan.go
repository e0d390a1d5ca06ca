package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// plan is one attempt over one route: first TCP, which is raced against other
// plans, then what is done on the winner only. It is used once; retry makes
// another for the same route.
//
// connectTCP may run in a goroutine of its own and reports nothing. All other
// methods belong to the goroutine that races, so the events of a call come one
// by one whatever is under way.
type plan struct {
	addr     Address
	route    Route
	memory   *RouteMemory
	tls      *tls.Config // for the handshake; nil: it is made
	timeouts Timeouts
	trace    *Trace

	raw net.Conn // set by connectTCP
}

// netDialer connects where the configuration names no dialer. It dials IP
// literals only, hence does not resolve or race anything itself. (Its DialTCP
// would save two allocations but binds the local port before the remote end is
// known, and so runs out of ports after one connection for each.)
var netDialer net.Dialer

func (p *plan) started() {
	if p.trace != nil && p.trace.ConnectStart != nil {
		p.trace.ConnectStart(p.route)
	}
}

// connectTCP opens the socket, within the connect timeout.
func (p *plan) connectTCP(ctx context.Context) error {
	dialCtx := ctx
	if d := p.timeouts.Connect; d > 0 {
		if p.addr.Config.DialHost == nil && p.addr.Config.DialAddr == nil {
			dialCtx = &deadlineContext{ctx, time.Now().Add(d)}
		} else {
			var limit *bound
			dialCtx, limit = within(ctx, d)
			defer limit.stop()
		}
	}
	conn, err := p.dial(dialCtx)
	switch {
	case err != nil:
	case conn == nil:
		err = errors.New("the dialer returned no connection")
	default:
		p.raw = conn
		return nil
	}
	if end := endOf(ctx); end != nil {
		err = end
	} else if endOf(dialCtx) != nil {
		err = &httpsem.TimeoutError{Op: httpsem.TimeoutConnect, After: p.timeouts.Connect}
	}
	return p.wrap(PhaseConnect, err)
}

func (p *plan) dial(ctx context.Context) (net.Conn, error) {
	switch config := p.addr.Config; {
	case config.DialHost != nil:
		return config.DialHost(ctx, "tcp", p.route.Host)
	case config.DialAddr != nil:
		return config.DialAddr(ctx, "tcp", p.route.Addr.String())
	default:
		return netDialer.DialContext(ctx, "tcp", p.route.Addr.String())
	}
}

// connectTLS makes a link of the connected socket: for https by a handshake,
// which has the connect timeout for itself again.
func (p *plan) connectTLS(ctx context.Context) (Link, []attempt, error) {
	link := Link{Conn: p.raw, Raw: p.raw, Route: p.route, Protocol: protoHTTP1}
	if p.addr.Config.priorKnowledge() {
		link.Protocol = protoPrior
	}
	if p.addr.Secure() {
		if p.trace != nil && p.trace.SecureConnectStart != nil {
			p.trace.SecureConnectStart(p.route)
		}
		if err := p.handshake(ctx, &link); err != nil {
			return Link{}, nil, p.wrap(PhaseTLS, err)
		}
		if p.trace != nil && p.trace.SecureConnectEnd != nil {
			p.trace.SecureConnectEnd(p.route, link.TLS)
		}
	}
	if end := endOf(ctx); end != nil {
		// Nobody waits for the link any more; without this the caller would have
		// to look for one beside the error of its own context.
		return Link{}, nil, p.wrap(PhaseConnect, end)
	}
	if p.trace != nil && p.trace.ConnectEnd != nil {
		p.trace.ConnectEnd(p.route, link.Protocol)
	}
	return link, nil, nil
}

func (p *plan) handshake(ctx context.Context, link *Link) error {
	under := newFloor(p.raw)
	config := p.tls
	if config == nil {
		config = tlsConfig(p.addr)
	}
	conn := tls.Client(under, config)
	if d := p.timeouts.Connect; d > 0 {
		p.raw.SetDeadline(time.Now().Add(d))
	}
	// Closing the socket interrupts the handshake as crypto/tls would, but without
	// a goroutine to wait for it.
	stop := context.AfterFunc(ctx, func() { p.raw.Close() })
	err := conn.HandshakeContext(context.WithoutCancel(ctx))
	if !stop() && err == nil {
		err = endOf(ctx)
	}
	if err != nil {
		if end := endOf(ctx); end != nil {
			return end
		}
		if p.timeouts.Connect > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			return &httpsem.TimeoutError{Op: httpsem.TimeoutTLS, After: p.timeouts.Connect}
		}
		return explainHandshake(err)
	}
	if p.timeouts.Connect > 0 {
		_ = p.raw.SetDeadline(time.Time{}) // some connections know no deadlines
	}
	state := conn.ConnectionState()
	if name := state.NegotiatedProtocol; name != "" {
		if name != protoHTTP1 && !slices.Contains(p.addr.Config.Protocols, name) {
			return fmt.Errorf("the server chose protocol %q, which is not enabled", name)
		}
		link.Protocol = name
	}
	if pins := p.addr.Config.Pins; pins != nil {
		if err := pins(p.addr.Host, &state); err != nil {
			return err
		}
	}
	link.Conn, link.TLS, link.under = conn, &state, under
	return nil
}

// tlsConfig is the configuration of one handshake. What the user's own
// configuration says about the name and the protocols stands.
func tlsConfig(addr Address) *tls.Config {
	c := addr.Config.TLS.Clone()
	if c.ServerName == "" {
		c.ServerName = addr.Host
		if ip, err := netip.ParseAddr(addr.Host); err == nil && ip.Zone() != "" {
			c.ServerName = ip.WithZone("").String() // a zone means nothing to the peer
		}
	}
	if c.NextProtos == nil {
		c.NextProtos = addr.Config.Protocols
	}
	return c
}

// explainHandshake says in plain words that a peer does not speak TLS, which is
// nearly always an http server at an https address, or that it hung up.
func explainHandshake(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the server closed the connection: %w", err)
	}
	var header tls.RecordHeaderError
	if !errors.As(err, &header) || header.Conn == nil {
		return err
	}
	if string(header.RecordHeader[:]) == "HTTP/" {
		return fmt.Errorf("the server answered in plain HTTP: %w: %w", http.ErrSchemeMismatch, err)
	}
	return fmt.Errorf("the server does not speak TLS: %w", err)
}

// failed reports that the attempt failed by itself, and remembers it.
func (p *plan) failed(err error) {
	p.memory.Failed(p.route)
	if p.trace != nil && p.trace.ConnectFailed != nil {
		p.trace.ConnectFailed(p.route, err)
	}
}

// abandoned reports that the attempt was given up after some time: another won,
// or nobody waits any more. That says nothing about the route, unless it had
// been silent for so long that another was given a chance.
func (p *plan) abandoned(why error, after time.Duration) {
	if after >= attemptDelay {
		p.memory.Failed(p.route)
	}
	if p.trace != nil && p.trace.ConnectFailed != nil {
		if _, ok := why.(*ConnectError); !ok {
			why = p.wrap(PhaseConnect, why)
		}
		p.trace.ConnectFailed(p.route, why)
	}
}

// discard closes the socket, if there is one. TLS says no goodbye: that could
// block, and no byte of a request was sent.
func (p *plan) discard() {
	if p.raw != nil {
		p.raw.Close()
	}
}

func (p *plan) retry() attempt {
	again := *p
	again.raw = nil
	return &again
}

func (p *plan) wrap(phase Phase, err error) error {
	e := &ConnectError{Phase: phase, Host: p.route.Host, Err: err}
	if p.route.Addr.IsValid() {
		e.Addr = p.route.Addr.String()
	}
	return e
}
