package mockwebserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/okhttp-go/okhttp/certs"
)

// TB is what the server uses of testing.TB. Each *testing.T, *testing.B and
// *testing.F is one.
type TB interface {
	Helper()
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Server is a scriptable HTTP server. Its methods are safe for concurrent use.
type Server struct {
	settings  settings
	held      *certs.Held // set by Start, with TLS
	tlsConfig *tls.Config // set by Start, with TLS

	ctx    context.Context // ends when the server is closed
	cancel context.CancelFunc
	work   sync.WaitGroup // all goroutines of the server

	dispatcher   atomic.Pointer[Dispatcher]
	requests     fifo[*RecordedRequest]
	requestCount atomic.Int64

	watcher watcher

	mu        sync.Mutex
	state     serverState
	listeners []net.Listener
	conns     map[*conn]struct{}
	closeOnce sync.Once
	closeErr  error
}

type serverState int

const (
	stateNew     serverState = iota // until Start
	stateStarted                    // until Close; listeners is set and fixed
	stateClosed                     // for good
)

// New starts a server for a test. The test's cleanup closes it, and what goes
// wrong on the server is logged to t. It ends the test by t.Fatalf if the
// server cannot listen.
func New(t TB, opts ...Option) *Server {
	t.Helper()
	s := NewServer(append([]Option{WithLogf(t.Logf)}, opts...)...)
	if err := s.Start(); err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
	return s
}

// NewServer makes a server that is not started, for programs that are no tests.
func NewServer(opts ...Option) *Server {
	s := &Server{settings: defaultSettings(), conns: make(map[*conn]struct{})}
	for _, opt := range opts {
		opt.apply(&s.settings)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	d := s.settings.dispatcher
	if d == nil {
		q := NewQueue()
		if s.settings.fallback != nil {
			q.SetFallback(*s.settings.fallback)
		}
		d = q
	}
	s.dispatcher.Store(&d)
	return s
}

// Start listens and serves. A server can be started once; after Close it fails
// with http.ErrServerClosed.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case stateStarted:
		return errors.New("mockwebserver: already started")
	case stateClosed:
		return fmt.Errorf("mockwebserver: %w", http.ErrServerClosed)
	case stateNew:
	}
	s.listeners = s.settings.listeners
	if len(s.listeners) == 0 {
		l, err := net.Listen("tcp", s.settings.address)
		if err != nil {
			return fmt.Errorf("mockwebserver: %w", err)
		}
		s.listeners = []net.Listener{l}
	}
	s.state = stateStarted
	if s.settings.tls {
		s.startTLS()
	}
	for _, l := range s.listeners {
		s.work.Go(func() { s.accept(l) })
	}
	return nil
}

// accept serves the connections of one listener until that is closed.
func (s *Server) accept(l net.Listener) {
	for {
		raw, err := l.Accept()
		if err != nil {
			if s.ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
				s.settings.logf("mockwebserver: accept: %v", err)
			}
			return
		}
		c := newConn(s, raw)
		if !s.admit(c) {
			_ = raw.Close()
			return
		}
		s.work.Go(c.serve)
	}
}

// admit adds a connection, unless the server is closed.
func (s *Server) admit(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == stateClosed {
		return false
	}
	s.conns[c] = struct{}{}
	c.index = s.watcher.opened()
	return true
}

func (s *Server) dismiss(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.watcher.closed()
}

// closeWait bounds how long Close waits for functions of the script that do not
// return.
const closeWait = time.Second

// Close stops the server: it closes its listeners and connections, whatever
// they are doing, and waits until all its goroutines have ended. If a function
// of the script (a body, a handler, a dispatcher) does not return within a
// second, Close returns an error. Closing again does nothing and returns the
// same.
func (s *Server) Close() error {
	s.closeOnce.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Server) close() error {
	s.mu.Lock()
	listeners := s.listeners
	if s.state == stateNew {
		listeners = s.settings.listeners
	}
	s.state = stateClosed
	s.cancel()
	s.mu.Unlock()
	for _, l := range listeners {
		_ = l.Close()
	}
	s.CloseClientConnections()

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.work.Wait()
	}()
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-ended:
		return nil
	case <-timer.C:
		return errors.New("mockwebserver: Close: a scripted function has not returned; it should heed its context")
	}
}

// CloseClientConnections closes all open connections at once, whatever they are
// doing, as when the server's process dies; the server goes on to accept new
// ones. A client that keeps an idle connection reads io.EOF from it.
func (s *Server) CloseClientConnections() {
	s.mu.Lock()
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		c.abort()
	}
}

// Enqueue adds responses to the server's queue. It panics if the server has
// another Dispatcher than a Queue.
func (s *Server) Enqueue(responses ...Response) {
	q, ok := s.Dispatcher().(*Queue)
	if !ok {
		panic("mockwebserver: Enqueue needs a server whose dispatcher is a Queue")
	}
	q.Enqueue(responses...)
}

// PeekResponse returns the next response of the server's queue without using it
// up. It returns false if there is none.
func (s *Server) PeekResponse() (Response, bool) {
	if q, ok := s.Dispatcher().(*Queue); ok {
		return q.PeekResponse()
	}
	return Response{}, false
}

// Dispatcher returns what chooses the responses.
func (s *Server) Dispatcher() Dispatcher { return *s.dispatcher.Load() }

// SetDispatcher sets what chooses the responses to requests from now on.
func (s *Server) SetDispatcher(d Dispatcher) { s.dispatcher.Store(&d) }

// Addr returns the address that the server listens on. Like all methods that
// need it, it panics before Start.
func (s *Server) Addr() net.Addr {
	s.mustBeStarted()
	return s.listeners[0].Addr()
}

// HostName returns the host name or IP address in the server's URLs.
func (s *Server) HostName() string {
	s.mustBeStarted()
	return s.hostName()
}

func (s *Server) hostName() string {
	if s.settings.hostName != "" {
		return s.settings.hostName
	}
	host, _, err := net.SplitHostPort(s.listeners[0].Addr().String())
	if err != nil {
		return "localhost" // a Unix socket
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return "localhost"
	}
	return host
}

// Port returns the port that the server listens on.
func (s *Server) Port() int {
	_, port, err := net.SplitHostPort(s.Addr().String())
	if err != nil {
		return s.defaultPort() // a Unix socket
	}
	n, _ := strconv.Atoi(port)
	if s.Addr().Network() == "pipe" {
		return s.defaultPort()
	}
	return n
}

func (s *Server) defaultPort() int {
	if s.settings.tls {
		return 443
	}
	return 80
}

// URL returns the address of a path on the server, such as
// "http://127.0.0.1:41234/path". A missing leading slash is added.
func (s *Server) URL(path string) string {
	s.mustBeStarted()
	scheme := "http://"
	if s.settings.tls {
		scheme = "https://"
	}
	if len(path) == 0 || path[0] != '/' {
		path = "/" + path
	}
	host := net.JoinHostPort(s.HostName(), strconv.Itoa(s.Port()))
	if s.Port() == s.defaultPort() {
		host = s.HostName()
		if net.ParseIP(host).To4() == nil && net.ParseIP(host) != nil {
			host = "[" + host + "]"
		}
	}
	return scheme + host + path
}

// String names the server and its state: "mockwebserver(127.0.0.1:41234)".
func (s *Server) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state == stateNew:
		return "mockwebserver(new)"
	case s.state == stateClosed:
		return "mockwebserver(closed)"
	default:
		return "mockwebserver(" + s.listeners[0].Addr().String() + ")"
	}
}

func (s *Server) mustBeStarted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.listeners) == 0 {
		panic("mockwebserver: call Start first")
	}
}
