package mockwebserver

import (
	"errors"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/http2/hpack"
)

// read takes frames until the connection ends, and returns why. An error of a
// stream ends that stream only.
func (h *h2Conn) read() error {
	for first := true; ; first = false {
		hd, payload, err := h.frames.ReadFrame()
		if err == nil && first && (hd.Type != frame.Settings || hd.Flags.Has(frame.Ack)) {
			err = connectionError(frame.ProtocolError, "the first frame is "+hd.Type.String()+", not SETTINGS")
		}
		if err == nil {
			err = h.take(hd, payload)
		}
		var broken *frame.Error
		switch {
		case err == nil:
		case errors.As(err, &broken) && broken.StreamID != 0:
			if err := h.resetByRule(broken); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// take acts on one frame.
func (h *h2Conn) take(hd frame.Header, payload []byte) error {
	useless := hd.Type != frame.Headers && (hd.Type != frame.Data || hd.Length == 0)
	if useless {
		if err := h.flood.useless(); err != nil {
			return err
		}
	} else {
		h.flood.useful()
	}
	switch hd.Type {
	case frame.Data:
		return h.takeData(hd, payload)
	case frame.Headers:
		f, err := frame.ParseHeaders(hd, payload)
		if err != nil {
			return err
		}
		h.opening = hd
		return h.takeFragment(hd, f.Fragment)
	case frame.Continuation:
		return h.takeFragment(hd, payload)
	case frame.RSTStream:
		return h.takeReset(hd, payload)
	case frame.Settings:
		return h.takeSettings(hd, payload)
	case frame.Ping:
		return h.takePing(hd, payload)
	case frame.WindowUpdate:
		return h.takeWindowUpdate(hd, payload)
	case frame.PushPromise:
		return connectionError(frame.ProtocolError, "a client cannot push")
	case frame.GoAway:
		_, err := frame.ParseGoAway(hd, payload)
		return err // the client begins no more streams, and closes the connection when it likes
	case frame.Priority:
		return nil
	}
	return nil // unknown: ignored (RFC 9113, 4.1)
}

// resetByRule ends a stream whose client broke the rules.
func (h *h2Conn) resetByRule(broken *frame.Error) error {
	h.mu.Lock()
	if s := h.streams[broken.StreamID]; s != nil {
		s.failLocked(&BadRequestError{Reason: broken.Reason})
		s.sent = true
	}
	h.mu.Unlock()
	return h.answer(func(dst []byte) []byte { return frame.AppendRSTStream(dst, broken.StreamID, broken.Code) })
}

// known finds the stream of a frame that needs one. It returns nil for a stream
// that the server is done with, or ignores.
func (h *h2Conn) knownLocked(hd frame.Header) (*h2Stream, error) {
	id := hd.StreamID
	if s := h.streams[id]; s != nil {
		return s, nil
	}
	if id%2 == 1 && id > h.last || id%2 == 0 && id > h.promised {
		return nil, connectionError(frame.ProtocolError, hd.Type.String()+" on an idle stream")
	}
	return nil, nil
}

func (h *h2Conn) takeData(hd frame.Header, payload []byte) error {
	f, err := frame.ParseData(hd, payload)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.knownLocked(hd)
	if err != nil {
		return err
	}
	size := int64(hd.Length)
	if size > h.recvWindow {
		return connectionError(frame.FlowControlError, "DATA beyond the window of the connection")
	}
	h.recvWindow -= size
	h.owed += size // at once, so that no stream can stall the others
	h.grantLocked()
	if s == nil {
		if reset, closed := h.closed.reset[hd.StreamID]; closed && !reset {
			return connectionError(frame.StreamClosed, "DATA on a closed stream")
		}
		return nil
	}
	return s.receiveLocked(hd, f)
}

func (h *h2Conn) takeFragment(hd frame.Header, fragment []byte) error {
	block, complete := h.frames.Blocks.Join(hd, fragment)
	if !complete {
		return nil
	}
	err := h.decoder.Decode(&h.fields, block)
	tooLarge := errors.Is(err, hpack.ErrHeaderListTooLarge)
	if err != nil && !tooLarge {
		return connectionError(frame.CompressionError, err.Error())
	}
	return h.takeHeaders(h.opening.StreamID, h.opening.Flags.Has(frame.EndStream), tooLarge)
}

// takeHeaders acts on a whole header block: the head of a request, or its
// trailer.
func (h *h2Conn) takeHeaders(id uint32, end, tooLarge bool) error {
	h.mu.Lock()
	s, last, ignored := h.streams[id], h.last, id > h.goneAbove
	reset, closed := h.closed.reset[id]
	if s != nil && s.bodyEnd == nil {
		defer h.mu.Unlock()
		return s.trailLocked(h.fields.Fields, end, tooLarge)
	}
	h.mu.Unlock()
	switch {
	case s != nil:
		return streamError(frame.StreamClosed, id, "HEADERS after the end of the request")
	case closed && reset:
		return nil
	case closed:
		return connectionError(frame.StreamClosed, "HEADERS on a closed stream")
	case id%2 == 0 || id <= last:
		return connectionError(frame.ProtocolError, "HEADERS on a stream that cannot begin")
	}
	h.mu.Lock()
	h.last = id
	h.mu.Unlock()
	if ignored {
		return nil
	}
	return h.begin(id, end, tooLarge)
}

func (h *h2Conn) takeReset(hd frame.Header, payload []byte) error {
	code, err := frame.ParseRSTStream(hd, payload)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.knownLocked(hd)
	if s != nil {
		s.sent = true // nothing more is
		s.failLocked(&HTTP2Error{Code: ErrorCode(code), StreamID: hd.StreamID, Remote: true})
	}
	return err
}

func (h *h2Conn) takePing(hd frame.Header, payload []byte) error {
	data, err := frame.ParsePing(hd, payload)
	if err != nil || hd.Flags.Has(frame.Ack) {
		return err
	}
	return h.answer(func(dst []byte) []byte { return frame.AppendPing(dst, true, data) })
}

func (h *h2Conn) takeWindowUpdate(hd frame.Header, payload []byte) error {
	n, err := frame.ParseWindowUpdate(hd, payload)
	h.mu.Lock()
	defer h.mu.Unlock()
	if hd.StreamID == 0 {
		if err != nil {
			return err
		}
		h.sendWindow += int64(n)
		if h.sendWindow > frame.MaxWindow {
			return connectionError(frame.FlowControlError, "WINDOW_UPDATE makes the window of the connection too large")
		}
		h.wakeAllLocked()
		return nil
	}
	s, idle := h.knownLocked(hd)
	if idle != nil {
		return idle
	}
	if err != nil || s == nil {
		return err
	}
	s.sendWindow += int64(n)
	if s.sendWindow > frame.MaxWindow {
		return streamError(frame.FlowControlError, s.id, "WINDOW_UPDATE makes the window of the stream too large")
	}
	wake(s.writable)
	return nil
}

// takeSettings applies the client's settings and acknowledges them, or applies
// the server's own, if it is their acknowledgement.
func (h *h2Conn) takeSettings(hd frame.Header, payload []byte) error {
	if hd.Flags.Has(frame.Ack) {
		return h.applyOwn()
	}
	list, err := frame.ParseSettings(hd, payload)
	if err != nil {
		return err
	}
	h.mu.Lock()
	for s := range list.All() {
		if err = h.applyLocked(s); err != nil {
			break
		}
	}
	h.mu.Unlock()
	if err != nil {
		return err
	}
	return h.answer(frame.AppendSettingsAck)
}

// applyLocked takes one of the client's settings.
func (h *h2Conn) applyLocked(s frame.Setting) error {
	switch s.ID {
	case frame.HeaderTableSize:
		h.out.encoder.SetMaxTableSize(s.Value)
	case frame.EnablePush:
		h.peer.push = s.Value == 1
	case frame.MaxConcurrentStreams:
		h.peer.maxStreams = s.Value
	case frame.MaxFrameSize:
		h.peer.maxFrame = s.Value
	case frame.InitialWindowSize:
		change := int64(s.Value) - h.peer.window
		h.peer.window = int64(s.Value)
		for _, st := range h.streams {
			if st.sendWindow += change; st.sendWindow > frame.MaxWindow {
				return connectionError(frame.FlowControlError, "SETTINGS make the window of a stream too large")
			}
		}
		h.wakeAllLocked()
	case frame.MaxHeaderListSize, frame.EnableConnectProtocol, frame.NoRFC7540Priorities:
		// The first is advice, which a script may disregard; the others are a server's to send.
	}
	return nil
}

// applyOwn takes the client's acknowledgement of the oldest settings.
func (h *h2Conn) applyOwn() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.unacked) == 0 {
		return connectionError(frame.ProtocolError, "acknowledges SETTINGS that were not sent")
	}
	settings := h.unacked[0]
	h.unacked = h.unacked[1:]
	for _, s := range settings {
		switch s.ID {
		case SettingHeaderTableSize:
			h.decoder.SetMaxTableSize(s.Value)
		case SettingMaxFrameSize:
			h.frames.MaxFrameSize = max(frame.MinMaxFrameSize, s.Value)
		case SettingEnableConnectProtocol:
			h.own.extendedConnect = s.Value == 1
		case SettingInitialWindowSize:
			change := int64(s.Value) - h.own.window
			h.own.window = int64(s.Value)
			for _, st := range h.streams {
				st.recvWindow += change
			}
		case SettingMaxConcurrentStreams, SettingMaxHeaderListSize, SettingEnablePush, SettingNoRFC7540Priorities:
			// The first holds since it was sent, the second is advice (WithHeadLimit is the
			// limit), the others ask nothing of the client.
		}
	}
	return nil
}
