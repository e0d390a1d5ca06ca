package http2

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// These break one exchange, and no other (RFC 9113, 5.4.2 and 8.1.1).
var streamOffences = []offence{
	// Pseudo-headers.
	{"NoStatus", func(p *peer) { p.headers(1, true, "server", "x") }, frame.ProtocolError, ":status"},
	{"EmptyHead", func(p *peer) { p.headers(1, true) }, frame.ProtocolError, ":status"},
	{"TwoStatuses", func(p *peer) { p.headers(1, true, ":status", "200", ":status", "200") }, frame.ProtocolError, "pseudo-header"},
	{"StatusAfterFields", func(p *peer) { p.headers(1, true, "server", "x", ":status", "200") }, frame.ProtocolError, "pseudo-header"},
	{"PseudoHeaderOfRequest", func(p *peer) { p.headers(1, true, ":status", "200", ":path", "/") }, frame.ProtocolError, "pseudo-header"},
	{"UnknownPseudoHeader", func(p *peer) { p.headers(1, true, ":status", "200", ":x", "y") }, frame.ProtocolError, "pseudo-header"},
	{"StatusOfWords", func(p *peer) { p.headers(1, true, ":status", "abc") }, frame.ProtocolError, ":status"},
	{"StatusTooShort", func(p *peer) { p.headers(1, true, ":status", "20") }, frame.ProtocolError, ":status"},
	{"StatusTooLong", func(p *peer) { p.headers(1, true, ":status", "0200") }, frame.ProtocolError, ":status"},
	{"StatusBelowRange", func(p *peer) { p.headers(1, true, ":status", "099") }, frame.ProtocolError, ":status"},
	{"StatusWithSign", func(p *peer) { p.headers(1, true, ":status", "+20") }, frame.ProtocolError, ":status"},
	{"PseudoHeaderInTrailers", func(p *peer) {
		p.head(1)
		p.headers(1, true, ":status", "200")
	}, frame.ProtocolError, "second response head"},

	// Fields.
	{"UpperCaseName", func(p *peer) { p.headers(1, true, ":status", "200", "Server", "x") }, frame.ProtocolError, "Server"},
	{"EmptyName", func(p *peer) { p.headers(1, true, ":status", "200", "", "x") }, frame.ProtocolError, "header field"},
	{"SpaceInName", func(p *peer) { p.headers(1, true, ":status", "200", "a b", "x") }, frame.ProtocolError, "a b"},
	{"ColonInName", func(p *peer) { p.headers(1, true, ":status", "200", "a:b", "x") }, frame.ProtocolError, "a:b"},
	{"ControlInName", func(p *peer) { p.headers(1, true, ":status", "200", "a\x00", "x") }, frame.ProtocolError, `a\x00`},
	{"LineFeedInValue", func(p *peer) { p.headers(1, true, ":status", "200", "a", "x\nb: y") }, frame.ProtocolError, `"A"`},
	{"CarriageReturnInValue", func(p *peer) { p.headers(1, true, ":status", "200", "a", "x\r") }, frame.ProtocolError, `"A"`},
	{"NulInValue", func(p *peer) { p.headers(1, true, ":status", "200", "a", "x\x00") }, frame.ProtocolError, `"A"`},
	{"UpperCaseNameInTrailers", func(p *peer) {
		p.head(1)
		p.headers(1, true, "Sum", "x")
	}, frame.ProtocolError, "Sum"},

	// Headers of a connection.
	{"Connection", func(p *peer) { p.headers(1, true, ":status", "200", "connection", "close") }, frame.ProtocolError, "Connection"},
	{"KeepAlive", func(p *peer) { p.headers(1, true, ":status", "200", "keep-alive", "5") }, frame.ProtocolError, "Keep-Alive"},
	{"ProxyConnection", func(p *peer) { p.headers(1, true, ":status", "200", "proxy-connection", "close") }, frame.ProtocolError, "Proxy-Connection"},
	{"TransferEncoding", func(p *peer) { p.headers(1, true, ":status", "200", "transfer-encoding", "chunked") }, frame.ProtocolError, "Transfer-Encoding"},
	{"Upgrade", func(p *peer) { p.headers(1, true, ":status", "200", "upgrade", "x") }, frame.ProtocolError, "Upgrade"},

	// The order of things.
	{"DataBeforeHead", func(p *peer) { p.data(1, "x", false) }, frame.ProtocolError, "before the response head"},
	{"EndBeforeHead", func(p *peer) { p.data(1, "", true) }, frame.ProtocolError, "before the response head|without a response"},
	{"EndAfterInterim", func(p *peer) { p.headers(1, true, ":status", "103") }, frame.ProtocolError, "informational"},
	{"DataAfterInterim", func(p *peer) {
		p.headers(1, false, ":status", "103")
		p.data(1, "x", false)
	}, frame.ProtocolError, "before the response head"},
	{"SwitchingProtocols", func(p *peer) { p.headers(1, false, ":status", "101") }, frame.ProtocolError, "101"},
	{"SecondHead", func(p *peer) {
		p.head(1)
		p.head(1)
	}, frame.ProtocolError, "second response head"},
	{"InterimAfterHead", func(p *peer) {
		p.head(1)
		p.headers(1, false, ":status", "103")
	}, frame.ProtocolError, "second response head"},
	{"TrailersWithoutEnd", func(p *peer) {
		p.head(1)
		p.headers(1, false, "sum", "x")
	}, frame.ProtocolError, "trailers"},
	{"InterimWithoutEnd", func(p *peer) {
		for range httpsem.MaxInterim + 1 {
			p.headers(1, false, ":status", "103")
		}
	}, frame.ProtocolError, "too many informational"},

	// Lengths.
	{"BodyLongerThanDeclared", func(p *peer) {
		p.head(1, "content-length", "2")
		p.data(1, "one", true)
	}, frame.ProtocolError, "longer than its Content-Length"},
	{"BodyShorterThanDeclared", func(p *peer) {
		p.head(1, "content-length", "4")
		p.data(1, "one", true)
	}, frame.ProtocolError, "shorter than its Content-Length"},
	{"NoBodyThoughDeclared", func(p *peer) { p.headers(1, true, ":status", "200", "content-length", "1") }, frame.ProtocolError, "shorter"},
	{"TrailersBeforeAllOfTheBody", func(p *peer) {
		p.head(1, "content-length", "4")
		p.data(1, "one", false)
		p.headers(1, true, "sum", "x")
	}, frame.ProtocolError, "shorter"},
	{"LengthsThatDiffer", func(p *peer) { p.head(1, "content-length", "1", "content-length", "2") }, frame.ProtocolError, "Content-Length"},
	{"NegativeLength", func(p *peer) { p.head(1, "content-length", "-1") }, frame.ProtocolError, "Content-Length"},
	{"SignedLength", func(p *peer) { p.head(1, "content-length", "+1") }, frame.ProtocolError, "Content-Length"},
	{"LengthOfWords", func(p *peer) { p.head(1, "content-length", "many") }, frame.ProtocolError, "Content-Length"},
	{"LengthOverflow", func(p *peer) { p.head(1, "content-length", "99999999999999999999") }, frame.ProtocolError, "Content-Length"},
	{"NoContentWithBody", func(p *peer) {
		p.headers(1, false, ":status", "204")
		p.data(1, "x", true)
	}, frame.ProtocolError, "a body where none belongs"},
	{"NoContentWithLength", func(p *peer) { p.headers(1, false, ":status", "204", "content-length", "1") }, frame.ProtocolError, "204 with a body"},
	{"NotModifiedWithBody", func(p *peer) {
		p.headers(1, false, ":status", "304")
		p.data(1, "x", true)
	}, frame.ProtocolError, "a body where none belongs"},

	// Windows.
	{"StreamWindowOverflow", func(p *peer) { p.WriteWindowUpdate(1, 1<<31-1) }, frame.FlowControlError, "window is too large"},
	{"StreamWindowUpdateOfNothing", func(p *peer) { p.raw(frame.WindowUpdate, 0, 1, zeros4) }, frame.ProtocolError, "WINDOW_UPDATE"},

	{"ShortPriority", func(p *peer) { p.raw(frame.Priority, 0, 1, zeros4) }, frame.FrameSizeError, "PRIORITY"},
}

