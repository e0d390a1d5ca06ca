package http2

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
)

// peer is a server that a test makes say what it must not. It reads all the time,
// so that what it says is never held up.
type peer struct {
	*http2.Framer
	t    *testing.T
	conn net.Conn
	seen chan seen // what it reads
	own  bool      // it answers settings and pings itself
}

// seen is a frame from the client.
type seen struct {
	http2.FrameHeader
	code   frame.ErrCode // of RST_STREAM and GOAWAY
	fields []hpack.HeaderField
	data   []byte // of DATA and PING
	grant  uint32 // of WINDOW_UPDATE
}

func newPeer(t *testing.T, conn net.Conn) *peer {
	p := &peer{Framer: http2.NewFramer(conn, conn), t: t, conn: conn, seen: make(chan seen, 1<<17), own: true}
	p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	p.AllowIllegalWrites = true
	p.SetMaxReadFrameSize(1 << 20)
	go p.readAll()
	return p
}

func (p *peer) readAll() {
	defer close(p.seen)
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(p.conn, preface); err != nil || string(preface) != http2.ClientPreface {
		return
	}
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return
		}
		s := seen{FrameHeader: f.Header()}
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			s.fields = f.Fields
		case *http2.DataFrame:
			s.data = bytes.Clone(f.Data())
		case *http2.RSTStreamFrame:
			s.code = frame.ErrCode(f.ErrCode)
		case *http2.GoAwayFrame:
			s.code = frame.ErrCode(f.ErrCode)
		case *http2.WindowUpdateFrame:
			s.grant = f.Increment
		case *http2.PingFrame:
			s.data = bytes.Clone(f.Data[:])
		}
		p.seen <- s
	}
}

// next returns the next frame from the client, and false when there are no more.
// Settings are acknowledged on the way.
func (p *peer) next() (seen, bool) {
	for {
		s, ok := <-p.seen
		if ok && s.Type == http2.FrameSettings {
			if p.own && s.Flags == 0 {
				p.WriteSettingsAck()
			}
			continue
		}
		return s, ok
	}
}

// begin sends the peer's settings.
func (p *peer) begin(settings ...http2.Setting) { p.WriteSettings(settings...) }

// await returns the next frame of a type from the client.
func (p *peer) await(want http2.FrameType) seen {
	p.t.Helper()
	for {
		s, ok := p.next()
		if !ok {
			p.t.Fatalf("the client has hung up where %v was due", want)
		}
		if s.Type == want {
			return s
		}
	}
}

// request reads up to the next request and returns its stream.
func (p *peer) request() uint32 {
	p.t.Helper()
	return p.await(http2.FrameHeaders).StreamID
}

// wantReset reads up to the reset of a stream.
func (p *peer) wantReset(stream uint32, code frame.ErrCode) {
	p.t.Helper()
	for {
		s, ok := p.next()
		switch {
		case !ok:
			p.t.Errorf("the client has hung up, not reset stream %d with %v", stream, code)
			return
		case s.Type == http2.FrameGoAway:
			p.t.Errorf("the client ends the connection with %v, where a reset of stream %d with %v was due", s.code, stream, code)
			return
		case s.Type == http2.FrameRSTStream:
			if s.StreamID != stream || s.code != code {
				p.t.Errorf("stream %d was reset with %v, want %d with %v", s.StreamID, s.code, stream, code)
			}
			return
		}
	}
}

// wantGoAway reads up to the client's farewell.
func (p *peer) wantGoAway(code frame.ErrCode) {
	p.t.Helper()
	for {
		s, ok := p.next()
		switch {
		case !ok:
			p.t.Errorf("the client has hung up without a word, want %v", code)
			return
		case s.Type == http2.FrameGoAway:
			if s.code != code {
				p.t.Errorf("the client says %v, want %v", s.code, code)
			}
			return
		}
	}
}

// block encodes fields: names and values.
func block(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}

// headers sends HEADERS.
func (p *peer) headers(stream uint32, end bool, fields ...string) {
	p.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block(fields...), EndHeaders: true, EndStream: end})
}

// head sends a response's head, whose body follows.
func (p *peer) head(stream uint32, fields ...string) {
	p.headers(stream, false, append([]string{":status", "200"}, fields...)...)
}

// data sends a part of a body.
func (p *peer) data(stream uint32, body string, end bool) { p.WriteData(stream, end, []byte(body)) }

// answer sends a whole response.
func (p *peer) answer(stream uint32, body string) {
	p.head(stream)
	p.data(stream, body, true)
}

// raw sends a frame as it is.
func (p *peer) raw(t frame.Type, flags frame.Flags, stream uint32, payload string) {
	p.WriteRawFrame(http2.FrameType(t), http2.Flags(flags), stream, []byte(payload))
}

// bytes sends what is no frame.
func (p *peer) bytes(s string) { io.Copy(p.conn, strings.NewReader(s)) }
