package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/http2/hpack"
)

// h2Answer is a reply in HTTP/2, made before the first request.
type h2Answer struct {
	block  []byte // the header block
	piece  []byte // of the body
	length int64  // of the whole body
	held   bool   // all but the first piece wait until they are released
}

// h2Answers returns the replies in HTTP/2. Their header blocks leave the dynamic
// table alone, so that they are the same bytes on every connection.
func h2Answers() map[string]*h2Answer {
	all := map[string]*h2Answer{}
	for path, r := range replies() {
		var block bytes.Buffer
		encoder := hpack.NewEncoder(&block)
		encoder.SetMaxDynamicTableSize(0)
		status := hpack.HeaderField{Name: ":status", Value: "200"}
		encoder.WriteField(status) // a bytes.Buffer does not fail
		block.Reset()              // the first field came after the new size of the table
		encoder.WriteField(status)
		for _, f := range r.fields {
			encoder.WriteField(hpack.HeaderField{Name: strings.ToLower(f.name), Value: f.value})
		}
		all[path] = &h2Answer{block.Bytes(), r.piece, int64(len(r.piece) * r.times), r.held}
	}
	return all
}

// Bounds of the server's own. Clients that dare more than nginx's 128 streams
// find no limit here, and uploads never wait for a window.
const (
	h2MaxStreams = 1 << 16
	h2MaxFrame   = 64 * kib  // sent to clients that take as much
	h2WriteSize  = 256 * kib // bytes that are worth a write of their own
	h2Refund     = 1 << 29   // bytes received before the connection's window is filled up
)

// h2Conn is one connection with a client that speaks HTTP/2. One goroutine reads
// all that is there, answers it, and writes the answers at once.
type h2Conn struct {
	server  *server
	conn    net.Conn
	in      frameReader
	decoder *hpack.Decoder
	path    string // that decoder found last

	// Below what is guarded by mu: only a held answer has a goroutine of its own.
	mu          sync.Mutex
	out         []byte // what the next write sends
	maxFrame    int64  // that the client takes
	window      int64  // bytes of bodies that the client takes now, on all streams together
	firstWindow int64  // and of each new stream
	received    int64  // bytes of bodies since the client's window was filled up
	streams     map[uint32]*h2Stream
	sending     []*h2Stream // those of streams whose answers are on their way
}

// h2Stream is an exchange whose request is not whole yet, or whose answer is not
// all sent.
type h2Stream struct {
	id     uint32
	answer *h2Answer
	left   int64 // bytes of the answer's body to send
	window int64
}

// handleH2 answers the requests of one connection until the client leaves.
func (s *server) handleH2(conn net.Conn) {
	s.counts.accepted.Add(1)
	c := &h2Conn{
		server: s, conn: conn, in: frameReader{conn: conn, buf: make([]byte, 4*kib)},
		maxFrame: defaultMaxFrame, window: defaultWindow, firstWindow: defaultWindow,
		streams: map[uint32]*h2Stream{},
	}
	c.decoder = hpack.NewDecoder(4*kib, func(f hpack.HeaderField) {
		if f.Name == ":path" {
			c.path = f.Value
		}
	})
	c.out = appendSettings(c.out,
		setting{settingMaxStreams, h2MaxStreams}, setting{settingInitialWindow, largestWindow})
	c.out = appendWindowUpdate(c.out, 0, largestWindow-defaultWindow)

	greeting := make([]byte, len(preface))
	if _, err := io.ReadFull(conn, greeting); err != nil || string(greeting) != preface {
		return
	}
	handle := c.handle
	for c.turn(handle) == nil && c.in.fill() == nil {
	}
}

// turn handles the frames that are there and writes what they lead to.
func (c *h2Conn) turn(handle func(frame) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.in.each(handle); err != nil {
		// Not that the client has left: it asks for what this server lacks.
		fmt.Fprintln(os.Stderr, "server: HTTP/2:", err)
		return err
	}
	if c.received >= h2Refund {
		c.out = appendWindowUpdate(c.out, 0, c.received)
		c.received = 0
	}
	if err := c.sendBodies(); err != nil {
		return err
	}
	return c.flush()
}

func (c *h2Conn) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	return err
}

