package frame

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// frameCase is a frame and the error that it deserves, "" for none: the code, and
// "stream" where only the stream must end.
type frameCase struct {
	name    string
	t       Type
	flags   Flags
	stream  uint32
	payload string
	want    string
}

var frameCases = []frameCase{
	{"data", Data, 0, 1, "abc", ""},
	{"no data", Data, EndStream, 1, "", ""},
	{"data without a stream", Data, 0, 0, "abc", "PROTOCOL_ERROR"},
	{"data, padding only", Data, Padded, 1, "\x02\x00\x00", ""},
	{"data, padding too long by one", Data, Padded, 1, "\x03\x00\x00", "PROTOCOL_ERROR"},
	{"data, padding of nothing", Data, Padded, 1, "\x00", ""},
	{"data, padding without its length", Data, Padded, 1, "", "FRAME_SIZE_ERROR"},

	{"headers", Headers, EndHeaders, 1, "abc", ""},
	{"headers, empty", Headers, EndHeaders, 1, "", ""},
	{"headers without a stream", Headers, EndHeaders, 0, "abc", "PROTOCOL_ERROR"},
	{"headers with priority", Headers, EndHeaders | HasPriority, 1, "\x80\x00\x00\x03\x10abc", ""},
	{"headers, priority cut", Headers, EndHeaders | HasPriority, 1, "\x80\x00\x00\x03", "FRAME_SIZE_ERROR"},
	{"headers, padding and priority", Headers, EndHeaders | HasPriority | Padded, 1, "\x01\x00\x00\x00\x03\x10a\x00", ""},
	{"headers, padding over the priority", Headers, HasPriority | Padded, 1, "\x02\x00\x00\x00\x03\x10\x00", "FRAME_SIZE_ERROR"},
	{"headers, too short for both", Headers, HasPriority | Padded, 1, "\x00\x00\x00\x00\x03", "FRAME_SIZE_ERROR"},
	{"headers, padding too long", Headers, Padded, 1, "\x04abc", "PROTOCOL_ERROR"},

	{"priority", Priority, 0, 1, "\x00\x00\x00\x03\x10", ""},
	{"priority, short", Priority, 0, 1, "\x00\x00\x00\x03", "stream FRAME_SIZE_ERROR"},
	{"priority, long", Priority, 0, 1, "\x00\x00\x00\x03\x10\x00", "stream FRAME_SIZE_ERROR"},
	{"priority without a stream", Priority, 0, 0, "\x00\x00\x00\x03\x10", "PROTOCOL_ERROR"},

	{"reset", RSTStream, 0, 1, "\x00\x00\x00\x08", ""},
	{"reset with an unknown code", RSTStream, 0, 1, "\xff\xff\xff\xff", ""},
	{"reset, short", RSTStream, 0, 1, "\x00\x00\x08", "FRAME_SIZE_ERROR"},
	{"reset, long", RSTStream, 0, 1, "\x00\x00\x00\x00\x08", "FRAME_SIZE_ERROR"},
	{"reset without a stream", RSTStream, 0, 0, "\x00\x00\x00\x08", "PROTOCOL_ERROR"},

	{"settings, none", Settings, 0, 0, "", ""},
	{"settings acknowledged", Settings, Ack, 0, "", ""},
	{"settings acknowledged with content", Settings, Ack, 0, "\x00\x01\x00\x00\x00\x00", "FRAME_SIZE_ERROR"},
	{"settings, cut", Settings, 0, 0, "\x00\x01\x00\x00\x00", "FRAME_SIZE_ERROR"},
	{"settings on a stream", Settings, 0, 1, "", "PROTOCOL_ERROR"},
	{"settings, unknown", Settings, 0, 0, "\xff\xff\xff\xff\xff\xff", ""},
	{"settings, any table size", Settings, 0, 0, "\x00\x01\xff\xff\xff\xff", ""},
	{"settings, no push", Settings, 0, 0, "\x00\x02\x00\x00\x00\x00", ""},
	{"settings, push", Settings, 0, 0, "\x00\x02\x00\x00\x00\x01", ""},
	{"settings, push of 2", Settings, 0, 0, "\x00\x02\x00\x00\x00\x02", "PROTOCOL_ERROR"},
	{"settings, largest window", Settings, 0, 0, "\x00\x04\x7f\xff\xff\xff", ""},
	{"settings, window too large", Settings, 0, 0, "\x00\x04\x80\x00\x00\x00", "FLOW_CONTROL_ERROR"},
	{"settings, smallest frame", Settings, 0, 0, "\x00\x05\x00\x00\x40\x00", ""},
	{"settings, frame too small", Settings, 0, 0, "\x00\x05\x00\x00\x3f\xff", "PROTOCOL_ERROR"},
	{"settings, largest frame", Settings, 0, 0, "\x00\x05\x00\xff\xff\xff", ""},
	{"settings, frame too large", Settings, 0, 0, "\x00\x05\x01\x00\x00\x00", "PROTOCOL_ERROR"},
	{"settings, connect protocol of 2", Settings, 0, 0, "\x00\x08\x00\x00\x00\x02", "PROTOCOL_ERROR"},
	{"settings, no priorities of 2", Settings, 0, 0, "\x00\x09\x00\x00\x00\x02", "PROTOCOL_ERROR"},
	{"settings, wrong one after a right one", Settings, 0, 0, "\x00\x02\x00\x00\x00\x01\x00\x02\x00\x00\x00\x09", "PROTOCOL_ERROR"},

	{"promise", PushPromise, EndHeaders, 1, "\x00\x00\x00\x02abc", ""},
	{"promise, reserved bit", PushPromise, EndHeaders, 1, "\x80\x00\x00\x02", ""},
	{"promise without a stream", PushPromise, EndHeaders, 0, "\x00\x00\x00\x02abc", "PROTOCOL_ERROR"},
	{"promise of stream 0", PushPromise, EndHeaders, 1, "\x80\x00\x00\x00abc", "PROTOCOL_ERROR"},
	{"promise of a client's stream", PushPromise, EndHeaders, 1, "\x00\x00\x00\x03abc", "PROTOCOL_ERROR"},
	{"promise, cut", PushPromise, EndHeaders, 1, "\x00\x00\x02", "FRAME_SIZE_ERROR"},
	{"promise, padded", PushPromise, EndHeaders | Padded, 1, "\x01\x00\x00\x00\x02a\x00", ""},
	{"promise, padding over the stream", PushPromise, EndHeaders | Padded, 1, "\x01\x00\x00\x00\x02", "FRAME_SIZE_ERROR"},

	{"ping", Ping, 0, 0, "12345678", ""},
	{"ping, short", Ping, Ack, 0, "1234567", "FRAME_SIZE_ERROR"},
	{"ping, long", Ping, 0, 0, "123456789", "FRAME_SIZE_ERROR"},
	{"ping on a stream", Ping, 0, 1, "12345678", "PROTOCOL_ERROR"},

	{"goaway", GoAway, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00", ""},
	{"goaway with words", GoAway, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00why", ""},
	{"goaway, short", GoAway, 0, 0, "\x00\x00\x00\x01\x00\x00\x00", "FRAME_SIZE_ERROR"},
	{"goaway on a stream", GoAway, 0, 1, "\x00\x00\x00\x01\x00\x00\x00\x00", "PROTOCOL_ERROR"},

	{"window of the connection", WindowUpdate, 0, 0, "\x00\x00\x00\x01", ""},
	{"window of a stream", WindowUpdate, 0, 1, "\xff\xff\xff\xff", ""},
	{"window by nothing", WindowUpdate, 0, 0, "\x80\x00\x00\x00", "PROTOCOL_ERROR"},
	{"window of a stream by nothing", WindowUpdate, 0, 1, "\x00\x00\x00\x00", "stream PROTOCOL_ERROR"},
	{"window, short", WindowUpdate, 0, 1, "\x00\x00\x01", "FRAME_SIZE_ERROR"},
	{"window, long", WindowUpdate, 0, 1, "\x00\x00\x00\x00\x01", "FRAME_SIZE_ERROR"},

	{"continuation", Continuation, EndHeaders, 1, "abc", ""},
	{"continuation, empty", Continuation, 0, 1, "", ""},
	{"continuation without a stream", Continuation, 0, 0, "abc", "PROTOCOL_ERROR"},

	{"unknown type", 0x63, 0xff, 0, "abc", ""},
	{"unknown type on a stream", 0xff, 0xff, 1<<31 - 1, "", ""},
	{"largest frame", Data, 0, 1, strings.Repeat("d", MinMaxFrameSize), ""},
	{"frame too large", Data, 0, 1, strings.Repeat("d", MinMaxFrameSize+1), "FRAME_SIZE_ERROR"},
	{"frame of unknown type too large", 0x63, 0, 1, strings.Repeat("d", MinMaxFrameSize+1), "FRAME_SIZE_ERROR"},
}

func TestFrames(t *testing.T) {
	for _, c := range frameCases {
		wire := AppendFrame(nil, c.t, c.flags, c.stream, []byte(c.payload))
		wire[5] |= 0x80 // the reserved bit
		h, written, err := again(wire)
		wire[5] &^= 0x80
		if got := verdict(err); got != c.want {
			t.Errorf("%s: %q (%v), want %q", c.name, got, err, c.want)
		}
		if want := (Header{uint32(len(c.payload)), c.t, c.flags, c.stream}); h != want {
			t.Errorf("%s: header %v, want %v", c.name, h, want)
		}
		// What we write has neither reserved bits nor zeros that were not there.
		if err == nil && !bytes.Equal(written, wire) && !strings.Contains(c.name, "reserved") && c.name != "window of a stream" {
			t.Errorf("%s: %x is written as %x", c.name, wire, written)
		}
	}
}

// verdict tells an error as frameCase does.
func verdict(err error) string {
	var e *Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &e):
		return err.Error()
	case e.StreamID != 0:
		return "stream " + e.Code.String()
	default:
		return e.Code.String()
	}
}

