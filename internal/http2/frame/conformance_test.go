package frame

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The frames of http2-frame-test-case, valid ones with what is in them and
// invalid ones with the error to report. Read from ../shared, see
// shared/conformance/README.md.

const framesDir = "../../../../shared/conformance/http2-frames"

type testFrame struct {
	Error []ErrCode
	Wire  string
	Frame *struct {
		Length           uint32
		Type             Type
		Flags            Flags
		StreamIdentifier uint32 `json:"stream_identifier"`
		Payload          struct {
			Data           string
			Fragment       string `json:"header_block_fragment"`
			Padding        *string
			Dependency     *uint32 `json:"stream_dependency"`
			Weight         int
			Exclusive      bool
			PromisedStream uint32 `json:"promised_stream_id"`
			Settings       [][2]uint32
			ErrorCode      ErrCode `json:"error_code"`
			LastStream     uint32  `json:"last_stream_id"`
			Debug          string  `json:"additional_debug_data"`
			OpaqueData     string  `json:"opaque_data"`
			Increment      uint32  `json:"window_size_increment"`
		} `json:"frame_payload"`
	}
}

func TestFrameCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(framesDir, "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		if os.Getenv("OKHTTP_REQUIRE_SHARED") == "1" {
			t.Fatalf("no frames in %s", framesDir)
		}
		t.Skipf("no frames in %s: they are not part of this repository", framesDir)
	}
	valid, invalid := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c testFrame
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		wire, err := hex.DecodeString(c.Wire)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if c.Frame == nil {
			invalid++
			_, _, err := again(wire)
			var e *Error
			if !errors.As(err, &e) || !slices.Contains(c.Error, e.Code) {
				t.Errorf("%s: %v, want one of %v", file, err, c.Error)
			}
			continue
		}
		valid++
		h, written, err := again(wire)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		want := Header{c.Frame.Length, c.Frame.Type, c.Frame.Flags, c.Frame.StreamIdentifier}
		if h != want {
			t.Errorf("%s: %v, want %v", file, h, want)
		}
		if !bytes.Equal(written, wire) {
			t.Errorf("%s: written again as\n%x, want\n%x", file, written, wire)
		}
		if expected := c.write(); !bytes.Equal(expected, wire) {
			t.Errorf("%s: its description is written as\n%x, want\n%x", file, expected, wire)
		}
	}
	if valid != 12 || invalid != 22 {
		t.Errorf("%d valid and %d invalid frames, want 12 and 22", valid, invalid)
	}
}

// again parses a frame and writes what was found in it.
func again(wire []byte) (h Header, out []byte, err error) {
	h = ParseHeader([HeaderLen]byte(wire))
	if err := h.Check(MinMaxFrameSize); err != nil {
		return h, nil, err
	}
	payload := wire[HeaderLen:]
	switch h.Type {
	case Data:
		f, err := ParseData(h, payload)
		if f.Padding == nil {
			return h, AppendData(nil, h.StreamID, f.Data, h.Flags.Has(EndStream)), err
		}
		return h, AppendPaddedData(nil, h.StreamID, f.Data, f.Padding, h.Flags.Has(EndStream)), err
	case Headers:
		f, err := ParseHeaders(h, payload)
		p := HeadersParam{StreamID: h.StreamID, Block: f.Fragment, EndStream: h.Flags.Has(EndStream), Padding: f.Padding}
		if h.Flags.Has(HasPriority) {
			p.Priority = &f.Priority
		}
		return h, AppendHeaders(nil, p, 0), err
	case Priority:
		p, err := ParsePriority(h, payload)
		return h, AppendPriority(nil, h.StreamID, p), err
	case RSTStream:
		code, err := ParseRSTStream(h, payload)
		return h, AppendRSTStream(nil, h.StreamID, code), err
	case Settings:
		l, err := ParseSettings(h, payload)
		if h.Flags.Has(Ack) {
			return h, AppendSettingsAck(nil), err
		}
		return h, AppendSettings(nil, slices.Collect(l.All())...), err
	case PushPromise:
		f, err := ParsePushPromise(h, payload)
		return h, AppendPushPromise(nil, PushPromiseParam{h.StreamID, f.PromisedID, f.Fragment, f.Padding}, 0), err
	case Ping:
		data, err := ParsePing(h, payload)
		return h, AppendPing(nil, h.Flags.Has(Ack), data), err
	case GoAway:
		f, err := ParseGoAway(h, payload)
		return h, AppendGoAway(nil, f.LastStreamID, f.Code, f.Debug), err
	case WindowUpdate:
		n, err := ParseWindowUpdate(h, payload)
		return h, AppendWindowUpdate(nil, h.StreamID, n), err
	case Continuation:
		return h, AppendContinuation(nil, h.StreamID, payload, h.Flags.Has(EndHeaders)), nil
	}
	return h, AppendFrame(nil, h.Type, h.Flags, h.StreamID, payload), nil
}

// write writes the frame that is described.
func (c *testFrame) write() []byte {
	f := c.Frame
	p := &f.Payload
	var padding []byte
	if p.Padding != nil {
		padding = []byte(*p.Padding)
	}
	switch f.Type {
	case Data:
		return AppendPaddedData(nil, f.StreamIdentifier, []byte(p.Data), padding, f.Flags.Has(EndStream))
	case Headers:
		h := HeadersParam{StreamID: f.StreamIdentifier, Block: []byte(p.Fragment), EndStream: f.Flags.Has(EndStream), Padding: padding}
		if p.Dependency != nil {
			h.Priority = &PriorityParam{*p.Dependency, p.Exclusive, uint8(p.Weight - 1)}
		}
		return AppendHeaders(nil, h, 0)
	case Priority:
		return AppendPriority(nil, f.StreamIdentifier, PriorityParam{*p.Dependency, p.Exclusive, uint8(p.Weight - 1)})
	case RSTStream:
		return AppendRSTStream(nil, f.StreamIdentifier, p.ErrorCode)
	case Settings:
		var list []Setting
		for _, s := range p.Settings {
			list = append(list, Setting{SettingID(s[0]), s[1]})
		}
		return AppendSettings(nil, list...)
	case PushPromise:
		return AppendPushPromise(nil, PushPromiseParam{f.StreamIdentifier, p.PromisedStream, []byte(p.Fragment), padding}, 0)
	case Ping:
		return AppendPing(nil, f.Flags.Has(Ack), [8]byte([]byte(p.OpaqueData)))
	case GoAway:
		return AppendGoAway(nil, p.LastStream, p.ErrorCode, []byte(p.Debug))
	case WindowUpdate:
		return AppendWindowUpdate(nil, f.StreamIdentifier, p.Increment)
	case Continuation:
		return AppendContinuation(nil, f.StreamIdentifier, []byte(p.Fragment), f.Flags.Has(EndHeaders))
	}
	return []byte(strings.Repeat("?", 9))
}
