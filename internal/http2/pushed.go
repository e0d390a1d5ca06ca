package http2

import (
	"net/http"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/http2/hpack"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// pushes are the pushed streams of a connection whose client wants them. They
// belong to whoever has the reading turn.
type pushes struct {
	handler PushHandler
	open    map[uint32]*pushed
	highest uint32 // that was promised; guarded by Conn.mu
}

// pushed is one stream that the server has promised.
type pushed struct {
	recv      window
	responded bool
	noBody    bool
	declared  int64
	arrived   int64
}

func newPushes(h PushHandler) *pushes { return &pushes{handler: h, open: map[uint32]*pushed{}} }

// last is the last stream of the peer's that we have taken.
func (p *pushes) last() uint32 {
	if p == nil {
		return 0
	}
	return p.highest
}

// takePromise takes in a PUSH_PROMISE (RFC 9113, 6.6 and 8.4.1).
func (c *Conn) takePromise(o blockOf, encoded []byte) error {
	b := getBlock()
	defer putBlock(b)
	c.decoder.MaxListSize = httpsem.DefaultMaxHead
	err := c.decoder.Decode(b, encoded)
	if err != nil && err != hpack.ErrHeaderListTooLarge {
		return err
	}
	c.mu.Lock()
	parent := c.streams[o.id]
	refuse := c.judgePromiseLocked(o, parent)
	c.mu.Unlock()
	if refuse != nil {
		return refuse
	}
	if c.pushes == nil || parent == nil {
		return c.dropPush(o.promised, frame.Cancel) // it was on the way when we said that we want none
	}
	if len(c.pushes.open) >= maxPushes {
		return c.dropPush(o.promised, frame.RefusedStream)
	}
	if err != nil {
		return c.dropPush(o.promised, frame.Cancel)
	}
	r, ok := readPromise(b)
	if !ok || r.origin != *parent.asked {
		return c.dropPush(o.promised, frame.ProtocolError)
	}
	p := &pushed{declared: -1, noBody: r.method == http.MethodHead}
	p.recv.open(streamWindow)
	c.pushes.open[o.promised] = p
	if !c.pushes.handler.Promised(o.promised, r.method, r.scheme+"://"+r.authority+r.path, hpack.Header(b.Fields)) {
		return c.dropPush(o.promised, frame.Cancel)
	}
	return nil
}

// judgePromiseLocked says why a promise ends the connection.
func (c *Conn) judgePromiseLocked(o blockOf, parent *Stream) error {
	switch {
	case c.idleLocked(o.id), o.id%2 == 0:
		return connFault(frame.ProtocolError, "PUSH_PROMISE on a stream that is not a request")
	case c.pushes == nil && c.settingsAcked:
		return connFault(frame.ProtocolError, "PUSH_PROMISE though pushes are refused")
	case parent == nil && !c.forgotten.has(o.id), parent != nil && parent.ended:
		return connFault(frame.ProtocolError, "PUSH_PROMISE on a stream that is over")
	case o.promised <= c.promised:
		return connFault(frame.ProtocolError, "a stream is promised twice")
	}
	c.promised = o.promised
	if c.pushes != nil {
		c.pushes.highest = o.promised
	}
	return nil
}

// promise is the request that a server says it was sent.
type promise struct {
	method, path string
	origin
}

// origin is what a pushed response must share with the request that it belongs
// to.
type origin struct{ scheme, authority string }

// readPromise reads the pseudo-headers of a promised request, which must be one
// that changes nothing and has no body (RFC 9113, 8.4).
func readPromise(b *hpack.Block) (p promise, ok bool) {
	regular := false
	for i := range b.Fields {
		f := &b.Fields[i]
		if f.Flaws&(hpack.NameBytes|hpack.NameCase|hpack.ValueBytes) != 0 {
			return p, false
		}
		if !f.IsPseudo() {
			regular = true
			if f.Name == "Content-Length" && f.Value != "0" {
				return p, false
			}
			continue
		}
		var part *string
		switch f.Name {
		case ":method":
			part = &p.method
		case ":scheme":
			part = &p.scheme
		case ":authority":
			part = &p.authority
		case ":path":
			part = &p.path
		}
		if part == nil || *part != "" || regular {
			return p, false
		}
		*part = f.Value
	}
	safe := p.method == http.MethodGet || p.method == http.MethodHead
	return p, safe && p.scheme != "" && p.authority != "" && len(p.path) > 0 && p.path[0] == '/'
}

// dropPush resets a pushed stream.
func (c *Conn) dropPush(id uint32, code frame.ErrCode) error {
	if c.pushes != nil {
		delete(c.pushes.open, id)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.answerLocked(); err != nil {
		return err
	}
	c.resetLocked(id, code)
	return c.spend()
}

// pushedStream returns a pushed stream, nil if it is over or was refused. One that
// was never promised is an offence. data is how long its DATA frame is, 0 for
// another frame.
func (c *Conn) pushedStream(id, data uint32) (*pushed, error) {
	if c.pushes != nil {
		if p := c.pushes.open[id]; p != nil {
			return p, nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if id > c.pushes.last() && !c.forgotten.has(id) {
		return nil, connFault(frame.ProtocolError, "a frame on a stream that was not promised")
	}
	if data >= fairFrame {
		return nil, nil
	}
	return nil, c.spend()
}

// takePushedHeaders takes in the head or the trailers of a pushed response.
func (c *Conn) takePushedHeaders(o blockOf, encoded []byte) error {
	b := getBlock()
	defer putBlock(b)
	c.decoder.MaxListSize = httpsem.DefaultMaxHead
	err := c.decoder.Decode(b, encoded)
	if err != nil && err != hpack.ErrHeaderListTooLarge {
		return err
	}
	p, fault := c.pushedStream(o.id, 0)
	if p == nil {
		return fault
	}
	if err != nil {
		return c.breakPush(o.id, frame.Cancel)
	}
	m := readMessage(b)
	switch {
	case m.fault != nil, p.responded != (m.status == 0), p.responded && !o.end, m.status == http.StatusSwitchingProtocols:
		return c.breakPush(o.id, frame.ProtocolError)
	case m.status >= 200:
		p.responded = true
		p.declared = m.declared
		p.noBody = p.noBody || m.status == http.StatusNoContent || m.status == http.StatusNotModified
	}
	if o.end && !p.whole() {
		return c.breakPush(o.id, frame.ProtocolError)
	}
	goOn := c.pushes.handler.Headers(o.id, m.status, hpack.Header(b.Fields), o.end)
	return c.nextPush(o.id, goOn, o.end)
}

// whole reports whether the response may end now.
func (p *pushed) whole() bool {
	return p.responded && (p.noBody || p.declared < 0 || p.arrived == p.declared)
}

// breakPush resets a pushed stream and tells its handler.
func (c *Conn) breakPush(id uint32, code frame.ErrCode) error {
	c.pushes.handler.Reset(id, streamError(code, false))
	return c.dropPush(id, code)
}

// nextPush does what a handler's answer asks for.
func (c *Conn) nextPush(id uint32, goOn, end bool) error {
	switch {
	case end:
		delete(c.pushes.open, id)
	case !goOn:
		return c.dropPush(id, frame.Cancel)
	}
	return nil
}

// announcePushed counts a DATA frame of a pushed stream. Its handler takes all of
// it at once, so its room is free again.
func (c *Conn) announcePushed(h frame.Header, d incoming) error {
	c.mu.Lock()
	if !c.recv.take(int64(h.Length)) {
		c.mu.Unlock()
		return connFault(frame.FlowControlError, "more DATA than the connection's window allows")
	}
	c.recv.give(int64(h.Length))
	c.creditLocked()
	c.mu.Unlock()
	p, err := c.pushedStream(h.StreamID, h.Length)
	if p == nil {
		return err
	}
	if h.Length == 0 {
		if err := c.spend(); err != nil {
			return err
		}
	}
	p.arrived += int64(d.left)
	switch {
	case !p.responded, p.noBody && d.left > 0, p.declared >= 0 && p.arrived > p.declared:
		return c.breakPush(h.StreamID, frame.ProtocolError)
	case !p.recv.take(int64(h.Length)):
		return c.breakPush(h.StreamID, frame.FlowControlError)
	}
	p.recv.give(int64(h.Length))
	c.mu.Lock()
	if n := p.recv.due(c.live.heard, 0); n > 0 && !h.Flags.Has(frame.EndStream) {
		out := c.outLocked()
		*out = frame.AppendWindowUpdate(*out, h.StreamID, uint32(n))
	}
	c.mu.Unlock()
	if d.left == 0 && d.padding == 0 && h.Flags.Has(frame.EndStream) {
		return c.endPush(h.StreamID, p, nil)
	}
	return nil
}

// takePushedData hands on bytes of a pushed body.
func (c *Conn) takePushedData(d *incoming, b []byte) error {
	id := d.header.StreamID
	if c.pushes == nil {
		return nil
	}
	p := c.pushes.open[id]
	if p == nil {
		return nil
	}
	if d.left == 0 && d.padding == 0 && d.header.Flags.Has(frame.EndStream) {
		return c.endPush(id, p, b)
	}
	if len(b) == 0 {
		return nil
	}
	return c.nextPush(id, c.pushes.handler.Data(id, b, false), false)
}

// endPush hands on the last bytes.
func (c *Conn) endPush(id uint32, p *pushed, b []byte) error {
	if !p.whole() {
		return c.breakPush(id, frame.ProtocolError)
	}
	return c.nextPush(id, c.pushes.handler.Data(id, b, true), true)
}

// takePushedReset ends a pushed stream for the server.
func (c *Conn) takePushedReset(id uint32, code frame.ErrCode) error {
	p, err := c.pushedStream(id, 0)
	if p == nil {
		return err
	}
	delete(c.pushes.open, id)
	c.pushes.handler.Reset(id, streamError(code, true))
	return c.spend()
}