func TestOffencesThatEndTheStream(t *testing.T) {
	for _, o := range streamOffences {
		t.Run(o.name, func(t *testing.T) {
			begun(t, func(r *rig, s *Stream) {
				got := make(chan response)
				go func() { got <- receive(s, http.MethodGet) }()
				o.commit(r.peer)
				res := <-got
				reason := o.reason
				if one, other, two := strings.Cut(reason, "|"); two {
					if reason = one; res.err == nil || !strings.Contains(res.err.Error(), one) {
						reason = other
					}
				}
				wantProtocolError(t, res.err, reason)
				r.peer.wantReset(1, o.code)
				r.wantReports()
				r.mustGet()
			})
		})
	}
}

// A response to HEAD has a Content-Length and no body.
func TestHead(t *testing.T) {
	for name, c := range map[string]struct {
		send func(p *peer, id uint32)
		fine bool
	}{
		"Headers": {func(p *peer, id uint32) { p.headers(id, true, ":status", "200", "content-length", "9") }, true},
		"EmptyData": {func(p *peer, id uint32) {
			p.head(id, "content-length", "9")
			p.data(id, "", true)
		}, true},
		"Body": {func(p *peer, id uint32) {
			p.head(id, "content-length", "9")
			p.data(id, "123456789", true)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, Config{}, func(r *rig) {
				r.peer.begin()
				s := r.open(http.MethodHead, 0, httpsem.ExchangeOptions{})
				c.send(r.peer, r.peer.request())
				got := receive(s, http.MethodHead)
				switch {
				case !c.fine:
					wantProtocolError(t, got.err, "a body where none belongs")
					r.peer.wantReset(1, frame.ProtocolError)
				case got.err != nil || got.ContentLength != 9 || got.body != "":
					t.Errorf("length %d, body %q, %v", got.ContentLength, got.body, got.err)
				}
				s.End()
				r.mustGet()
			})
		})
	}
}

