package mockwebserver

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/http2/hpack"
)

// h2Conn is what a connection is once HTTP/2 is spoken on it (RFC 9113), in the
// server's role. The connection's goroutine reads frames, each stream has a
// goroutine that serves its exchange, and one more goroutine writes.
type h2Conn struct {
	c    *conn
	work sync.WaitGroup // the goroutines of the streams

	// Owned by the connection's goroutine.
	frames  *frame.Reader
	decoder hpack.Decoder
	fields  hpack.Block
	opening frame.Header // the HEADERS frame whose block is not complete
	flood   floodMeter

	mu         sync.Mutex // guards all that follows, and the state of streams; never held while waiting
	streams    map[uint32]*h2Stream
	closed     closedStreams
	last       uint32 // the client's highest stream
	promised   uint32 // the server's highest stream
	goneAbove  uint32 // streams of the client above it are ignored: the last one of a GOAWAY
	leaving    bool   // close once no stream is left: a GOAWAY was sent
	closing    bool   // a script or GOAWAY ends the connection
	inputOver  bool   // nothing will come from the client any more
	sendWindow int64
	recvWindow int64
	owed       int64 // what was received and not yet given back to the window
	peer       h2Peer
	own        h2Limits
	unacked    [][]Setting // settings sent, oldest first
	out        h2Output
}

// h2Peer is what the client's SETTINGS allow.
type h2Peer struct {
	window     int64 // of a new stream
	maxFrame   uint32
	maxStreams uint32 // that the server may promise
	push       bool
}

// h2Limits is what the server's SETTINGS, as acknowledged, allow the client.
type h2Limits struct {
	window          int64 // of a new stream
	maxStreams      uint32
	extendedConnect bool
}

func newH2Conn(c *conn) *h2Conn {
	h := &h2Conn{
		c:          c,
		frames:     frame.NewReader(c.br),
		streams:    make(map[uint32]*h2Stream),
		goneAbove:  frame.MaxWindow, // the highest stream there is
		sendWindow: frame.InitialWindow,
		recvWindow: frame.InitialWindow,
		peer:       h2Peer{window: frame.InitialWindow, maxFrame: frame.MinMaxFrameSize, maxStreams: frame.MaxWindow, push: true},
		own:        h2Limits{window: frame.InitialWindow, maxStreams: defaultMaxStreams},
		out:        newH2Output(),
	}
	h.decoder.MaxListSize = uint32(c.server.settings.headLimit)
	return h
}

// priorKnowledge is the protocol of clients that begin with HTTP/2 at once.
const priorKnowledge = "h2_prior_knowledge"

func (s *settings) priorKnowledge() bool {
	return len(s.protocols) == 1 && s.protocols[0] == priorKnowledge
}

// speaksHTTP2 reports whether what comes next on the connection is HTTP/2.
func (c *conn) speaksHTTP2() bool {
	if c.server.settings.priorKnowledge() {
		return c.tls != nil || !c.server.settings.tls
	}
	return c.tls != nil && c.tls.NegotiatedProtocol == "h2"
}

// serveHTTP2 is the life of a connection on which HTTP/2 is spoken.
func (c *conn) serveHTTP2() {
	c.requestRead = false
	h := newH2Conn(c)
	go h.writeOut()
	h.finish(h.run())
}

// run reads until the connection ends, and returns why.
func (h *h2Conn) run() error {
	if err := h.readPreface(); err != nil {
		return err
	}
	h.sendSettings(h.c.server.settings.firstSettings())
	return h.read()
}

func (h *h2Conn) readPreface() error {
	var preface [len(frame.ClientPreface)]byte
	if n, err := io.ReadFull(h.c.br, preface[:]); err != nil {
		if err == io.ErrUnexpectedEOF && string(preface[:n]) != frame.ClientPreface[:n] {
			return connectionError(frame.ProtocolError, "the client's preface is not that of HTTP/2")
		}
		return err
	}
	if string(preface[:]) != frame.ClientPreface {
		return connectionError(frame.ProtocolError, "the client's preface is not that of HTTP/2")
	}
	return nil
}

