package http2

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// offence is something that a peer must not do while the client waits for the
// response on stream 1.
type offence struct {
	name   string
	commit func(p *peer)
	code   frame.ErrCode // what the peer is told
	reason string        // a part of what the call is told
}

const (
	zeros4 = "\x00\x00\x00\x00"
	zeros8 = zeros4 + zeros4
)

// These end the connection: there is no telling any more what the peer means (RFC
// 9113, 5.4.1).
var connectionOffences = []offence{
	// Frames whose form is wrong.
	{"DataOnConnection", func(p *peer) { p.raw(frame.Data, 0, 0, "x") }, frame.ProtocolError, "DATA"},
	{"HeadersOnConnection", func(p *peer) { p.raw(frame.Headers, frame.EndHeaders, 0, "\x88") }, frame.ProtocolError, "HEADERS"},
	{"ResetOfConnection", func(p *peer) { p.raw(frame.RSTStream, 0, 0, zeros4) }, frame.ProtocolError, "RST_STREAM"},
	{"SettingsOnStream", func(p *peer) { p.raw(frame.Settings, 0, 1, "") }, frame.ProtocolError, "SETTINGS"},
	{"PingOnStream", func(p *peer) { p.raw(frame.Ping, 0, 1, zeros8) }, frame.ProtocolError, "PING"},
	{"GoAwayOnStream", func(p *peer) { p.raw(frame.GoAway, 0, 1, zeros8) }, frame.ProtocolError, "GOAWAY"},
	{"ShortPing", func(p *peer) { p.raw(frame.Ping, 0, 0, "1234567") }, frame.FrameSizeError, "PING"},
	{"LongPing", func(p *peer) { p.raw(frame.Ping, 0, 0, "123456789") }, frame.FrameSizeError, "PING"},
	{"RaggedSettings", func(p *peer) { p.raw(frame.Settings, 0, 0, "12345") }, frame.FrameSizeError, "SETTINGS"},
	{"SettingsAckWithPayload", func(p *peer) { p.raw(frame.Settings, frame.Ack, 0, "123456") }, frame.FrameSizeError, "SETTINGS"},
	{"ShortReset", func(p *peer) { p.raw(frame.RSTStream, 0, 1, "123") }, frame.FrameSizeError, "RST_STREAM"},
	{"ShortWindowUpdate", func(p *peer) { p.raw(frame.WindowUpdate, 0, 0, "123") }, frame.FrameSizeError, "WINDOW_UPDATE"},
	{"ShortGoAway", func(p *peer) { p.raw(frame.GoAway, 0, 0, "1234567") }, frame.FrameSizeError, "GOAWAY"},
	{"FrameLargerThanAllowed", func(p *peer) { p.bytes("\x01\x00\x01\x00\x00\x00\x00\x00\x01") }, frame.FrameSizeError, "DATA"},
	{"UnknownFrameLargerThanAllowed", func(p *peer) { p.bytes("\xff\xff\xff\xee\x00\x00\x00\x00\x01") }, frame.FrameSizeError, ""},
	{"NotHTTP2", func(p *peer) { p.bytes("HTTP/1.1 400 Bad Request\r\n\r\n") }, frame.FrameSizeError, ""},

	// Padding that is longer than the frame.
	{"DataPaddingTooLong", func(p *peer) { p.raw(frame.Data, frame.Padded, 1, "\x02x") }, frame.ProtocolError, "padding"},
	{"DataPaddingWithoutLength", func(p *peer) { p.raw(frame.Data, frame.Padded, 1, "") }, frame.FrameSizeError, "DATA"},
	{"HeadersPaddingTooLong", func(p *peer) { p.raw(frame.Headers, frame.Padded|frame.EndHeaders, 1, "\x02\x88") }, frame.ProtocolError, "padding"},

	// Settings.
	{"PushEnabledByServer", func(p *peer) { p.begin(http2.Setting{ID: http2.SettingEnablePush, Val: 1}) }, frame.ProtocolError, "pushed to"},
	{"PushSettingOutOfRange", func(p *peer) { p.begin(http2.Setting{ID: http2.SettingEnablePush, Val: 2}) }, frame.ProtocolError, "ENABLE_PUSH"},
	{"InitialWindowTooLarge", func(p *peer) { p.begin(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31}) }, frame.FlowControlError, "INITIAL_WINDOW_SIZE"},
	{"MaxFrameSizeTooSmall", func(p *peer) { p.begin(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1<<14 - 1}) }, frame.ProtocolError, "MAX_FRAME_SIZE"},
	{"MaxFrameSizeTooLarge", func(p *peer) { p.begin(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 24}) }, frame.ProtocolError, "MAX_FRAME_SIZE"},
	{"ConnectProtocolOutOfRange", func(p *peer) { p.begin(http2.Setting{ID: 8, Val: 2}) }, frame.ProtocolError, "ENABLE_CONNECT_PROTOCOL"},
	{"ConnectProtocolTakenBack", func(p *peer) {
		p.begin(http2.Setting{ID: 8, Val: 1})
		p.begin(http2.Setting{ID: 8, Val: 0})
	}, frame.ProtocolError, "taken back"},
	{"InitialWindowMakesAStreamsTooLarge", func(p *peer) {
		p.WriteWindowUpdate(1, 1<<31-1-65535)
		p.begin(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 65536})
	}, frame.FlowControlError, "too large"},

	// Windows.
	{"ConnectionWindowOverflow", func(p *peer) { p.WriteWindowUpdate(0, 1<<31-1) }, frame.FlowControlError, "too large"},
	{"ConnectionWindowUpdateOfNothing", func(p *peer) { p.raw(frame.WindowUpdate, 0, 0, zeros4) }, frame.ProtocolError, "WINDOW_UPDATE"},

	// Streams that do not exist.
	{"DataOnIdleStream", func(p *peer) { p.data(3, "x", false) }, frame.ProtocolError, "not begun"},
	{"HeadersOnIdleStream", func(p *peer) { p.head(3) }, frame.ProtocolError, "not begun"},
	{"ResetOfIdleStream", func(p *peer) { p.WriteRSTStream(3, http2.ErrCodeCancel) }, frame.ProtocolError, "not begun"},
	{"WindowUpdateOnIdleStream", func(p *peer) { p.WriteWindowUpdate(3, 1) }, frame.ProtocolError, "not begun"},
	{"HeadersOnServersStream", func(p *peer) { p.head(2) }, frame.ProtocolError, "not promised"},
	{"DataOnServersStream", func(p *peer) { p.data(2, "x", true) }, frame.ProtocolError, "not promised"},
	{"ResetOfServersStream", func(p *peer) { p.WriteRSTStream(2, http2.ErrCodeCancel) }, frame.ProtocolError, "not promised"},
	{"PushThoughRefused", func(p *peer) {
		p.WriteSettingsAck()
		p.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: block(":method", "GET"), EndHeaders: true})
	}, frame.ProtocolError, "refused"},

	// Header blocks in pieces.
	{"FrameWithinHeaderBlock", func(p *peer) {
		p.raw(frame.Headers, 0, 1, "\x88")
		p.WritePing(false, [8]byte{})
	}, frame.ProtocolError, "header block"},
	{"UnknownFrameWithinHeaderBlock", func(p *peer) {
		p.raw(frame.Headers, 0, 1, "\x88")
		p.raw(0xee, 0, 1, "")
	}, frame.ProtocolError, "header block"},
	{"DataWithinHeaderBlock", func(p *peer) {
		p.raw(frame.Headers, 0, 1, "\x88")
		p.data(1, "x", true)
	}, frame.ProtocolError, "header block"},
	{"ContinuationOfAnotherStream", func(p *peer) {
		p.raw(frame.Headers, 0, 1, "\x88")
		p.raw(frame.Continuation, frame.EndHeaders, 3, "")
	}, frame.ProtocolError, "header block"},
	{"ContinuationOfNothing", func(p *peer) { p.raw(frame.Continuation, frame.EndHeaders, 1, "\x88") }, frame.ProtocolError, "continues no"},

	// Header compression.
	{"IndexOfNoField", func(p *peer) { p.raw(frame.Headers, frame.EndHeaders, 1, "\xff\x80\x01") }, frame.CompressionError, ""},
	{"IndexZero", func(p *peer) { p.raw(frame.Headers, frame.EndHeaders, 1, "\x80") }, frame.CompressionError, ""},
	{"IndexOverflow", func(p *peer) {
		p.raw(frame.Headers, frame.EndHeaders, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f")
	}, frame.CompressionError, ""},
	{"StringLongerThanBlock", func(p *peer) { p.raw(frame.Headers, frame.EndHeaders, 1, "\x88\x40\x7fx") }, frame.CompressionError, ""},
	{"BadHuffman", func(p *peer) { p.raw(frame.Headers, frame.EndHeaders, 1, "\x88\x40\x01x\x84\xff\xff\xff\xff") }, frame.CompressionError, ""},
	{"TableLargerThanAllowed", func(p *peer) { p.raw(frame.Headers, frame.EndHeaders, 1, "\x3f\xe2\x1f\x88") }, frame.CompressionError, ""},
	{"TableSizeAfterAField", func(p *peer) { p.raw(frame.Headers, frame.EndHeaders, 1, "\x88\x20") }, frame.CompressionError, ""},

	// GOAWAY that takes back what the last one gave up.
	{"GoAwayRewound", func(p *peer) {
		p.WriteGoAway(1, http2.ErrCodeNo, nil)
		p.WriteGoAway(3, http2.ErrCodeNo, nil)
	}, frame.ProtocolError, "GOAWAY"},
}

