package okhttp

import (
	"net/http"
	"net/url"
	"sync"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// pushes brings the pushes of one connection to an observer.
type pushes struct {
	observer PushObserver
	conn     Connection
	open     map[uint32]*Push // belongs to whoever is busy

	mu   sync.Mutex
	busy bool
	lost error // why the connection is over
}

// enter begins a call of the observer, unless the connection is over.
func (s *pushes) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost != nil {
		return false
	}
	s.busy = true
	return true
}

// leave ends what enter began. If the connection has ended meanwhile so do the
// pushes, here, since whoever ended it must not wait.
func (s *pushes) leave() {
	s.mu.Lock()
	s.busy = false
	lost := s.lost
	s.mu.Unlock()
	if lost != nil {
		s.end(lost)
	}
}

// Lost ends all pushes, since the connection is over.
func (s *pushes) Lost(err error) {
	s.mu.Lock()
	if public := translateHTTP2(err); public != nil {
		err = public
	}
	s.lost = err
	busy := s.busy
	s.mu.Unlock()
	if !busy {
		s.end(err)
	}
}

// end tells the observer that the connection is over. Only one who may call the
// observer calls it.
func (s *pushes) end(err error) {
	for id, p := range s.open {
		delete(s.open, id)
		s.observer.OnPushReset(p, err)
	}
}

// keep forgets a push that is over or cancelled, and reports whether it goes on.
func (s *pushes) keep(id uint32, cancel, last bool) bool {
	if cancel || last {
		delete(s.open, id)
	}
	return !cancel
}

func (s *pushes) Promised(id uint32, method, target string, header http.Header) bool {
	if !s.enter() {
		return false
	}
	defer s.leave()
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return false
	}
	p := &Push{StreamID: id, Connection: s.conn, Request: &http.Request{
		Method: method, URL: u, Host: u.Host, Header: header,
		Proto: "HTTP/2.0", ProtoMajor: 2,
	}}
	s.open[id] = p
	return s.keep(id, s.observer.OnPushRequest(p), false)
}

func (s *pushes) Headers(id uint32, status int, header http.Header, end bool) bool {
	if !s.enter() {
		return false
	}
	defer s.leave()
	return s.keep(id, s.observer.OnPushHeaders(s.open[id], status, header, end), end)
}

func (s *pushes) Data(id uint32, p []byte, end bool) bool {
	if !s.enter() {
		return false
	}
	defer s.leave()
	return s.keep(id, s.observer.OnPushData(s.open[id], p, end), end)
}

func (s *pushes) Reset(id uint32, err *httpsem.StreamError) {
	if !s.enter() {
		return
	}
	defer s.leave()
	p := s.open[id]
	delete(s.open, id)
	s.observer.OnPushReset(p, translateHTTP2(err))
}