func TestParseFields(t *testing.T) {
	h := Header{Type: Headers, Flags: HasPriority | Padded, StreamID: 1, Length: 12}
	f, err := ParseHeaders(h, []byte("\x03\x80\x00\x00\x05\xffabc\x01\x02\x03"))
	if err != nil || string(f.Fragment) != "abc" || string(f.Padding) != "\x01\x02\x03" || f.Priority != (PriorityParam{5, true, 255}) {
		t.Errorf("headers: %+v, %v", f, err)
	}
	if cap(f.Fragment) != len(f.Fragment) {
		t.Error("an append to the fragment would write over the padding")
	}
	p, err := ParsePushPromise(Header{Type: PushPromise}, []byte("\x80\x00\x01\x02abc"))
	if err != nil || p.PromisedID != 0x102 || string(p.Fragment) != "abc" || p.Padding != nil {
		t.Errorf("promise: %+v, %v", p, err)
	}
	g, err := ParseGoAway(Header{Type: GoAway}, []byte("\xff\xff\xff\xff\x00\x00\x00\x0bcalm"))
	if err != nil || g.LastStreamID != 1<<31-1 || g.Code != EnhanceYourCalm || string(g.Debug) != "calm" {
		t.Errorf("goaway: %+v, %v", g, err)
	}
	l, err := ParseSettings(Header{Type: Settings}, []byte("\x00\x03\x00\x00\x00\x64\x00\x03\x00\x00\x00\x65"))
	want := []Setting{{MaxConcurrentStreams, 100}, {MaxConcurrentStreams, 101}}
	if err != nil || !slices.Equal(slices.Collect(l.All()), want) || l.Len() != 2 || l.At(1) != want[1] {
		t.Errorf("settings: %v, %v", l, err)
	}
	for range l.All() {
		break // stopping early is allowed
	}
}

