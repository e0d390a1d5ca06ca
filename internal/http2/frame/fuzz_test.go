package frame

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"golang.org/x/net/http2"
)

// FuzzReadFrames reads a connection's bytes and compares, frame by frame, with
// golang.org/x/net: the same content, and an error or none. Where the two differ
// on purpose is in knownDifference.
func FuzzReadFrames(f *testing.F) {
	for _, c := range frameCases {
		if len(c.payload) < 100 {
			f.Add(AppendFrame(nil, c.t, c.flags, c.stream, []byte(c.payload)))
		}
	}
	wire := AppendHeaders(nil, HeadersParam{StreamID: 1, Block: make([]byte, 30), Padding: []byte{0}, Priority: &PriorityParam{}}, 9)
	wire = AppendPushPromise(wire, PushPromiseParam{StreamID: 1, PromisedID: 2, Block: make([]byte, 30)}, 9)
	f.Add(AppendPing(wire, false, [8]byte{}))
	f.Add(AppendFrame(AppendFrame(wire, Priority, 0, 1, nil), Priority, 0, 1, nil))

	f.Fuzz(func(t *testing.T, wire []byte) {
		ours := NewReader(bytes.NewReader(wire))
		theirs := http2.NewFramer(io.Discard, bytes.NewReader(wire))
		theirs.SetMaxReadFrameSize(MinMaxFrameSize)
		for {
			h, payload, err := ours.ReadFrame()
			got, parseErr := describe(h, payload)
			if err == nil {
				err = parseErr
			}
			frame, theirErr := theirs.ReadFrame()

			if (err == nil) != (theirErr == nil) || isStream(err) != isStreamOfXNet(theirErr) {
				if why := knownDifference(h, err, theirErr); why == "" {
					t.Fatalf("%v %x: %v; in x/net %v", h, payload, err, theirErr)
				}
				return
			}
			if h.Type == 0x10 {
				continue // PRIORITY_UPDATE (RFC 9218), of unknown type to us
			}
			if err == nil {
				if want := describeXNet(frame); got != want {
					t.Fatalf("%v %x: %s; in x/net %s", h, payload, got, want)
				}
			} else if !isStream(err) {
				return
			}
			if h.Type == PushPromise && !h.Flags.Has(EndHeaders) {
				return // x/net does not watch over what must follow
			}
		}
	})
}

// describe tells what our parsers find in a frame.
func describe(h Header, payload []byte) (string, error) {
	switch h.Type {
	case Data:
		f, err := ParseData(h, payload)
		return fmt.Sprintf("%x %v", f.Data, h.Flags.Has(EndStream)), err
	case Headers:
		f, err := ParseHeaders(h, payload)
		return fmt.Sprintf("%x %v", f.Fragment, f.Priority), err
	case Priority:
		p, err := ParsePriority(h, payload)
		return fmt.Sprint(p), err
	case RSTStream:
		code, err := ParseRSTStream(h, payload)
		return fmt.Sprintf("%d", code), err
	case Settings:
		l, err := ParseSettings(h, payload)
		s := ""
		for x := range l.All() {
			s += fmt.Sprintf("%d=%d ", x.ID, x.Value)
		}
		return s, err
	case PushPromise:
		f, err := ParsePushPromise(h, payload)
		return fmt.Sprintf("%d %x", f.PromisedID, f.Fragment), err
	case Ping:
		data, err := ParsePing(h, payload)
		return fmt.Sprintf("%x", data), err
	case GoAway:
		f, err := ParseGoAway(h, payload)
		return fmt.Sprintf("%d %d %x", f.LastStreamID, f.Code, f.Debug), err
	case WindowUpdate:
		n, err := ParseWindowUpdate(h, payload)
		return fmt.Sprint(n), err
	default:
		return fmt.Sprintf("%x", payload), nil
	}
}

// describeXNet tells the same of a frame of x/net.
func describeXNet(frame http2.Frame) string {
	switch f := frame.(type) {
	case *http2.DataFrame:
		return fmt.Sprintf("%x %v", f.Data(), f.StreamEnded())
	case *http2.HeadersFrame:
		p := PriorityParam{f.Priority.StreamDep, f.Priority.Exclusive, f.Priority.Weight}
		return fmt.Sprintf("%x %v", f.HeaderBlockFragment(), p)
	case *http2.PriorityFrame:
		return fmt.Sprint(PriorityParam{f.StreamDep, f.Exclusive, f.Weight})
	case *http2.RSTStreamFrame:
		return fmt.Sprintf("%d", f.ErrCode)
	case *http2.SettingsFrame:
		s := ""
		for i := range f.NumSettings() {
			s += fmt.Sprintf("%d=%d ", f.Setting(i).ID, f.Setting(i).Val)
		}
		return s
	case *http2.PushPromiseFrame:
		return fmt.Sprintf("%d %x", f.PromiseID, f.HeaderBlockFragment())
	case *http2.PingFrame:
		return fmt.Sprintf("%x", f.Data)
	case *http2.GoAwayFrame:
		return fmt.Sprintf("%d %d %x", f.LastStreamID, uint32(f.ErrCode), f.DebugData())
	case *http2.WindowUpdateFrame:
		return fmt.Sprint(f.Increment)
	case *http2.ContinuationFrame:
		return fmt.Sprintf("%x", f.HeaderBlockFragment())
	case *http2.UnknownFrame:
		return fmt.Sprintf("%x", f.Payload())
	default:
		return fmt.Sprintf("%T", frame)
	}
}

// knownDifference names the reason why the two judge a frame differently: only
// one refuses it, or one ends the stream and the other the connection.
func knownDifference(h Header, ours, theirs error) string {
	if h.Type == 0x10 {
		return "PRIORITY_UPDATE (RFC 9218) is of unknown type to us"
	}
	var e *Error
	if !errors.As(ours, &e) {
		return ""
	}
	switch {
	case h.Type == Settings && theirs == nil:
		return "x/net checks the values of settings elsewhere, but for the window"
	case h.Type == PushPromise && theirs == nil && e.Code == ProtocolError:
		return "x/net takes a promise of a client's stream"
	case h.Type == Priority && e.Code == FrameSizeError && e.StreamID != 0:
		return "RFC 9113, 6.3: an error of the stream; of the connection in x/net"
	case h.Type == Headers && isStreamOfXNet(theirs):
		return "RFC 9113, 6.2: an error of the connection; of the stream in x/net"
	case e.Code == EnhanceYourCalm:
		return "x/net bounds header blocks only where it decodes them"
	default:
		return ""
	}
}

func isStream(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.StreamID != 0
}

func isStreamOfXNet(err error) bool {
	var e http2.StreamError
	return errors.As(err, &e)
}
