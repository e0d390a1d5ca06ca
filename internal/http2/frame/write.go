package frame

import "encoding/binary"

// The writers below append a frame and check nothing, so that a test can send
// what a peer must not. Only the lowest 24 bits of a length are sent, and the
// lowest 31 of a stream. Where a function takes the peer's SETTINGS_MAX_FRAME_SIZE,
// 0 is [MinMaxFrameSize].

// AppendHeader appends a frame's header alone: its payload of h.Length bytes is
// the caller's to append.
func AppendHeader(dst []byte, h Header) []byte {
	return append(dst,
		byte(h.Length>>16), byte(h.Length>>8), byte(h.Length),
		byte(h.Type), byte(h.Flags),
		byte(h.StreamID>>24)&0x7f, byte(h.StreamID>>16), byte(h.StreamID>>8), byte(h.StreamID))
}

// AppendFrame appends any frame. Its length is that of the payload.
func AppendFrame(dst []byte, t Type, flags Flags, streamID uint32, payload []byte) []byte {
	dst = AppendHeader(dst, Header{uint32(len(payload)), t, flags, streamID})
	return append(dst, payload...)
}

// AppendData appends a DATA frame. It does not split: see that data is no longer
// than the peer's SETTINGS_MAX_FRAME_SIZE and the windows allow.
func AppendData(dst []byte, streamID uint32, data []byte, endStream bool) []byte {
	return AppendFrame(dst, Data, flagIf(endStream, EndStream), streamID, data)
}

// AppendPaddedData appends a DATA frame with padding, of at most 255 bytes, which
// should be zero.
func AppendPaddedData(dst []byte, streamID uint32, data, padding []byte, endStream bool) []byte {
	n := 1 + len(data) + len(padding)
	dst = AppendHeader(dst, Header{uint32(n), Data, Padded | flagIf(endStream, EndStream), streamID})
	dst = append(dst, byte(len(padding)))
	return append(append(dst, data...), padding...)
}

// HeadersParam is a HEADERS frame to write.
type HeadersParam struct {
	StreamID  uint32
	Block     []byte // the whole header block
	EndStream bool
	Priority  *PriorityParam // nil: none
	Padding   []byte         // nil: none; at most 255 bytes, which should be zero
}

// AppendHeaders appends a HEADERS frame, and as many CONTINUATION frames as it
// takes if the block does not fit into maxFrameSize, the peer's.
func AppendHeaders(dst []byte, p HeadersParam, maxFrameSize uint32) []byte {
	flags := flagIf(p.EndStream, EndStream)
	extra := padLen(p.Padding)
	if p.Priority != nil {
		flags |= HasPriority
		extra += 5
	}
	first, rest := splitBlock(p.Block, extra, maxFrameSize)
	dst = openPadded(dst, Header{uint32(extra + len(first)), Headers, flags | flagIf(rest == nil, EndHeaders), p.StreamID}, p.Padding)
	if p.Priority != nil {
		dst = appendPriorityParam(dst, *p.Priority)
	}
	dst = append(append(dst, first...), p.Padding...)
	return appendContinuations(dst, p.StreamID, rest, maxFrameSize)
}

// BeginHeaders and FinishHeaders write a HEADERS frame around a block that is
// encoded where it will be sent from: BeginHeaders makes room for the frame's
// header, then the block is appended, then FinishHeaders completes the frame that
// began at start, the length of the buffer before BeginHeaders. A block that does
// not fit into maxFrameSize gets its CONTINUATION frames.
func BeginHeaders(dst []byte) []byte {
	return append(dst, make([]byte, HeaderLen)...)
}

// FinishHeaders completes what [BeginHeaders] began.
func FinishHeaders(dst []byte, start int, streamID uint32, endStream bool, maxFrameSize uint32) []byte {
	flags := flagIf(endStream, EndStream)
	n, limit := len(dst)-start-HeaderLen, frameLimit(maxFrameSize)
	if n <= limit {
		AppendHeader(dst[start:start], Header{uint32(n), Headers, flags | EndHeaders, streamID})
		return dst
	}
	// Make room for a header after each full frame, from the last one on.
	more := (n - 1) / limit
	dst = append(dst, make([]byte, more*HeaderLen)...)
	for i := more; i > 0; i-- {
		from := start + HeaderLen + i*limit
		size := min(limit, n-i*limit)
		to := from + i*HeaderLen
		copy(dst[to:to+size], dst[from:from+size])
		AppendHeader(dst[to-HeaderLen:to-HeaderLen], Header{uint32(size), Continuation, flagIf(i == more, EndHeaders), streamID})
	}
	AppendHeader(dst[start:start], Header{uint32(limit), Headers, flags, streamID})
	return dst
}

// AppendContinuation appends one CONTINUATION frame.
func AppendContinuation(dst []byte, streamID uint32, fragment []byte, endHeaders bool) []byte {
	return AppendFrame(dst, Continuation, flagIf(endHeaders, EndHeaders), streamID, fragment)
}