// What comes on a stream after the peer has ended it is an offence, by which the
// response that was whole has not suffered.
func TestFramesAfterTheEnd(t *testing.T) {
	for name, commit := range map[string]func(p *peer){
		"Data":     func(p *peer) { p.data(1, "more", true) },
		"Headers":  func(p *peer) { p.headers(1, true, "sum", "x") },
		"Continue": func(p *peer) { p.headers(1, false, ":status", "103") },
	} {
		t.Run(name, func(t *testing.T) {
			begun(t, func(r *rig, s *Stream) {
				r.peer.answer(1, "whole")
				commit(r.peer)
				if got := receive(s, http.MethodGet); got.err != nil || got.body != "whole" {
					t.Errorf("%q, %v", got.body, got.err)
				}
				s.End()
				r.peer.wantReset(1, frame.StreamClosed)
				r.mustGet()
			})
		})
	}
}

// Frames that were on their way when a stream was canceled are no offence.
func TestFramesAfterCancel(t *testing.T) {
	begun(t, func(r *rig, s *Stream) {
		s.Cancel()
		r.peer.wantReset(1, frame.Cancel)
		r.peer.head(1)
		r.peer.data(1, "late", false)
		r.peer.WriteWindowUpdate(1, 10)
		r.peer.headers(1, true, "sum", "x")
		r.peer.WriteRSTStream(1, http2.ErrCodeNo)
		r.mustGet()
	})
}
