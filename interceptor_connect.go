package okhttp

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/okhttp-go/okhttp/internal/connect"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// connectTo readies an exchange on a connection that fits the request: the one
// that the call holds already, an idle one, or a new one. The codec writes extra
// beside the request's own headers.
func (c *Call) connectTo(cfg *settings, wire *http.Request, extra *[3]httpsem.Field) (*http.Response, error) {
	c.phase = PhaseConnect
	address, err := addressOf(wire.URL, cfg.connect)
	if err != nil {
		return nil, err
	}
	conn, reused, err := c.connection(cfg, address, wire)
	if err != nil {
		return nil, err
	}
	e := c.newExchange(cfg, conn, reused, extra)
	if len(c.cfg.networkInterceptors) == 0 {
		return e.do(wire)
	}
	return c.networkChain(0, e, wire, origin(wire.URL))
}

// connection returns the connection for the next exchange and holds it.
func (c *Call) connection(cfg *settings, address connect.Address, wire *http.Request) (*connect.Conn, bool, error) {
	if held := c.keptConnection(address); held != nil {
		return held, true, nil // without an event: it was acquired before
	}
	params := connect.AcquireParams{
		Address: address, Planner: c.planner, Memory: cfg.memory, Fresh: c.fresh,
		Timeouts: connect.Timeouts{Connect: cfg.connectTimeout},
	}
	if c.listener != nil {
		params.Tracer = callTracer{c}
	}
	if c.tracer != nil {
		c.tracer.getConn(address.HostPort())
	}
	if c.hidden && c.ctx.parent.Done() == nil && c.cfg.callTimeout == 0 && cancelChannel(c.original) == nil {
		params.Stay = callCanceler{c}
	}
	var ctx context.Context = &c.ctx
	if c.attempt != nil {
		var done func()
		ctx, done = c.attempt.within(ctx)
		defer done()
		params.Stay = nil
	}
	lease, err := cfg.pool.p.Acquire(ctx, params)
	c.planner = lease.Planner
	if err != nil {
		return nil, false, err
	}
	return lease.Conn, lease.Reused, nil
}

// keptConnection returns the connection that the call still holds from its
// exchange before, if it fits and lives; else it is released.
func (c *Call) keptConnection(address connect.Address) *connect.Conn {
	conn := c.conn // while the chain runs only its own goroutine changes it
	if conn == nil {
		return nil
	}
	c.mu.Lock()
	usable := c.reusable && c.cause == nil
	c.mu.Unlock()
	if usable && !c.fresh && conn.Address() == address {
		err := conn.Check()
		if err == nil {
			return conn
		}
		c.mu.Lock()
		c.reusable, c.reason = false, err.Error()
		c.mu.Unlock()
	}
	c.releaseConnection()
	return nil
}

// callCanceler lets the connecting storey end a call.
type callCanceler struct{ call *Call }

func (k callCanceler) Cancel(cause error) { k.call.cancel(cause) }

// callTracer turns the connecting storey's reports into events of the call.
type callTracer struct{ call *Call }

func (t callTracer) Trace(a connect.Address) *connect.Trace {
	c := t.call
	where := originURL(a)
	return &connect.Trace{
		ProxySelectStart:   func() { emit(c, ProxySelectStart{where}) },
		ProxySelectEnd:     func() { emit(c, ProxySelectEnd{URL: where}) },
		DNSStart:           func(host string) { emit(c, DNSStart{host}) },
		DNSEnd:             func(host string, addrs []netip.Addr) { emit(c, DNSEnd{host, addrs}) },
		ConnectStart:       func(r connect.Route) { emit(c, ConnectStart{Route(r)}) },
		SecureConnectStart: func(r connect.Route) { emit(c, SecureConnectStart{Route(r)}) },
		SecureConnectEnd: func(r connect.Route, s *tls.ConnectionState) {
			emit(c, SecureConnectEnd{Route(r), s})
		},
		ConnectEnd:    func(r connect.Route, proto string) { emit(c, ConnectEnd{Route(r), proto}) },
		ConnectFailed: func(r connect.Route, err error) { emit(c, ConnectFailed{Route(r), translate(err)}) },
		Discarded: func(conn *connect.Conn, why error) {
			emit(c, ConnectionDiscarded{Connection{conn}, why})
		},
	}
}

// originURL is the URL of an origin, its port left out if that is the scheme's.
func originURL(a connect.Address) *url.URL {
	u := &url.URL{Scheme: a.Scheme, Host: a.HostPort()}
	if a.Port == defaultPort(a.Scheme) {
		u.Host = strings.TrimSuffix(u.Host, ":"+a.Port)
	}
	return u
}
