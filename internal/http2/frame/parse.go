package frame

import "encoding/binary"

// The parsers below want a header that passed [Header.Check], and the whole
// payload, of h.Length bytes. What they return lies in that payload. Errors are
// of type [*Error].

// DataFrame is a DATA frame (RFC 9113, 6.1). All of its payload counts for flow
// control, padding included: [Header.Length] bytes.
type DataFrame struct {
	Data    []byte
	Padding []byte // nil if the frame has no PADDED flag
}

// ParseData parses the payload of a DATA frame.
func ParseData(h Header, payload []byte) (DataFrame, error) {
	data, padding, err := unpad(h, payload)
	return DataFrame{data, padding}, err
}

// DataLen is for DATA that does not lie in the buffer as a whole: it tells how
// many bytes of data come before the padding, given the payload's first byte,
// which is the length of that padding. Only frames with the PADDED flag have one, and
// those that passed [Header.Check] do have it.
func DataLen(h Header, first byte) (int, error) {
	if h.Length <= uint32(first) {
		return 0, connError(ProtocolError, h, "is all padding, and less of it than it says")
	}
	return int(h.Length) - 1 - int(first), nil
}

// HeadersFrame is a HEADERS frame (RFC 9113, 6.2).
type HeadersFrame struct {
	Fragment []byte // of the header block; all of it with the END_HEADERS flag
	Priority PriorityParam
	Padding  []byte // nil if the frame has no PADDED flag
}

// ParseHeaders parses the payload of a HEADERS frame.
func ParseHeaders(h Header, payload []byte) (f HeadersFrame, err error) {
	f.Fragment, f.Padding, err = unpad(h, payload)
	if err != nil || !h.Flags.Has(HasPriority) {
		return f, err
	}
	if len(f.Fragment) < 5 {
		return HeadersFrame{}, errShort(h)
	}
	f.Priority = parsePriority(f.Fragment)
	f.Fragment = f.Fragment[5:]
	return f, nil
}

// PriorityParam is a priority in the scheme of RFC 7540, 5.3, which RFC 9113
// took out: to be sent by tests and ignored by all.
type PriorityParam struct {
	Dependency uint32
	Exclusive  bool
	Weight     uint8 // as sent: 0 stands for a weight of 1
}

func parsePriority(b []byte) PriorityParam {
	v := binary.BigEndian.Uint32(b)
	return PriorityParam{Dependency: v & streamMask, Exclusive: v > streamMask, Weight: b[4]}
}

// ParsePriority parses the payload of a PRIORITY frame.
func ParsePriority(h Header, payload []byte) (PriorityParam, error) {
	if len(payload) != 5 {
		return PriorityParam{}, streamError(FrameSizeError, h, "is not of 5 bytes")
	}
	return parsePriority(payload), nil
}

// ParseRSTStream parses the payload of a RST_STREAM frame.
func ParseRSTStream(h Header, payload []byte) (ErrCode, error) {
	if len(payload) != 4 {
		return 0, connError(FrameSizeError, h, "is not of 4 bytes")
	}
	return ErrCode(binary.BigEndian.Uint32(payload)), nil
}

// ParseSettings parses the payload of a SETTINGS frame and checks all values.
// It does not know its role: that a server must not send ENABLE_PUSH=1 is for
// the client to see (RFC 9113, 6.5.2).
func ParseSettings(h Header, payload []byte) (SettingList, error) {
	if len(payload)%settingLen != 0 {
		return nil, connError(FrameSizeError, h, "is not of a multiple of 6 bytes")
	}
	l := SettingList(payload)
	for i := range l.Len() {
		s := l.At(i)
		if code, ok := s.check(); !ok {
			return nil, connError(code, h, "has "+s.String())
		}
	}
	return l, nil
}

// PushPromiseFrame is a PUSH_PROMISE frame (RFC 9113, 6.6).
type PushPromiseFrame struct {
	PromisedID uint32 // even, since only servers push
	Fragment   []byte // of the header block; all of it with the END_HEADERS flag
	Padding    []byte // nil if the frame has no PADDED flag
}

// ParsePushPromise parses the payload of a PUSH_PROMISE frame.
func ParsePushPromise(h Header, payload []byte) (f PushPromiseFrame, err error) {
	f.Fragment, f.Padding, err = unpad(h, payload)
	if err != nil {
		return f, err
	}
	if len(f.Fragment) < 4 {
		return PushPromiseFrame{}, errShort(h)
	}
	f.PromisedID = binary.BigEndian.Uint32(f.Fragment) & streamMask
	f.Fragment = f.Fragment[4:]
	if f.PromisedID == 0 || f.PromisedID%2 != 0 {
		return PushPromiseFrame{}, connError(ProtocolError, h, "promises a stream that is not the server's")
	}
	return f, nil
}

// ParsePing parses the payload of a PING frame.
func ParsePing(h Header, payload []byte) ([8]byte, error) {
	if len(payload) != 8 {
		return [8]byte{}, connError(FrameSizeError, h, "is not of 8 bytes")
	}
	return [8]byte(payload), nil
}

// GoAwayFrame is a GOAWAY frame (RFC 9113, 6.8).
type GoAwayFrame struct {
	LastStreamID uint32
	Code         ErrCode
	Debug        []byte
}

// ParseGoAway parses the payload of a GOAWAY frame.
func ParseGoAway(h Header, payload []byte) (GoAwayFrame, error) {
	if len(payload) < 8 {
		return GoAwayFrame{}, connError(FrameSizeError, h, "is of less than 8 bytes")
	}
	return GoAwayFrame{
		LastStreamID: binary.BigEndian.Uint32(payload) & streamMask,
		Code:         ErrCode(binary.BigEndian.Uint32(payload[4:])),
		Debug:        payload[8:],
	}, nil
}

// ParseWindowUpdate parses the payload of a WINDOW_UPDATE frame: the increment,
// which is not 0. Whether the window overflows is for its owner to see.
func ParseWindowUpdate(h Header, payload []byte) (uint32, error) {
	if len(payload) != 4 {
		return 0, connError(FrameSizeError, h, "is not of 4 bytes")
	}
	n := binary.BigEndian.Uint32(payload) & streamMask
	if n == 0 {
		// For stream 0 this is an error of the connection, as it should be.
		return 0, streamError(ProtocolError, h, "of nothing")
	}
	return n, nil
}

// unpad takes the padding off a payload (RFC 9113, 6.1). Its content is not
// looked at.
func unpad(h Header, payload []byte) (content, padding []byte, err error) {
	if !h.Flags.Has(Padded) {
		return payload, nil, nil
	}
	if len(payload) == 0 {
		return nil, nil, errShort(h)
	}
	n := int(payload[0])
	content = payload[1:]
	if n > len(content) {
		return nil, nil, connError(ProtocolError, h, "has more padding than payload")
	}
	end := len(content) - n
	return content[:end:end], content[end:], nil
}

// errShort is a frame without room for what its type and flags promise.
func errShort(h Header) error {
	return connError(FrameSizeError, h, "is too short for its fields")
}
