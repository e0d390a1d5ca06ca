package mockwebserver

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
)

// ConnectionEvent is something that happened to a connection of the server.
type ConnectionEvent struct {
	Kind       ConnectionEventKind
	Index      int // of the connection, counted from 0
	RemoteAddr net.Addr
	Tunnel     string               // at ConnectionTunneled, and at ConnectionSecured within a tunnel: its target
	TLS        *tls.ConnectionState // at ConnectionSecured
	Exchanges  int                  // at ConnectionClosed: how many requests were begun
	Err        error                // at ConnectionClosed: a failed handshake, a malformed request, a broken socket
}

// ConnectionEventKind says what happened.
type ConnectionEventKind int

// The events of a connection. The second and third come in the order in which
// the client begins TLS and opens tunnels, or not at all.
const (
	ConnectionOpened   ConnectionEventKind = iota // accepted
	ConnectionTunneled                            // a tunnel is open
	ConnectionSecured                             // the TLS handshake is complete
	ConnectionClosed                              // closed by the server, or by the client and noticed
)

// String returns "opened", "tunneled", "secured" or "closed".
func (k ConnectionEventKind) String() string {
	switch k {
	case ConnectionOpened:
		return "opened"
	case ConnectionTunneled:
		return "tunneled"
	case ConnectionSecured:
		return "secured"
	case ConnectionClosed:
		return "closed"
	}
	return fmt.Sprintf("ConnectionEventKind(%d)", int(k))
}

// ConnectionCount returns how many connections were accepted so far.
func (s *Server) ConnectionCount() int { return s.watcher.get().accepted }

// OpenConnections returns how many connections are open.
func (s *Server) OpenConnections() int { return s.watcher.get().open }

// WaitOpen waits until exactly n connections are open. It fails when the
// context ends.
func (s *Server) WaitOpen(ctx context.Context, n int) error {
	return s.watcher.wait(ctx, func(c counts) bool { return c.open == n })
}

// WaitIdle waits until no exchange is in progress: every request that the
// server began to read was answered in full, with its effects. Connections may
// be open. It fails when the context ends.
func (s *Server) WaitIdle(ctx context.Context) error {
	return s.watcher.wait(ctx, func(c counts) bool { return c.busy == 0 })
}

type counts struct {
	accepted, open, busy int
}

// watcher counts connections, and lets others wait for a count.
type watcher struct {
	mu      sync.Mutex
	now     counts
	changed chan struct{} // closed at the next change; nil while nobody waits
}

func (w *watcher) get() counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// opened returns the index of the connection.
func (w *watcher) opened() int {
	return w.update(func(c *counts) { c.accepted++; c.open++ }).accepted - 1
}

func (w *watcher) closed() { w.update(func(c *counts) { c.open-- }) }
func (w *watcher) begun()  { w.update(func(c *counts) { c.busy++ }) }
func (w *watcher) ended()  { w.update(func(c *counts) { c.busy-- }) }

func (w *watcher) update(change func(*counts)) counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.now)
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
	return w.now
}

func (w *watcher) wait(ctx context.Context, reached func(counts) bool) error {
	for {
		w.mu.Lock()
		now := w.now
		if reached(now) {
			w.mu.Unlock()
			return nil
		}
		if w.changed == nil {
			w.changed = make(chan struct{})
		}
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("mockwebserver: %d connections open, %d exchanges in progress: %w",
				now.open, now.busy, context.Cause(ctx))
		}
	}
}
