package http2

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/httpsem"
	"github.com/okhttp-go/okhttp/internal/testkit"
)

// rig is a connection and its peer, in memory and in a bubble of synctest.
type rig struct {
	*Conn
	t    *testing.T
	peer *peer

	mu  sync.Mutex
	log []string // what the connection has reported
}

// inRig runs a test with a connection whose peer is ready to be made to speak.
// Whatever happens in it, no goroutine may be left, and the accounts must be in
// order.
func inRig(t *testing.T, config Config, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		near, far := testkit.Pipe()
		defer far.Close()
		defer near.Close()
		r := &rig{t: t}
		config.Reports = Reports{
			LimitChanged: func(n int) { r.report(fmt.Sprintf("limit %d", n)) },
			Suspect:      func(why string) { r.report("suspect " + why) },
			Retired:      func(why string) { r.report("retired: " + why) },
			Closed:       func(err error) { r.report(fmt.Sprintf("closed: %v", err)) },
		}
		r.Conn = New(&memorySocket{Conn: near, ended: make(chan struct{})}, config)
		r.peer = newPeer(t, far)
		test(r)
		r.Close(true)
		far.Close()
		r.checkAccounts()
	})
}

// begun is inRig with a first stream, of a GET, whose head the peer has read.
func begun(t *testing.T, test func(r *rig, s *Stream)) {
	t.Helper()
	inRig(t, Config{}, func(r *rig) {
		s := r.get()
		r.peer.begin()
		if id := r.peer.request(); id != 1 {
			t.Fatalf("the first stream is %d", id)
		}
		test(r, s)
		s.End()
	})
}

func (r *rig) report(what string) {
	r.mu.Lock()
	r.log = append(r.log, what)
	r.mu.Unlock()
}

// reports are what was reported so far, limits aside.
func (r *rig) reports() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.log), func(s string) bool { return strings.HasPrefix(s, "limit ") })
}

func (r *rig) wantReports(want ...string) {
	r.t.Helper()
	if got := r.reports(); !slices.Equal(got, want) {
		r.t.Errorf("reported %q, want %q", got, want)
	}
}

// checkAccounts sees that nothing is left of the streams, and that every byte of
// the connection's window that was used was given back.
func (r *rig) checkAccounts() {
	r.t.Helper()
	c := r.Conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.streams) != 0 || c.waiting != 0 || len(c.blocked) != 0 {
		r.t.Errorf("%d streams, %d who wait and %d blocked are left", len(c.streams), c.waiting, len(c.blocked))
	}
	if sum := c.recv.left + c.recv.given; sum != c.recv.size {
		r.t.Errorf("the connection's window has %d of %d", sum, c.recv.size)
	}
}

func request(method string) *http.Request {
	req, err := http.NewRequest(method, "http://peer.test/path", nil)
	if err != nil {
		panic(err)
	}
	return req
}

// open begins a stream.
func (r *rig) open(method string, contentLength int64, o httpsem.ExchangeOptions) *Stream {
	r.t.Helper()
	s := r.NewStream()
	s.Begin(o)
	if err := s.WriteHead(request(method), contentLength); err != nil {
		r.t.Fatal(err)
	}
	if contentLength == 0 {
		if err := s.Flush(); err != nil {
			r.t.Fatal(err)
		}
	}
	return s
}

func (r *rig) get() *Stream {
	r.t.Helper()
	return r.open(http.MethodGet, 0, httpsem.ExchangeOptions{})
}

// response is what a stream has received, and how that ended.
type response struct {
	http.Response
	body    string
	interim int
	err     error
}

// receive reads a whole response.
func receive(s *Stream, method string) (r response) {
	for {
		if r.err = s.ReadHead(request(method), &r.Response); r.err != nil {
			return r
		}
		if r.StatusCode >= 200 {
			break
		}
		r.interim++
	}
	var body strings.Builder
	buf := make([]byte, 4<<10)
	for {
		n, err := s.ReadBody(buf)
		body.Write(buf[:n])
		if err != nil {
			r.body = body.String()
			if err != io.EOF {
				r.err = err
			}
			r.Response.Trailer = s.Trailer()
			return r
		}
	}
}

// mustGet makes a call that must succeed.
func (r *rig) mustGet() {
	r.t.Helper()
	s := r.get()
	id := r.peer.request()
	r.peer.answer(id, "fine")
	if got := receive(s, http.MethodGet); got.err != nil || got.body != "fine" {
		r.t.Errorf("another call: %d %q %v", got.StatusCode, got.body, got.err)
	}
	s.End()
}

// memorySocket makes a Socket of an in-memory connection.
type memorySocket struct {
	*testkit.Conn
	kept  []byte
	full  atomic.Bool   // it takes nothing more
	ended chan struct{} // Close was called
	once  sync.Once
}

func (s *memorySocket) ReadNow(p []byte) (int, error) {
	if n, err := s.Readable(); n == 0 && err == nil {
		return 0, ErrNothing
	}
	return s.Read(p)
}

func (s *memorySocket) WriteNow(p []byte) (bool, error) {
	if s.full.Load() {
		s.kept = append(s.kept[:0], p...)
		return true, nil
	}
	n, err := s.Conn.WriteNow(p)
	if err != nil {
		return false, err
	}
	s.kept = append(s.kept[:0], p[n:]...)
	return len(s.kept) > 0, nil
}

func (s *memorySocket) Drain() error {
	if s.full.Load() {
		<-s.ended
	}
	_, err := s.Write(s.kept)
	s.kept = nil
	return err
}

func (s *memorySocket) CloseGracefully(linger time.Duration) {
	if s.CloseWrite() == nil && s.SetReadDeadline(time.Now().Add(linger)) == nil {
		_, _ = io.Copy(io.Discard, s.Conn)
	}
	_ = s.Close()
}

func (s *memorySocket) Close() error {
	s.once.Do(func() { close(s.ended) })
	return s.Conn.Close()
}

// stuff makes the socket take no more, without the peer's reading it.
func (s *memorySocket) stuff() { s.full.Store(true) }

func wantStreamError(t *testing.T, err error, code frame.ErrCode) {
	t.Helper()
	var reset *httpsem.StreamError
	if !errors.As(err, &reset) || frame.ErrCode(reset.Code) != code || !reset.Remote {
		t.Errorf("the call ended with %v, want a reset with %v", err, code)
	}
}
