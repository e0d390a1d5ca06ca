package frame

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestReader(t *testing.T) {
	var wire []byte
	wire = AppendSettings(wire, Setting{MaxFrameSize, 1 << 15})
	wire = AppendFrame(wire, Priority, 0, 3, []byte("1234")) // of the stream only
	wire = AppendFrame(wire, 0x77, 0, 0, []byte("unknown"))
	wire = AppendHeaders(wire, HeadersParam{StreamID: 1, Block: []byte("block"), EndStream: true}, 2)
	wire = AppendData(wire, 1, []byte("data"), true)

	r := NewReader(iotest.OneByteReader(bytes.NewReader(wire)))
	for i, want := range []struct {
		t       Type
		payload string
		err     string
	}{
		{Settings, "\x00\x05\x00\x00\x80\x00", ""},
		{Priority, "1234", "stream FRAME_SIZE_ERROR"},
		{0x77, "unknown", ""},
		{Headers, "bl", ""},
		{Continuation, "oc", ""},
		{Continuation, "k", ""},
		{Data, "data", ""},
	} {
		h, payload, err := r.ReadFrame()
		if h.Type != want.t || string(payload) != want.payload || verdict(err) != want.err {
			t.Errorf("frame %d: %v, %q, %v", i, h, payload, err)
		}
	}
	if _, _, err := r.ReadFrame(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// Wherever the peer stops, only between frames is it an end.
func TestReaderCut(t *testing.T) {
	wire := AppendData(nil, 1, []byte("data"), false)
	for n := range wire {
		_, _, err := NewReader(bytes.NewReader(wire[:n])).ReadFrame()
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if !errors.Is(err, want) {
			t.Errorf("after %d bytes: %v, want %v", n, err, want)
		}
	}
	broken := errors.New("broken")
	_, _, err := NewReader(io.MultiReader(bytes.NewReader(wire[:10]), iotest.ErrReader(broken))).ReadFrame()
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// A frame that is refused is refused before its payload is read.
func TestReaderRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		wire []byte
		want string
	}{
		"too large":     {AppendHeader(nil, Header{MinMaxFrameSize + 1, Data, 0, 1}), "FRAME_SIZE_ERROR"},
		"out of order":  {AppendHeader(nil, Header{10, Continuation, 0, 1}), "PROTOCOL_ERROR"},
		"wrong stream":  {AppendHeader(nil, Header{8, Ping, 0, 1}), "PROTOCOL_ERROR"},
		"wrong length":  {AppendHeader(nil, Header{9, Ping, 0, 0}), "FRAME_SIZE_ERROR"},
		"within blocks": {AppendHeader(AppendHeader(nil, Header{0, Headers, 0, 1}), Header{9, Priority, 0, 1}), "PROTOCOL_ERROR"},
	} {
		r := NewReader(io.MultiReader(bytes.NewReader(c.wire), iotest.ErrReader(errors.New("read on"))))
		_, _, err := r.ReadFrame()
		if name == "within blocks" {
			_, _, err = r.ReadFrame()
		}
		if got := verdict(err); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	r := NewReader(bytes.NewReader(AppendData(nil, 1, make([]byte, MinMaxFrameSize+1), false)))
	r.MaxFrameSize = MinMaxFrameSize + 1
	if _, payload, err := r.ReadFrame(); err != nil || len(payload) != MinMaxFrameSize+1 {
		t.Errorf("a frame of the size allowed: %d, %v", len(payload), err)
	}
}
