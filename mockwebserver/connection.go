package mockwebserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// conn is one connection to a client. Its goroutine, which runs serve, owns all
// fields that have no other owner named.
type conn struct {
	watchMu sync.Mutex
	watched context.Context // of the watch under way; nil for none; guarded by watchMu

	server *Server
	index  int

	// ctx ends when the server is closed or the connection is aborted.
	ctx    context.Context
	cancel context.CancelFunc

	raw net.Conn // as accepted; abort may close it at any time
	net net.Conn // what HTTP is spoken on: raw, or TLS on it
	br  *bufio.Reader
	bw  *bufio.Writer

	layer     layer
	tls       *tls.ConnectionState
	exchanges int   // begun so far
	err       error // why the connection ends, if not in an orderly way

	// requestRead is false while the client may have sent what was not read.
	requestRead bool

	handshaking bool // effects of a handshake are under way

	aborted atomic.Bool
}

func newConn(s *Server, raw net.Conn) *conn {
	c := &conn{server: s, raw: raw, net: raw}
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	c.br, c.bw = bufio.NewReader(raw), bufio.NewWriter(raw)
	return c
}

// serve is the life of the connection.
func (c *conn) serve() {
	defer c.finish()
	c.report(ConnectionOpened)
	if r, ok := c.peek(AtAccept, nil); ok && !c.act(AtAccept, r) {
		return
	}
	for c.begin() {
		if c.speaksHTTP2() {
			c.serveHTTP2()
			return
		}
		if !c.serveExchange() {
			return
		}
	}
}

// serveExchange waits for a request and serves it. It reports whether the
// connection goes on.
func (c *conn) serveExchange() bool {
	c.requestRead = true
	if _, err := c.br.Peek(1); err != nil {
		if err != io.EOF {
			c.err = err
		}
		_ = c.net.Close()
		return false
	}
	c.requestRead = false
	c.server.watcher.begun()
	defer c.server.watcher.ended()
	x := newExchange(c)
	c.exchanges++
	if !x.run() {
		return false
	}
	if x.opensTunnel() {
		c.enterTunnel(x)
	}
	return true
}

// abort ends the connection from any goroutine.
func (c *conn) abort() {
	c.aborted.Store(true)
	c.cancel()
	_ = c.raw.Close()
}

func (c *conn) finish() {
	c.cancel()
	_ = c.raw.Close()
	c.report(ConnectionClosed)
	c.server.dismiss(c)
}

func (c *conn) report(kind ConnectionEventKind) {
	e := ConnectionEvent{Kind: kind, Index: c.index, RemoteAddr: c.raw.RemoteAddr()}
	switch kind {
	case ConnectionOpened:
	case ConnectionTunneled:
		e.Tunnel = c.layer.tunnel
	case ConnectionSecured:
		e.TLS, e.Tunnel = c.tls, c.layer.tunnel
	case ConnectionClosed:
		e.Exchanges = c.exchanges
		if !c.aborted.Load() {
			e.Err = c.err
		}
	}
	c.server.settings.hook(e)
}

// peek asks the dispatcher for what it knows already.
func (c *conn) peek(at Trigger, r *RecordedRequest) (Response, bool) {
	p, ok := c.server.Dispatcher().(Peeker)
	if !ok {
		return Response{}, false
	}
	m := Moment{At: at, ConnectionIndex: c.index, ExchangeIndex: c.exchanges, Request: r}
	if r != nil {
		m.ExchangeIndex = r.ExchangeIndex
	}
	return p.Peek(m)
}

// handshake makes TLS of the connection, unless an effect prevents it.
func (c *conn) handshake() bool {
	if _, err := c.br.Peek(1); err != nil {
		c.err = err
		return false
	}
	c.handshaking = true
	if !c.act(AtTLSHandshake, c.layer.opener) {
		return false
	}
	if r, ok := c.peek(AtTLSHandshake, nil); ok && !c.act(AtTLSHandshake, r) {
		return false
	}
	c.handshaking = false
	secure := tls.Server(&readAheadConn{Conn: c.net, br: c.br}, c.server.tlsConfig)
	if err := secure.Handshake(); err != nil {
		c.err = err
		if !c.aborted.Load() && !errors.Is(err, io.EOF) {
			c.server.settings.logf("mockwebserver: TLS handshake with %v: %v", c.raw.RemoteAddr(), err)
		}
		return false
	}
	state := secure.ConnectionState()
	c.tls, c.net = &state, secure
	c.br, c.bw = bufio.NewReader(secure), bufio.NewWriter(secure)
	c.report(ConnectionSecured)
	return true
}

// readAheadConn reads what a buffer has read ahead first.
type readAheadConn struct {
	net.Conn
	br *bufio.Reader
}

func (c *readAheadConn) Read(p []byte) (int, error) {
	if c.br.Buffered() > 0 {
		return c.br.Read(p)
	}
	return c.Conn.Read(p)
}

// sleep sends what is buffered and waits. It reports whether the connection
// goes on.
func (c *conn) sleep(d time.Duration) bool {
	if d <= 0 {
		return c.ctx.Err() == nil
	}
	if c.bw.Flush() != nil {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// watch returns a context that ends when the client hangs up, and a function
// that ends the watching. Meanwhile nobody may read; who else wants to watch
// shares the one watch there is. While a request is unread
// there is nothing to see, so that only the server's close ends the context.
func (c *conn) watch() (ctx context.Context, stop func()) {
	if !c.requestRead {
		return c.ctx, func() {}
	}
	c.watchMu.Lock()
	defer c.watchMu.Unlock()
	if c.watched != nil { // a handler is running, and an effect of its response stalls
		return c.watched, func() {}
	}
	ctx, cancel := context.WithCancel(c.ctx)
	c.watched = ctx
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := c.br.Peek(1); err != nil {
			cancel()
		}
	}()
	return ctx, func() {
		_ = c.raw.SetReadDeadline(time.Unix(1, 0)) // ends the Peek
		<-done
		_ = c.raw.SetReadDeadline(time.Time{})
		cancel()
		c.watchMu.Lock()
		c.watched = nil
		c.watchMu.Unlock()
	}
}
