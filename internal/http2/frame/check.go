package frame

// Check refuses a frame for what its header says already: a payload above
// maxFrameSize (the SETTINGS_MAX_FRAME_SIZE that we announced, or
// [MinMaxFrameSize]), a length that its type cannot have, or a stream where the
// type wants the connection and the reverse. Frames of unknown type pass unless
// they are too large. Errors are of type [*Error].
//
// One error is of a stream only: PRIORITY with a wrong length (RFC 9113, 6.3).
// Its payload, and that of a frame of unknown type, is to be skipped.
func (h Header) Check(maxFrameSize uint32) error {
	if h.Length > maxFrameSize {
		return connError(FrameSizeError, h, "is larger than allowed")
	}
	switch h.Type {
	case Data, Headers, Priority, RSTStream, PushPromise, Continuation:
		if h.StreamID == 0 {
			return connError(ProtocolError, h, "without a stream")
		}
	case Settings, Ping, GoAway:
		if h.StreamID != 0 {
			return connError(ProtocolError, h, "on a stream")
		}
	case WindowUpdate:
		// Both the connection and streams have a window.
	}
	switch h.Type {
	case Priority:
		if h.Length != 5 {
			return streamError(FrameSizeError, h, "is not of 5 bytes")
		}
	case RSTStream, WindowUpdate:
		if h.Length != 4 {
			return connError(FrameSizeError, h, "is not of 4 bytes")
		}
	case Settings:
		if h.Flags.Has(Ack) && h.Length != 0 {
			return connError(FrameSizeError, h, "is an acknowledgement with content")
		}
		if h.Length%settingLen != 0 {
			return connError(FrameSizeError, h, "is not of a multiple of 6 bytes")
		}
	case Ping:
		if h.Length != 8 {
			return connError(FrameSizeError, h, "is not of 8 bytes")
		}
	case GoAway:
		if h.Length < 8 {
			return connError(FrameSizeError, h, "is of less than 8 bytes")
		}
	case Data, Headers, PushPromise:
		if h.Length < h.fields() {
			return errShort(h)
		}
	case Continuation:
		// Any length will do.
	}
	return nil
}

// fields is the length of what comes before the content: that of the padding,
// the priority, the promised stream.
func (h Header) fields() (n uint32) {
	if h.Flags.Has(Padded) {
		n++
	}
	switch {
	case h.Type == Headers && h.Flags.Has(HasPriority):
		n += 5
	case h.Type == PushPromise:
		n += 4
	}
	return n
}