// farewell bounds how long a client that broke the rules is told so.
const farewell = time.Second

// finish ends the connection, once reading has ended.
func (h *h2Conn) finish(err error) {
	c := h.c
	var broken *frame.Error
	switch {
	case h.isClosing():
		h.failStreams(ErrScripted)
	case err == io.EOF:
		h.endInput()
		h.work.Wait() // who can, answers
	case errors.As(err, &broken):
		c.err = http2Error(broken)
		_ = c.raw.SetWriteDeadline(time.Now().Add(farewell))
		h.sendGoAway(h.lastStream(), broken.Code, broken.Reason)
		h.failStreams(c.err)
		if !c.aborted.Load() {
			c.server.settings.logf("mockwebserver: connection %d: %v", c.index, c.err)
		}
	default:
		c.err = err
		if written := h.writeError(); written != nil {
			c.err = written // which has ended the reading
		}
		h.failStreams(c.err)
	}
	h.stopWriting()
	c.closeInOrder()
	h.work.Wait()
}

func (h *h2Conn) isClosing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closing
}

func (h *h2Conn) writeError() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.out.err
}

func (h *h2Conn) lastStream() uint32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// close ends the connection in an orderly way, from any goroutine: what was sent
// before will be read.
func (h *h2Conn) close() {
	h.mu.Lock()
	h.closing = true
	h.mu.Unlock()
	h.interrupt()
}

// interrupt ends the reading.
func (h *h2Conn) interrupt() { _ = h.c.raw.SetReadDeadline(time.Unix(1, 0)) }

// endInput is called when nothing will come from the client any more: requests
// that are not complete fail, and whoever wants to know that it hung up is told.
func (h *h2Conn) endInput() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inputOver = true
	for _, s := range h.streams {
		if s.bodyEnd == nil {
			s.failLocked(io.ErrUnexpectedEOF)
		}
		s.hungUp()
		s.wake()
	}
}

// failStreams ends all streams.
func (h *h2Conn) failStreams(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inputOver = true
	for _, s := range h.streams {
		s.failLocked(err)
	}
}

// openLocked returns how many streams of the client are open.
func (h *h2Conn) openLocked() (n uint32) {
	for id := range h.streams {
		if id%2 == 1 {
			n++
		}
	}
	return n
}

// forget takes a stream that is over off the list.
func (h *h2Conn) forget(s *h2Stream, reset bool) {
	h.mu.Lock()
	delete(h.streams, s.id)
	h.closed.add(s.id, reset)
	leave := h.leaving && h.openLocked() == 0
	h.mu.Unlock()
	s.cancel(context.Canceled)
	if leave {
		h.close()
	}
}

// closedStreams remembers the streams that were closed last, since frames of
// theirs may still be under way.
type closedStreams struct {
	reset map[uint32]bool // by the server; false: both sides were at their end
	order []uint32
}

const closedRemembered = 1000

func (c *closedStreams) add(id uint32, reset bool) {
	if c.reset == nil {
		c.reset = make(map[uint32]bool)
	}
	if len(c.order) == closedRemembered {
		delete(c.reset, c.order[0])
		c.order = c.order[1:]
	}
	c.reset[id] = reset
	c.order = append(c.order, id)
}

// floodMeter bounds frames that cost the server something and bring nothing.
type floodMeter struct {
	since time.Time
	count int
}

// The bound is for floodWait, or until something useful comes.
const (
	floodFrames = 10_000
	floodWait   = 10 * time.Second
)

func (m *floodMeter) useful() { m.count = 0 }

func (m *floodMeter) useless() error {
	m.count++
	if m.count == 1 {
		m.since = time.Now()
	}
	if m.count <= floodFrames {
		return nil
	}
	if time.Since(m.since) > floodWait {
		m.count = 0
		return nil
	}
	return connectionError(frame.EnhanceYourCalm, "too many frames that bring nothing")
}
