package http2

import (
	"errors"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/http2/hpack"
)

// incoming is a DATA frame that is taken in as its bytes arrive. It belongs to
// whoever has the reading turn.
type incoming struct {
	header  frame.Header
	left    int // bytes of data to come
	padding int // and of padding after them
}

// parse takes in all that has been read, as far as it is whole. An error ends the
// connection.
func (c *Conn) parse() error {
	c.mu.Lock()
	c.heardLocked()
	c.mu.Unlock()
	for {
		b := c.in.pending()
		if c.data.left > 0 || c.data.padding > 0 {
			if len(b) == 0 {
				return nil
			}
			n, err := c.takeData(b)
			c.in.r += n
			if err != nil {
				return err
			}
			continue
		}
		if len(b) < frame.HeaderLen {
			c.in.whole = frame.HeaderLen
			return nil
		}
		h := frame.ParseHeader([frame.HeaderLen]byte(b))
		if err := h.Check(maxFrame); err != nil && !ofStream(err) {
			return err
		}
		if h.Type == frame.Data {
			n, err := c.beginData(h, b[frame.HeaderLen:])
			if err != nil {
				return err
			}
			if n < 0 { // its padding's length has not come
				c.in.whole = frame.HeaderLen + 1
				return nil
			}
			c.in.r += frame.HeaderLen + n
			continue
		}
		if c.in.whole = frame.HeaderLen + int(h.Length); len(b) < c.in.whole {
			return nil
		}
		payload := b[frame.HeaderLen:c.in.whole]
		c.in.r += c.in.whole
		c.in.whole = 0
		if err := c.takeFrame(h, payload); err != nil {
			return err
		}
	}
}

// ofStream reports whether an error of the frame layer concerns one stream only.
func ofStream(err error) bool {
	var e *frame.Error
	return errors.As(err, &e) && e.StreamID != 0
}

var errNoGreeting = connFault(frame.ProtocolError, "the peer does not begin with SETTINGS")

// takeFrame takes in a frame other than DATA.
func (c *Conn) takeFrame(h frame.Header, payload []byte) error {
	if !c.greeted && (h.Type != frame.Settings || h.Flags.Has(frame.Ack)) {
		return errNoGreeting
	}
	if err := c.blocks.Next(h); err != nil {
		return err
	}
	switch h.Type {
	case frame.Headers:
		f, err := frame.ParseHeaders(h, payload)
		if err != nil {
			return err
		}
		c.open = blockOf{id: h.StreamID, end: h.Flags.Has(frame.EndStream)}
		return c.takeFragment(h, f.Fragment)
	case frame.PushPromise:
		f, err := frame.ParsePushPromise(h, payload)
		if err != nil {
			return err
		}
		c.open = blockOf{id: h.StreamID, promised: f.PromisedID}
		return c.takeFragment(h, f.Fragment)
	case frame.Continuation:
		return c.takeFragment(h, payload)
	case frame.Settings:
		return c.takeSettings(h, payload)
	case frame.Ping:
		return c.takePing(h, payload)
	case frame.GoAway:
		return c.takeGoAway(h, payload)
	case frame.WindowUpdate:
		return c.takeWindowUpdate(h, payload)
	case frame.RSTStream:
		return c.takeReset(h, payload)
	case frame.Priority:
		return c.takePriority(h)
	default:
		return c.spend()
	}
}

