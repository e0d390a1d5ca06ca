// Package frame is the framing layer of HTTP/2 (RFC 9113, 4 and 6), for both
// roles: writers that append a frame to a buffer, and parsers that take one
// apart where it lies.
//
// Reading a frame takes three steps, so that it works on any buffer:
// [ParseHeader] on its first nine bytes, [Header.Check] for all that they tell
// already, and then the parser of its type on the payload. [Blocks] watches over
// the order of HEADERS and CONTINUATION. What a parser returns lies in the
// payload given. A [Reader] does the same over an io.Reader.
//
// Nothing here has state but Blocks and Reader, which belong to one goroutine.
package frame

import (
	"encoding/binary"
	"fmt"
)

// HeaderLen is the length of a frame's header, in bytes.
const HeaderLen = 9

// The sizes that SETTINGS_MAX_FRAME_SIZE may take (RFC 9113, 6.5.2), in bytes
// of payload. The smallest is also what holds before a peer says otherwise.
const (
	MinMaxFrameSize = 1 << 14
	MaxMaxFrameSize = 1<<24 - 1
)

// The flow-control windows of RFC 9113, 6.9.
const (
	InitialWindow = 1<<16 - 1 // before SETTINGS_INITIAL_WINDOW_SIZE, and of the connection
	MaxWindow     = 1<<31 - 1
)

// ClientPreface is what a client sends before its first frame (RFC 9113, 3.4).
const ClientPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Type is the type of a frame. A frame of a type that is not listed here must be
// ignored (RFC 9113, 4.1).
type Type uint8

// The frame types of RFC 9113, 6.
const (
	Data         Type = 0x0
	Headers      Type = 0x1
	Priority     Type = 0x2
	RSTStream    Type = 0x3
	Settings     Type = 0x4
	PushPromise  Type = 0x5
	Ping         Type = 0x6
	GoAway       Type = 0x7
	WindowUpdate Type = 0x8
	Continuation Type = 0x9
)

var typeNames = [...]string{
	"DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS",
	"PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION",
}

// String is the name of the type in RFC 9113, or its number.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("frame type 0x%02x", uint8(t))
}

// Flags are the flags of a frame. What a bit means depends on the type.
type Flags uint8

// The flags of RFC 9113, 6.
const (
	EndStream   Flags = 0x1  // DATA, HEADERS
	Ack         Flags = 0x1  // SETTINGS, PING
	EndHeaders  Flags = 0x4  // HEADERS, PUSH_PROMISE, CONTINUATION
	Padded      Flags = 0x8  // DATA, HEADERS, PUSH_PROMISE
	HasPriority Flags = 0x20 // HEADERS
)

// Has reports whether all of g are set.
func (f Flags) Has(g Flags) bool { return f&g == g }

// Header is the header of a frame. The reserved bit of the stream identifier is
// ignored when received, and never sent.
type Header struct {
	Length   uint32 // of the payload, below 2^24
	Type     Type
	Flags    Flags
	StreamID uint32 // 0 is the connection
}

// ParseHeader takes a frame's header apart. Any nine bytes are one.
func ParseHeader(b [HeaderLen]byte) Header {
	return Header{
		Length:   uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]),
		Type:     Type(b[3]),
		Flags:    Flags(b[4]),
		StreamID: binary.BigEndian.Uint32(b[5:]) & streamMask,
	}
}

// streamMask takes off the reserved bit of a stream identifier or an increment.
const streamMask = 1<<31 - 1

// String describes the frame as a log line would.
func (h Header) String() string {
	return fmt.Sprintf("%v on stream %d, %d bytes, flags 0x%02x", h.Type, h.StreamID, h.Length, uint8(h.Flags))
}
