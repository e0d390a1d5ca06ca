package http2

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// floods are frames that cost a peer little and achieve nothing. Each is sent
// until the client hangs up.
var floods = []struct {
	name string
	send func(p *peer, i int)
}{
	{"Ping", func(p *peer, _ int) { p.WritePing(false, [8]byte{}) }},
	{"PingAck", func(p *peer, _ int) { p.WritePing(true, [8]byte{}) }},
	{"Settings", func(p *peer, _ int) { p.begin() }},
	{"SettingsOfTheTable", func(p *peer, i int) {
		p.begin(http2.Setting{ID: http2.SettingHeaderTableSize, Val: uint32(i % 2 * 4096)})
	}},
	{"SettingsOfTheWindow", func(p *peer, i int) {
		p.begin(http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(i%2) * 65535})
	}},
	{"SettingsAck", func(p *peer, _ int) { p.WriteSettingsAck() }},
	{"EmptyData", func(p *peer, i int) {
		if i == 0 {
			p.head(1)
		}
		p.data(1, "", false)
	}},
	{"PaddingOnly", func(p *peer, i int) {
		if i == 0 {
			p.head(1)
		}
		p.WriteDataPadded(1, false, nil, make([]byte, 10))
	}},
	{"Priority", func(p *peer, _ int) { p.WritePriority(1, http2.PriorityParam{Weight: 3}) }},
	{"Unknown", func(p *peer, _ int) { p.raw(0xee, 0, 0, "x") }},
	{"ConnectionWindow", func(p *peer, i int) {
		if i == 0 {
			p.answer(1, "x") // nobody waits for the window any more
		}
		p.WriteWindowUpdate(0, 1)
	}},
	{"StreamWindow", func(p *peer, _ int) { p.WriteWindowUpdate(1, 1) }},
	{"ResetOfWhatIsOver", func(p *peer, i int) {
		if i == 0 {
			p.answer(1, "x")
		}
		p.WriteRSTStream(1, http2.ErrCodeCancel)
	}},
	{"DataOfWhatIsOver", func(p *peer, i int) {
		if i == 0 {
			p.answer(1, "x")
		}
		p.data(1, "x", false)
	}},
	{"HeadersOfWhatIsOver", func(p *peer, i int) {
		if i == 0 {
			p.answer(1, "x")
		}
		p.headers(1, true, "sum", "x")
	}},
	{"GoAway", func(p *peer, _ int) { p.WriteGoAway(3, http2.ErrCodeNo, nil) }},
	{"Continuation", func(p *peer, i int) {
		if i == 0 {
			p.raw(frame.Headers, 0, 1, "\x88")
		}
		p.raw(frame.Continuation, 0, 1, "")
	}},
	{"LargeContinuation", func(p *peer, i int) {
		if i == 0 {
			p.raw(frame.Headers, 0, 1, "\x88")
		}
		p.raw(frame.Continuation, 0, 1, strings.Repeat("\x00", maxFrame))
	}},
	{"PromisesBeforeSettingsAck", func(p *peer, i int) { // rapid reset, turned round
		p.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: uint32(2*i + 2), BlockFragment: block(":method", "GET"), EndHeaders: true})
		p.WriteRSTStream(uint32(2*i+2), http2.ErrCodeCancel)
	}},
}

func TestFloods(t *testing.T) {
	for _, f := range floods {
		t.Run(f.name, func(t *testing.T) {
			inRig(t, Config{}, func(r *rig) {
				s := r.get()
				second := r.get() // is still waiting when the first one is answered
				r.peer.own = false
				r.peer.begin()
				r.peer.request()
				got := make(chan response)
				for _, s := range []*Stream{s, second} {
					go func() { got <- receive(s, http.MethodGet) }()
				}
				const most = 3 * calmBudget
				sent := 0
				for ; sent < most && r.unbroken(); sent++ {
					f.send(r.peer, sent)
				}
				if sent == most {
					t.Fatalf("%d frames, and the client listens on", most)
				}
				for range 2 {
					if res := <-got; res.err != nil && res.body == "" {
						wantProtocolError(t, res.err, "ENHANCE_YOUR_CALM")
					}
				}
				r.peer.wantGoAway(frame.EnhanceYourCalm)
				s.End()
				second.End()
			})
		})
	}
}

func (r *rig) unbroken() bool {
	r.Conn.mu.Lock()
	defer r.Conn.mu.Unlock()
	return r.err == nil
}

// A peer may say things that achieve nothing now and then, for as long as it
// likes.
func TestSlowChatterIsNoFlood(t *testing.T) {
	begun(t, func(r *rig, s *Stream) {
		got := make(chan response)
		go func() { got <- receive(s, http.MethodGet) }()
		for range 4 * calmBudget {
			r.peer.WritePing(false, [8]byte{})
			time.Sleep(calmTime / (calmBudget - 1000))
		}
		r.peer.answer(1, "fine")
		if res := <-got; res.err != nil || res.body != "fine" {
			t.Errorf("%q, %v", res.body, res.err)
		}
	})
}