// takePriority ignores a frame that RFC 9113 took out, but for its form.
func (c *Conn) takePriority(h frame.Header) error {
	if h.Length == 5 {
		return c.spend()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offenceLocked(h.StreamID, frame.FrameSizeError, "PRIORITY is not of 5 bytes")
}

// spend counts a frame that achieves nothing. An idle peer may send a few, and in
// the long run many.
func (c *Conn) spend() error {
	if c.calm--; c.calm > 0 {
		return nil
	}
	now := c.now()
	if now-c.calmAt < int64(calmTime) {
		return connFault(frame.EnhanceYourCalm, "the peer sends too many frames that achieve nothing")
	}
	c.calm, c.calmAt = calmBudget, now
	return nil
}

// blockOf says whose header block is being read.
type blockOf struct {
	id       uint32
	end      bool
	promised uint32 // of a PUSH_PROMISE
}

// takeFragment takes in a part of a header block.
func (c *Conn) takeFragment(h frame.Header, fragment []byte) error {
	block, complete := c.blocks.Join(h, fragment)
	if !complete {
		return nil
	}
	if c.open.promised != 0 {
		return c.takePromise(c.open, block)
	}
	if c.open.id%2 == 0 {
		return c.takePushedHeaders(c.open, block)
	}
	return c.takeHeaders(c.open, block)
}

// idleLocked reports whether a stream has not begun yet: one of ours, or one that
// the peer has not promised.
func (c *Conn) idleLocked(id uint32) bool {
	if id%2 == 1 {
		return id >= c.nextID
	}
	return id > c.promised
}

// takeHeaders takes in a response's head or trailers.
func (c *Conn) takeHeaders(o blockOf, encoded []byte) error {
	c.mu.Lock()
	if c.idleLocked(o.id) {
		c.mu.Unlock()
		return connFault(frame.ProtocolError, "HEADERS on a stream that has not begun")
	}
	limit := int64(0)
	s := c.streams[o.id]
	if s != nil {
		limit = s.headSpare
	}
	c.mu.Unlock()

	b := getBlock()
	c.decoder.MaxListSize = uint32(min(max(limit, 1), 1<<31-1))
	err := c.decoder.Decode(b, encoded)
	if err != nil && err != hpack.ErrHeaderListTooLarge {
		putBlock(b)
		return err
	}
	var m message
	if s != nil && err == nil {
		m = readMessage(b)
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case s == nil || !s.open: // canceled meanwhile, or before
		putBlock(b)
		return c.strayLocked(o.id, "HEADERS")
	case err != nil:
		putBlock(b)
		s.refuseLocked(frame.Cancel, tooLarge(s))
		return nil
	}
	for i := range b.Fields {
		s.headSpare -= int64(b.Fields[i].Size())
	}
	s.headersLocked(m, o.end)
	return nil
}

// strayLocked judges a frame on a stream that is over. One that we have reset may
// still get some; one that the peer has ended may not (RFC 9113, 5.1).
func (c *Conn) strayLocked(id uint32, what string) error {
	if c.forgotten.has(id) {
		return c.spend()
	}
	return c.offenceLocked(id, frame.StreamClosed, what+" on a stream that is over")
}

// offenceLocked resets a stream on which the peer has done what it must not. Each
// takes an answer, so their number is bounded.
func (c *Conn) offenceLocked(id uint32, code frame.ErrCode, reason string) error {
	if c.idleLocked(id) {
		return connFault(code, reason)
	}
	if s := c.streams[id]; s != nil {
		s.refuseLocked(code, malformed(reason))
		return c.spend()
	}
	if _, err := c.answerLocked(); err != nil {
		return err
	}
	c.resetLocked(id, code)
	return c.spend()
}

// refuseLocked resets the stream because of what the peer has sent on it.
func (s *Stream) refuseLocked(code frame.ErrCode, err error) {
	s.giveUpLocked(code, err)
	s.conn.notifyLocked(&s.receive)
	s.conn.notifyLocked(&s.send)
}

// notifyLocked notes who is to be woken once all that was read is taken in. Only
// for whoever has the reading turn.
func (c *Conn) notifyLocked(h *half) {
	if h.waits {
		c.toWake = append(c.toWake, h)
	}
}

// beginData takes in the header of a DATA frame, and the length of its padding.
// It returns how many bytes of the payload it has used, or -1 if one is missing.
func (c *Conn) beginData(h frame.Header, payload []byte) (int, error) {
	if !c.greeted {
		return 0, errNoGreeting
	}
	used := 0
	d := incoming{header: h, left: int(h.Length)}
	if h.Flags.Has(frame.Padded) {
		if len(payload) == 0 {
			return -1, nil
		}
		n, err := frame.DataLen(h, payload[0])
		if err != nil {
			return 0, err
		}
		used = 1
		d.padding = int(payload[0])
		d.left = n
	}
	if err := c.blocks.Next(h); err != nil {
		return 0, err
	}
	c.in.whole = 0
	c.data = d
	return used, c.announceData(h, d)
}

// announceData counts a DATA frame for flow control. What nobody is going to read
// is free again at once.
func (c *Conn) announceData(h frame.Header, d incoming) error {
	if h.StreamID%2 == 0 {
		return c.announcePushed(h, d)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idleLocked(h.StreamID) {
		return connFault(frame.ProtocolError, "DATA on a stream that has not begun")
	}
	if !c.recv.take(int64(h.Length)) {
		return connFault(frame.FlowControlError, "more DATA than the connection's window allows")
	}
	c.recv.give(int64(h.Length))
	c.creditLocked()
	if h.Length == 0 || d.left == 0 && !h.Flags.Has(frame.EndStream) {
		if err := c.spend(); err != nil {
			return err
		}
	}
	s := c.streams[h.StreamID]
	switch {
	case s != nil:
		return s.dataLocked(h, d)
	case h.Length >= fairFrame && c.forgotten.has(h.StreamID):
		return nil // a window's worth of it may have been on the way
	}
	return c.strayLocked(h.StreamID, "DATA")
}

// creditLocked opens the connection's window again when that is due.
func (c *Conn) creditLocked() {
	if n := c.recv.due(c.live.heard, c.rtt); n > 0 {
		out := c.outLocked()
		*out = frame.AppendWindowUpdate(*out, 0, uint32(n))
	}
}

// takeData takes in what has arrived of the DATA frame in progress.
func (c *Conn) takeData(b []byte) (int, error) {
	d := &c.data
	n := min(len(b), d.left)
	d.left -= n
	skipped := 0
	if d.left == 0 {
		skipped = min(len(b)-n, d.padding)
		d.padding -= skipped
	}
	if d.header.StreamID%2 == 0 {
		return n + skipped, c.takePushedData(d, b[:n])
	}
	c.mu.Lock()
	if s := c.streams[d.header.StreamID]; s != nil && n > 0 {
		s.deliverLocked(b[:n], d.left)
	}
	if d.left == 0 && d.padding == 0 && d.header.Flags.Has(frame.EndStream) {
		if s := c.streams[d.header.StreamID]; s != nil {
			s.endLocked()
		}
	}
	c.mu.Unlock()
	return n + skipped, nil
}