func (c *h2Conn) handle(f frame) error {
	switch f.kind {
	case frameHeaders:
		return c.request(f)
	case frameData:
		n := int64(len(f.payload))
		c.received += n
		c.server.counts.bodyBytes.Add(n)
		if s := c.streams[f.stream]; s != nil && f.endsStream() {
			c.answer(s)
		}
	case frameReset:
		if s := c.streams[f.stream]; s != nil {
			s.left = 0
			c.sending = slices.DeleteFunc(c.sending, (*h2Stream).done)
			delete(c.streams, f.stream)
		}
	case frameSettings:
		c.apply(f)
		c.out = f.appendReply(c.out)
	case framePing:
		c.out = f.appendReply(c.out)
	case frameWindowUpdate:
		more := int64(binary.BigEndian.Uint32(f.payload))
		if f.stream == 0 {
			c.window += more
		} else if s := c.streams[f.stream]; s != nil {
			s.window += more
		}
	}
	return nil
}

// apply takes over what a SETTINGS frame says.
func (c *h2Conn) apply(f frame) {
	for _, s := range f.settings() {
		switch s.id {
		case settingInitialWindow:
			more := int64(s.value) - c.firstWindow
			c.firstWindow += more
			for _, stream := range c.streams {
				stream.window += more
			}
		case settingMaxFrame:
			c.maxFrame = min(int64(s.value), h2MaxFrame)
		}
	}
}

// request takes a request's header fields, and answers if that is all of it.
func (c *h2Conn) request(f frame) error {
	block := f.payload
	if f.flags&flagPriority != 0 && len(block) >= 5 {
		block = block[5:]
	}
	if _, err := c.decoder.Write(block); err != nil {
		return err
	}
	if err := c.decoder.Close(); err != nil {
		return err
	}
	a, ok := c.server.h2Answers[c.path]
	if !ok {
		return fmt.Errorf("no answer for %s", c.path)
	}
	s := &h2Stream{f.stream, a, a.length, c.firstWindow}
	if f.endsStream() {
		c.answer(s)
	} else {
		c.streams[f.stream] = s
	}
	return nil
}

// answer begins a stream's answer, and if it is small ends it.
func (c *h2Conn) answer(s *h2Stream) {
	c.out = appendFrameHeader(c.out, frameHeaders, flagEndHeaders, s.id, len(s.answer.block))
	c.out = append(c.out, s.answer.block...)
	switch {
	case s.answer.held:
		c.data(s, int64(len(s.answer.piece)))
		// Taken before the client can know of this answer, and ask for its release.
		released := c.server.released()
		go c.finishHeld(s, released)
	case s.left <= min(s.window, c.window, c.maxFrame):
		c.data(s, s.left)
	default:
		c.streams[s.id] = s
		c.sending = append(c.sending, s)
		return
	}
	delete(c.streams, s.id)
}

// finishHeld sends the rest of an answer once it is released.
func (c *h2Conn) finishHeld(s *h2Stream, released <-chan struct{}) {
	<-released
	c.mu.Lock()
	defer c.mu.Unlock()
	c.data(s, s.left)
	c.flush() // a client that has left is noticed by the reader
}

// done tells whether all of the answer is sent.
func (s *h2Stream) done() bool { return s.left == 0 }

// sendBodies sends what the client's windows allow, a frame of each stream in
// turn.
func (c *h2Conn) sendBodies() error {
	for moved := true; moved && len(c.sending) > 0; {
		moved = false
		for _, s := range c.sending {
			n := min(s.left, s.window, c.window, c.maxFrame)
			if n <= 0 {
				continue
			}
			moved = true
			c.data(s, n)
			if s.done() {
				delete(c.streams, s.id)
			}
			if len(c.out) < h2WriteSize {
				continue
			}
			if err := c.flush(); err != nil {
				return err
			}
		}
		c.sending = slices.DeleteFunc(c.sending, (*h2Stream).done)
	}
	return nil
}

// data appends the next n bytes of a stream's answer in a frame.
func (c *h2Conn) data(s *h2Stream, n int64) {
	at := s.answer.length - s.left
	s.left -= n
	s.window -= n
	c.window -= n
	var flags byte
	if s.done() {
		flags = flagEndStream
	}
	c.out = appendFrameHeader(c.out, frameData, flags, s.id, int(n))
	for n > 0 {
		rest := s.answer.piece[at%int64(len(s.answer.piece)):]
		rest = rest[:min(n, int64(len(rest)))]
		c.out = append(c.out, rest...)
		n -= int64(len(rest))
		at += int64(len(rest))
	}
}