func TestOffencesThatEndTheConnection(t *testing.T) {
	for _, o := range connectionOffences {
		t.Run(o.name, func(t *testing.T) {
			begun(t, func(r *rig, s *Stream) {
				got := make(chan response)
				go func() { got <- receive(s, http.MethodGet) }()
				o.commit(r.peer)
				wantProtocolError(t, (<-got).err, o.reason)
				r.peer.wantGoAway(o.code)
				if _, more := r.peer.next(); more {
					t.Error("the client says more after its farewell")
				}
				if err := r.NewStream().WriteHead(request(http.MethodGet), 0); err == nil {
					t.Error("another stream begins on a broken connection")
				}
				if reports := r.reports(); len(reports) == 0 || !strings.HasPrefix(reports[len(reports)-1], "closed: ") {
					t.Errorf("reported %q", reports)
				}
			})
		})
	}
}

// A peer must begin with its settings, whatever it has to say.
func TestFirstFrameMustBeSettings(t *testing.T) {
	for name, commit := range map[string]func(p *peer){
		"Ping":        func(p *peer) { p.WritePing(false, [8]byte{}) },
		"Headers":     func(p *peer) { p.head(1) },
		"Data":        func(p *peer) { p.data(1, "", true) },
		"GoAway":      func(p *peer) { p.WriteGoAway(0, http2.ErrCodeNo, nil) },
		"SettingsAck": func(p *peer) { p.WriteSettingsAck() },
		"Unknown":     func(p *peer) { p.raw(0xee, 0, 0, "") },
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, Config{}, func(r *rig) {
				r.peer.own = false
				s := r.get()
				got := make(chan response)
				go func() { got <- receive(s, http.MethodGet) }()
				commit(r.peer)
				wantProtocolError(t, (<-got).err, "does not begin with SETTINGS")
				r.peer.wantGoAway(frame.ProtocolError)
				s.End()
			})
		})
	}
}

func wantProtocolError(t *testing.T, err error, reason string) {
	t.Helper()
	var protocol *httpsem.ProtocolError
	if !errors.As(err, &protocol) || !strings.Contains(err.Error(), reason) {
		t.Errorf("the call ended with %v, want a protocol error that says %q", err, reason)
	}
}
