package http2

import (
	"math"
	"strconv"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// takeSettings applies the peer's settings and acknowledges them (RFC 9113, 6.5).
func (c *Conn) takeSettings(h frame.Header, payload []byte) error {
	if h.Flags.Has(frame.Ack) {
		c.mu.Lock()
		if !c.settingsAcked {
			c.settingsAcked = true
			c.rtt = c.now() - c.live.started
		}
		c.mu.Unlock()
		return c.spend()
	}
	list, err := frame.ParseSettings(h, payload)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.greeted
	c.greeted = true
	limit := -1
	for setting := range list.All() {
		switch setting.ID {
		case frame.HeaderTableSize:
			c.encoder.SetMaxTableSize(setting.Value)
		case frame.EnablePush:
			if setting.Value != 0 {
				return connFault(frame.ProtocolError, "a server cannot be pushed to")
			}
		case frame.MaxConcurrentStreams:
			limit = int(min(setting.Value, math.MaxInt32))
		case frame.InitialWindowSize:
			if err := c.resizeLocked(int64(setting.Value)); err != nil {
				return err
			}
		case frame.MaxFrameSize:
			c.peerFrame = int(setting.Value)
		case frame.MaxHeaderListSize:
			c.peerList = setting.Value
		case frame.EnableConnectProtocol:
			if c.peerConnect && setting.Value == 0 {
				return connFault(frame.ProtocolError, "extended CONNECT cannot be taken back")
			}
			c.peerConnect = setting.Value == 1
		}
	}
	if limit < 0 && first {
		limit = math.MaxInt32
	}
	if limit >= 0 {
		c.pending = append(c.pending, func() { c.config.Reports.LimitChanged(limit) })
	}
	out, err := c.answerLocked()
	if err != nil {
		return err
	}
	*out = frame.AppendSettingsAck(*out)
	return c.spend()
}

// resizeLocked changes the windows of all streams by as much as the initial one
// has changed, which may leave some below zero (RFC 9113, 6.9.2).
func (c *Conn) resizeLocked(initial int64) error {
	delta := initial - c.peerWindow
	c.peerWindow = initial
	for _, s := range c.streams {
		if s.window += delta; s.window > frame.MaxWindow {
			return connFault(frame.FlowControlError, "a setting makes a window too large")
		}
		if delta > 0 {
			c.notifyLocked(&s.send)
		}
	}
	return nil
}

// takePing answers a ping, or takes note of an answer.
func (c *Conn) takePing(h frame.Header, payload []byte) error {
	data, err := frame.ParsePing(h, payload)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.Flags.Has(frame.Ack) {
		if c.pongLocked(data) {
			return nil
		}
		return c.spend()
	}
	out, err := c.answerLocked()
	if err != nil {
		return err
	}
	*out = frame.AppendPing(*out, true, data)
	return c.spend()
}

// takeGoAway takes note that the peer begins no more streams. Those of ours that
// it has not looked at fail, and can be sent elsewhere (RFC 9113, 6.8).
func (c *Conn) takeGoAway(h frame.Header, payload []byte) error {
	f, err := frame.ParseGoAway(h, payload)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away != nil && f.LastStreamID > c.away.LastStreamID {
		return connFault(frame.ProtocolError, "GOAWAY takes streams back that the last one gave up")
	}
	c.away = &httpsem.GoAwayError{
		Code: uint32(f.Code), Name: f.Code.String(), LastStreamID: f.LastStreamID,
		Debug: printable(f.Debug),
	}
	for id, s := range c.streams {
		if id > f.LastStreamID {
			s.closeLocked()
			err := &httpsem.UnprocessedError{Err: c.away}
			s.failLocked(err, err)
			c.notifyLocked(&s.send)
			c.notifyLocked(&s.receive)
		}
	}
	c.retireLocked(c.away.Error())
	return c.spend()
}

// printable keeps what a peer says fit to be shown.
func printable(b []byte) string {
	b = b[:min(len(b), maxGoAwayText)]
	text := make([]byte, 0, len(b))
	for _, ch := range b {
		if ch < ' ' || ch > '~' {
			ch = '?'
		}
		text = append(text, ch)
	}
	return string(text)
}

// takeWindowUpdate opens a window of the peer's (RFC 9113, 6.9).
func (c *Conn) takeWindowUpdate(h frame.Header, payload []byte) error {
	n, err := frame.ParseWindowUpdate(h, payload)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if !ofStream(err) {
			return err
		}
		return c.offenceLocked(h.StreamID, frame.ProtocolError, "WINDOW_UPDATE of nothing")
	}
	if h.StreamID == 0 {
		if c.sendWindow += int64(n); c.sendWindow > frame.MaxWindow {
			return connFault(frame.FlowControlError, "the connection's window is too large")
		}
		if len(c.blocked) == 0 {
			return c.spendUpdateLocked()
		}
		for i, s := range c.blocked {
			s.listed = false
			c.notifyLocked(&s.send)
			c.blocked[i] = nil
		}
		c.blocked = c.blocked[:0]
		return nil
	}
	if c.idleLocked(h.StreamID) {
		return connFault(frame.ProtocolError, "WINDOW_UPDATE on a stream that has not begun")
	}
	s := c.streams[h.StreamID]
	if s == nil {
		return c.spendUpdateLocked() // it may have been on the way
	}
	if s.window += int64(n); s.window > frame.MaxWindow {
		s.refuseLocked(frame.FlowControlError, malformed("the stream's window is too large"))
		return nil
	}
	if s.send.waits || c.reader == &s.send {
		c.notifyLocked(&s.send)
		return nil
	}
	return c.spendUpdateLocked()
}

// spendUpdateLocked counts a WINDOW_UPDATE that nobody waited for. As many as can
// be meant for what we have sent are in order, in however small steps.
func (c *Conn) spendUpdateLocked() error {
	if c.updates > 0 {
		c.updates--
		return nil
	}
	return c.spend()
}

// takeReset ends a stream for the peer. What it has sent can still be read; after
// a whole response that is all there is to the reset (RFC 9113, 8.1).
func (c *Conn) takeReset(h frame.Header, payload []byte) error {
	code, err := frame.ParseRSTStream(h, payload)
	if err != nil {
		return err
	}
	if h.StreamID%2 == 0 {
		return c.takePushedReset(h.StreamID, code)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idleLocked(h.StreamID) {
		return connFault(frame.ProtocolError, "RST_STREAM on a stream that has not begun")
	}
	s := c.streams[h.StreamID]
	if s == nil {
		return c.spend()
	}
	s.any = s.any || code != frame.RefusedStream
	reset := streamError(code, true)
	s.closeLocked()
	err = reset
	if code == frame.RefusedStream {
		err = &httpsem.UnprocessedError{Err: reset}
	}
	if !s.ended {
		s.reset = reset
	}
	s.failLocked(err, err)
	c.notifyLocked(&s.send)
	c.notifyLocked(&s.receive)
	return nil
}

// String describes the connection for tests and logs.
func (c *Conn) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return "HTTP/2, " + strconv.Itoa(len(c.streams)) + " streams open"
}