// A parser that is given a payload without a look at its header first does not
// read beyond it.
func TestParseUnchecked(t *testing.T) {
	for typ := Data; typ <= Continuation+1; typ++ {
		for _, flags := range []Flags{0, 0xff &^ Ack} {
			for n := range 8 {
				h := Header{uint32(n), typ, flags, 1}
				payload := bytes.Repeat([]byte{2}, n)
				_, err := describe(h, payload)
				wants := map[Type]bool{Priority: n == 5, RSTStream: n == 4, Ping: n == 8, GoAway: n >= 8, WindowUpdate: n == 4}
				if ok, fixed := wants[typ]; fixed && ok != (err == nil) {
					t.Errorf("%v: %v", h, err)
				}
				if err == nil && flags != 0 && n == 0 && (typ == Data || typ == Headers || typ == PushPromise) {
					t.Errorf("%v: no error", h)
				}
			}
		}
	}
}

func TestDataLen(t *testing.T) {
	for _, c := range []struct {
		length uint32
		first  byte
		want   int
		ok     bool
	}{{1, 0, 0, true}, {1, 1, 0, false}, {10, 9, 0, true}, {10, 10, 0, false}, {1000, 255, 744, true}} {
		h := Header{Type: Data, Flags: Padded, StreamID: 1, Length: c.length}
		n, err := DataLen(h, c.first)
		if n != c.want || (err == nil) != c.ok {
			t.Errorf("%d bytes, padding of %d: %d, %v", c.length, c.first, n, err)
		}
		payload := make([]byte, c.length)
		payload[0] = c.first
		if f, whole := ParseData(h, payload); (whole == nil) != (err == nil) || len(f.Data) != n {
			t.Errorf("%d bytes, padding of %d: as a whole %d, %v", c.length, c.first, len(f.Data), whole)
		}
	}
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		Data.String():                                "DATA",
		Continuation.String():                        "CONTINUATION",
		Type(10).String():                            "frame type 0x0a",
		NoError.String():                             "NO_ERROR",
		HTTP11Required.String():                      "HTTP_1_1_REQUIRED",
		ErrCode(14).String():                         "error code 0xe",
		(Setting{MaxFrameSize, 20000}).String():      "MAX_FRAME_SIZE=20000",
		SettingID(7).String():                        "setting 0x7",
		(Header{5, Ping, Ack, 0}).String():           "PING on stream 0, 5 bytes, flags 0x01",
		(&Error{Cancel, 3, "DATA so"}).Error():       "http2: stream 3: CANCEL: DATA so",
		(&Error{ProtocolError, 0, "PING"}).Error():   "http2: PROTOCOL_ERROR: PING",
		ParseHeader([9]byte{1, 2, 3, 4, 5}).String(): "SETTINGS on stream 0, 66051 bytes, flags 0x05",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