// A peer that makes us answer, and reads none of the answers, must not fill our
// memory with them.
func TestAnswersThatNobodyReads(t *testing.T) {
	for name, ask := range map[string]func(p *peer, i int){
		"Ping":     func(p *peer, _ int) { p.WritePing(false, [8]byte{}) },
		"Settings": func(p *peer, _ int) { p.begin() },
		"Promise": func(p *peer, i int) {
			p.WritePushPromise(http2.PushPromiseParam{StreamID: 3, PromiseID: uint32(2*i + 2), BlockFragment: block(":method", "GET"), EndHeaders: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, Config{}, func(r *rig) {
				s := r.get()
				second := r.get()
				r.peer.own = false // pushes may still come
				r.peer.begin()
				r.peer.request()
				r.peer.answer(1, "")
				if got := receive(s, http.MethodGet); got.err != nil {
					t.Fatal(got.err)
				}
				s.End()
				r.socket.(*memorySocket).stuff()
				got := make(chan response)
				go func() { got <- receive(second, http.MethodGet) }()
				sent := 0
				for ; sent < 2*maxAnswers && r.unbroken(); sent++ {
					ask(r.peer, sent)
					synctest.Wait() // no more is on its way than the client has seen
				}
				if sent == 2*maxAnswers {
					t.Fatal("the client queues answers without end")
				}
				wantProtocolError(t, (<-got).err, "more answers than it reads")
				second.End()
			})
		})
	}
}

// A header block that is small on the wire and huge when it is unpacked.
func TestCompressionBomb(t *testing.T) {
	begun(t, func(r *rig, s *Stream) {
		got := make(chan response)
		go func() { got <- receive(s, http.MethodGet) }()
		// One entry that fills the table, and an index to it, many times.
		bomb := string(block(":status", "200")) + "\x40\x01x\x7f\xa1\x1e" + strings.Repeat("v", 4000) + strings.Repeat("\xbe", 50_000)
		for i, piece := range pieces16k(bomb) {
			if i == 0 {
				r.peer.raw(frame.Headers, 0, 1, piece)
			} else {
				r.peer.raw(frame.Continuation, 0, 1, piece)
			}
		}
		r.peer.raw(frame.Continuation, frame.EndHeaders, 1, "")
		wantProtocolError(t, (<-got).err, "exceeded 262144 bytes")
		r.peer.wantReset(1, frame.Cancel)
		r.mustGet() // the tables are still in step
	})
}

func pieces16k(s string) (list []string) {
	for len(s) > 16<<10 {
		list, s = append(list, s[:16<<10]), s[16<<10:]
	}
	return append(list, s)
}

// The limit is that of all heads and trailers together, by the count of RFC 9113,
// 6.5.2.
func TestHeaderListLimit(t *testing.T) {
	const field = len("x") + 32
	status := len(":status") + len("200") + 32
	for name, c := range map[string]struct {
		size int
		fine bool
	}{
		"AtTheLimit": {httpsem.DefaultMaxHead, true},
		"Above":      {httpsem.DefaultMaxHead + 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			begun(t, func(r *rig, s *Stream) {
				got := make(chan response)
				go func() { got <- receive(s, http.MethodGet) }()
				value := strings.Repeat("v", c.size-status-field)
				r.peer.split(1, block(":status", "200", "x", value))
				r.peer.data(1, "", true)
				res := <-got
				if c.fine {
					if res.err != nil || res.Header.Get("X") != value {
						t.Errorf("a value of %d bytes, %v", len(res.Header.Get("X")), res.err)
					}
				} else {
					wantProtocolError(t, res.err, "exceeded "+strconv.Itoa(httpsem.DefaultMaxHead)+" bytes")
				}
				r.mustGet()
			})
		})
	}
	t.Run("Together", func(t *testing.T) {
		begun(t, func(r *rig, s *Stream) {
			got := make(chan response)
			go func() { got <- receive(s, http.MethodGet) }()
			half := strings.Repeat("v", httpsem.DefaultMaxHead/2)
			r.peer.split(1, block(":status", "103", "x", half))
			r.peer.split(1, block(":status", "200", "x", half))
			wantProtocolError(t, (<-got).err, "exceeded")
			r.peer.wantReset(1, frame.Cancel)
			r.mustGet()
		})
	})
}

// split sends a header block in frames of 16 KiB.
func (p *peer) split(stream uint32, block []byte) {
	list := pieces16k(string(block))
	for i, piece := range list {
		kind, flags := frame.Continuation, frame.Flags(0)
		if i == 0 {
			kind = frame.Headers
		}
		if i == len(list)-1 {
			flags = frame.EndHeaders
		}
		p.raw(kind, flags, stream, piece)
	}
}

// A server that resets whatever it is asked gets no more than it is asked; each
// call has its own error.
func TestRapidResetByTheServer(t *testing.T) {
	inRig(t, Config{}, func(r *rig) {
		r.peer.begin()
		for range 2000 {
			s := r.get()
			r.peer.WriteRSTStream(r.peer.request(), http2.ErrCodeInternal)
			got := receive(s, http.MethodGet)
			wantStreamError(t, got.err, frame.InternalError)
			if reusable, why := s.End(); reusable || !strings.Contains(why, "INTERNAL_ERROR") {
				t.Fatalf("the connection is to be used again: %q", why)
			}
		}
		r.wantReports()
	})
}
