package okhttp_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// h2Peer is a server over raw frames: it says what a test makes it say.
type h2Peer struct {
	*http2.Framer
	t    *testing.T
	conn net.Conn
}

// h2Server has script serve each connection, with its number from 0. It returns
// the server's URL, and the number of connections so far.
func h2Server(t *testing.T, script func(p *h2Peer, n int)) (url string, count func() int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			n := len(conns)
			conns = append(conns, conn)
			mu.Unlock()
			running.Go(func() {
				defer conn.Close()
				p := &h2Peer{Framer: http2.NewFramer(conn, conn), t: t, conn: conn}
				p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
				preface := make([]byte, len(http2.ClientPreface))
				if _, err := io.ReadFull(conn, preface); err != nil {
					return
				}
				script(p, n)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return "http://" + listener.Addr().String(), func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(conns)
	}
}

// begin sends the peer's settings.
func (p *h2Peer) begin(settings ...http2.Setting) { p.WriteSettings(settings...) }

// request reads up to the next request and returns its stream; settings and
// pings are answered on the way. It returns 0 when the connection is over.
func (p *h2Peer) request() uint32 {
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return 0
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				p.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				p.WritePing(true, f.Data)
			}
		case *http2.MetaHeadersFrame:
			return f.StreamID
		}
	}
}

// answer sends a whole response.
func (p *h2Peer) answer(stream uint32, body string) {
	p.head(stream, "200")
	p.WriteData(stream, true, []byte(body))
}

// head sends a response's head, whose body follows; fields are names and values.
func (p *h2Peer) head(stream uint32, status string, fields ...string) {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	e.WriteField(hpack.HeaderField{Name: ":status", Value: status})
	for i := 0; i < len(fields); i += 2 {
		e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	p.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true})
}

// wait reads on until the client closes the connection.
func (p *h2Peer) wait() {
	for p.request() != 0 {
	}
}