// AppendPriority appends a PRIORITY frame.
func AppendPriority(dst []byte, streamID uint32, p PriorityParam) []byte {
	return appendPriorityParam(AppendHeader(dst, Header{5, Priority, 0, streamID}), p)
}

// AppendRSTStream appends a RST_STREAM frame.
func AppendRSTStream(dst []byte, streamID uint32, code ErrCode) []byte {
	dst = AppendHeader(dst, Header{4, RSTStream, 0, streamID})
	return binary.BigEndian.AppendUint32(dst, uint32(code))
}

// AppendSettings appends a SETTINGS frame with the given settings.
func AppendSettings(dst []byte, settings ...Setting) []byte {
	dst = AppendHeader(dst, Header{uint32(settingLen * len(settings)), Settings, 0, 0})
	for _, s := range settings {
		dst = binary.BigEndian.AppendUint16(dst, uint16(s.ID))
		dst = binary.BigEndian.AppendUint32(dst, s.Value)
	}
	return dst
}

// AppendSettingsAck appends the SETTINGS frame that acknowledges one.
func AppendSettingsAck(dst []byte) []byte {
	return AppendHeader(dst, Header{0, Settings, Ack, 0})
}

// PushPromiseParam is a PUSH_PROMISE frame to write.
type PushPromiseParam struct {
	StreamID   uint32 // of the request that it belongs to
	PromisedID uint32
	Block      []byte // the whole header block
	Padding    []byte // nil: none; at most 255 bytes, which should be zero
}

// AppendPushPromise appends a PUSH_PROMISE frame, and as many CONTINUATION frames
// as it takes if the block does not fit into maxFrameSize, the peer's.
func AppendPushPromise(dst []byte, p PushPromiseParam, maxFrameSize uint32) []byte {
	extra := padLen(p.Padding) + 4
	first, rest := splitBlock(p.Block, extra, maxFrameSize)
	dst = openPadded(dst, Header{uint32(extra + len(first)), PushPromise, flagIf(rest == nil, EndHeaders), p.StreamID}, p.Padding)
	dst = binary.BigEndian.AppendUint32(dst, p.PromisedID&streamMask)
	dst = append(append(dst, first...), p.Padding...)
	return appendContinuations(dst, p.StreamID, rest, maxFrameSize)
}

// AppendPing appends a PING frame, or the answer to one.
func AppendPing(dst []byte, ack bool, data [8]byte) []byte {
	return AppendFrame(dst, Ping, flagIf(ack, Ack), 0, data[:])
}

// AppendGoAway appends a GOAWAY frame. Debug is for people, and may be empty.
func AppendGoAway(dst []byte, lastStreamID uint32, code ErrCode, debug []byte) []byte {
	dst = AppendHeader(dst, Header{uint32(8 + len(debug)), GoAway, 0, 0})
	dst = binary.BigEndian.AppendUint32(dst, lastStreamID&streamMask)
	dst = binary.BigEndian.AppendUint32(dst, uint32(code))
	return append(dst, debug...)
}

// AppendWindowUpdate appends a WINDOW_UPDATE frame; stream 0 is the connection.
func AppendWindowUpdate(dst []byte, streamID, increment uint32) []byte {
	dst = AppendHeader(dst, Header{4, WindowUpdate, 0, streamID})
	return binary.BigEndian.AppendUint32(dst, increment&streamMask)
}

func frameLimit(maxFrameSize uint32) int {
	return orDefault(int(maxFrameSize), MinMaxFrameSize)
}

func flagIf(set bool, f Flags) Flags {
	if set {
		return f
	}
	return 0
}

// padLen is what a padding adds to the payload.
func padLen(padding []byte) int {
	if padding == nil {
		return 0
	}
	return 1 + len(padding)
}

// openPadded appends a header, and the length of the padding if there is one.
func openPadded(dst []byte, h Header, padding []byte) []byte {
	if padding == nil {
		return AppendHeader(dst, h)
	}
	h.Flags |= Padded
	return append(AppendHeader(dst, h), byte(len(padding)))
}

// splitBlock cuts off what of a block fits into the first frame, beside extra
// bytes. The rest is nil if all does.
func splitBlock(block []byte, extra int, maxFrameSize uint32) (first, rest []byte) {
	room := max(0, frameLimit(maxFrameSize)-extra)
	if len(block) <= room {
		return block, nil
	}
	return block[:room], block[room:]
}

// appendContinuations appends the rest of a block.
func appendContinuations(dst []byte, streamID uint32, rest []byte, maxFrameSize uint32) []byte {
	limit := frameLimit(maxFrameSize)
	for len(rest) > 0 {
		n := min(len(rest), limit)
		dst = AppendContinuation(dst, streamID, rest[:n], n == len(rest))
		rest = rest[n:]
	}
	return dst
}

func appendPriorityParam(dst []byte, p PriorityParam) []byte {
	v := p.Dependency & streamMask
	if p.Exclusive {
		v |= 1 << 31
	}
	return append(binary.BigEndian.AppendUint32(dst, v), p.Weight)
}
