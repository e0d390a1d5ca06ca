package main

import (
	"encoding/binary"
	"fmt"
	"net"
)

// What the server and the raw client need of RFC 9113. Each relies on the other,
// and on the clients measured here, not to use the rest: no padding, and no
// header block in more than one frame.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

const (
	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameSettings     = 0x4
	framePing         = 0x6
	frameWindowUpdate = 0x8
)

const (
	flagAck        = 0x1 // of SETTINGS and PING
	flagEndStream  = 0x1 // of DATA and HEADERS
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

const (
	settingEnablePush    = 0x2
	settingMaxStreams    = 0x3
	settingInitialWindow = 0x4
	settingMaxFrame      = 0x5
)

const (
	frameHeaderLength = 9
	defaultWindow     = 64*kib - 1
	largestWindow     = 1<<31 - 1
	defaultMaxFrame   = 16 * kib
)

// A frame is one frame, or of DATA a piece of one; then only the last piece has
// the flags.
type frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte // good until the next fill
}

// endsStream tells whether its sender sends nothing more on the stream.
func (f frame) endsStream() bool {
	return f.kind <= frameHeaders && f.flags&flagEndStream != 0
}

func (f frame) isAck() bool { return f.flags&flagAck != 0 }

// largestBuffer is how far the buffer of a frameReader grows.
const largestBuffer = 256 * kib

// frameReader cuts what comes on a connection into frames.
type frameReader struct {
	conn    net.Conn
	buf     []byte // doubled whenever a read fills it
	have    []byte // piece of buf that is read and not cut yet
	data    frame  // DATA that is handed out in pieces
	missing int    // bytes of it still to be handed out
}

// fill waits for bytes, be they a whole frame or not.
func (r *frameReader) fill() error {
	kept := copy(r.buf, r.have)
	n, err := r.conn.Read(r.buf[kept:])
	r.have = r.buf[:kept+n]
	if len(r.have) == len(r.buf) && len(r.buf) < largestBuffer {
		r.buf = make([]byte, 2*len(r.buf))
		r.have = r.buf[:copy(r.buf, r.have)]
	}
	if n > 0 {
		return nil
	}
	return err
}

// each hands out the frames that are there.
func (r *frameReader) each(handle func(frame) error) error {
	for {
		f, ok, err := r.next()
		if !ok || err != nil {
			return err
		}
		if err := handle(f); err != nil {
			return err
		}
	}
}

func (r *frameReader) next() (f frame, ok bool, err error) {
	if r.missing > 0 {
		return r.piece()
	}
	if len(r.have) < frameHeaderLength {
		return frame{}, false, nil
	}
	head := binary.BigEndian.Uint32(r.have)
	length := int(head >> 8)
	f = frame{kind: byte(head), flags: r.have[4], stream: binary.BigEndian.Uint32(r.have[5:]) & largestWindow}
	switch {
	case f.kind <= frameHeaders && f.flags&flagPadded != 0:
		return frame{}, false, fmt.Errorf("stream %d: padded frame", f.stream)
	case f.kind == frameHeaders && f.flags&flagEndHeaders == 0:
		return frame{}, false, fmt.Errorf("stream %d: header block in more than one frame", f.stream)
	case f.kind == frameWindowUpdate && length != 4:
		return frame{}, false, fmt.Errorf("stream %d: WINDOW_UPDATE of %d bytes", f.stream, length)
	}
	if f.kind == frameData && length > 0 {
		r.have = r.have[frameHeaderLength:]
		r.data, r.missing = f, length
		return r.piece()
	}
	if length > defaultMaxFrame {
		return frame{}, false, fmt.Errorf("stream %d: frame of type %d with %d bytes", f.stream, f.kind, length)
	}
	end := frameHeaderLength + length
	if len(r.have) < end {
		return frame{}, false, nil
	}
	f.payload = r.have[frameHeaderLength:end]
	r.have = r.have[end:]
	return f, true, nil
}

// piece returns what is there of the DATA frame that is being handed out.
func (r *frameReader) piece() (frame, bool, error) {
	n := min(r.missing, len(r.have))
	if n == 0 {
		return frame{}, false, nil
	}
	f := r.data
	f.payload = r.have[:n]
	r.have = r.have[n:]
	if r.missing -= n; r.missing > 0 {
		f.flags = 0
	}
	return f, true, nil
}

// appendFrameHeader appends the nine bytes before a frame's payload.
func appendFrameHeader(b []byte, kind, flags byte, stream uint32, length int) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(length)<<8|uint32(kind))
	b = append(b, flags)
	return binary.BigEndian.AppendUint32(b, stream)
}

func appendWindowUpdate(b []byte, stream uint32, increment int64) []byte {
	b = appendFrameHeader(b, frameWindowUpdate, 0, stream, 4)
	return binary.BigEndian.AppendUint32(b, uint32(increment))
}

// A setting is one of SETTINGS.
type setting struct {
	id    uint16
	value uint32
}

func appendSettings(b []byte, settings ...setting) []byte {
	b = appendFrameHeader(b, frameSettings, 0, 0, 6*len(settings))
	for _, s := range settings {
		b = binary.BigEndian.AppendUint16(b, s.id)
		b = binary.BigEndian.AppendUint32(b, s.value)
	}
	return b
}

// settings returns what a SETTINGS frame says.
func (f frame) settings() []setting {
	var all []setting
	for p := f.payload; len(p) >= 6; p = p[6:] {
		all = append(all, setting{binary.BigEndian.Uint16(p), binary.BigEndian.Uint32(p[2:])})
	}
	return all
}

// appendReply appends what SETTINGS and PING ask for: an acknowledgement.
func (f frame) appendReply(b []byte) []byte {
	if f.isAck() {
		return b
	}
	if f.kind == framePing {
		b = appendFrameHeader(b, framePing, flagAck, 0, len(f.payload))
		return append(b, f.payload...)
	}
	return appendFrameHeader(b, frameSettings, flagAck, 0, 0)
}
