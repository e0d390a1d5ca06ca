package http2

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/http2/hpack"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// blocks are for header blocks on their way from the reader to whoever waits for
// them.
var blocks = sync.Pool{New: func() any { return new(hpack.Block) }}

func getBlock() *hpack.Block { return blocks.Get().(*hpack.Block) }

func putBlock(b *hpack.Block) {
	b.Reset()
	blocks.Put(b)
}

func dropBlock(b *hpack.Block) {
	if b != nil {
		putBlock(b)
	}
}

// message is a response's head, or its trailers: a header block, and what the
// reader must know of it.
type message struct {
	block    *hpack.Block
	status   int   // 0: there is no :status, so it is trailers
	declared int64 // Content-Length, -1 for none
	lengths  int   // how many Content-Length fields there are
	fault    error
}

// messages are the heads that have come and were not read yet: 1xx ones, and the
// final one.
type messages struct {
	first message
	some  bool
	more  []message
}

func (m *messages) len() int {
	if !m.some {
		return 0
	}
	return 1 + len(m.more)
}

func (m *messages) add(msg message) {
	if !m.some {
		m.first, m.some = msg, true
		return
	}
	m.more = append(m.more, msg)
}

func (m *messages) next() message {
	msg := m.first
	if len(m.more) > 0 {
		m.first = m.more[0]
		m.more = m.more[1:]
	} else {
		m.first, m.some = message{}, false
	}
	return msg
}

func (m *messages) drop() {
	for m.some {
		putBlock(m.next().block)
	}
}

// readMessage looks through a block. It fails, in the message, for what makes it
// malformed (RFC 9113, 8.1.1 to 8.3.2).
func readMessage(b *hpack.Block) message {
	m := message{block: b, declared: -1}
	for i := range b.Fields {
		f := &b.Fields[i]
		if f.Flaws&(hpack.NameBytes|hpack.NameCase|hpack.ValueBytes) != 0 {
			m.fault = malformed("invalid header field " + strconv.QuoteToASCII(shortened(f.Name)))
			return m
		}
		if f.IsPseudo() {
			if f.Name != ":status" || i != 0 {
				m.fault = malformed("misplaced or unknown pseudo-header " + strconv.QuoteToASCII(shortened(f.Name)))
				return m
			}
			if m.status = parseStatus(f.Value); m.status == 0 {
				m.fault = malformed("invalid :status")
				return m
			}
			continue
		}
		if m.fault = m.checkField(f); m.fault != nil {
			return m
		}
	}
	if m.lengths > 1 {
		m.fault = m.checkLengths()
	}
	return m
}

// checkField looks at the fields that have a meaning for framing.
func (m *message) checkField(f *hpack.Field) error {
	switch len(f.Name) {
	case len("Upgrade"):
		if f.Name == "Upgrade" {
			return connectionSpecific(f.Name)
		}
	case len("Connection"), len("Content-Length"), len("Proxy-Connection"), len("Transfer-Encoding"):
		switch f.Name {
		case "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding":
			return connectionSpecific(f.Name)
		case "Content-Length":
			n, ok := httpsem.ParseContentLength([]string{f.Value})
			if !ok {
				return malformed("unusable Content-Length")
			}
			m.declared = n
			m.lengths++
		}
	}
	return nil
}

// checkLengths refuses several Content-Length fields that do not agree.
func (m *message) checkLengths() error {
	var values []string
	for i := range m.block.Fields {
		if m.block.Fields[i].Name == "Content-Length" {
			values = append(values, m.block.Fields[i].Value)
		}
	}
	if _, ok := httpsem.ParseContentLength(values); !ok {
		return malformed("unusable Content-Length")
	}
	return nil
}

func connectionSpecific(name string) error {
	return malformed("HTTP/2 has no place for the header " + name)
}

// shortened bounds a name that a peer has chosen.
func shortened(name string) string {
	const most = 60
	if len(name) > most {
		return name[:most]
	}
	return name
}

// parseStatus reads a status code, 0 for none.
func parseStatus(s string) int {
	if len(s) != 3 || s[0] < '1' || s[0] > '9' {
		return 0
	}
	n := 0
	for i := range len(s) {
		d := s[i] - '0'
		if d > 9 {
			return 0
		}
		n = n*10 + int(d)
	}
	return n
}

func tooLarge(s *Stream) error {
	limit := s.options.MaxHead
	if limit <= 0 {
		limit = httpsem.DefaultMaxHead
	}
	return malformed(fmt.Sprintf("server response headers exceeded %d bytes", limit))
}

// headersLocked takes in a head, or trailers.
func (s *Stream) headersLocked(m message, end bool) {
	c := s.conn
	s.any = true
	c.live.quiet = 0
	fault := m.fault
	switch {
	case fault != nil:
	case s.ended:
		fault = malformed("HEADERS after the end of the response")
	case s.responded && m.status != 0:
		fault = malformed("a second response head")
	case s.responded && !end:
		fault = malformed("trailers that do not end the response")
	case s.responded:
		s.trailer = m.block
		s.endLocked()
		return
	case m.status == 0:
		fault = malformed("no :status")
	case m.status == http.StatusSwitchingProtocols:
		fault = malformed("status 101 over HTTP/2")
	case m.status < 200:
		if s.interim++; s.interim > httpsem.MaxInterim {
			fault = malformed("too many informational responses")
		} else if end {
			fault = malformed("an informational response that ends the stream")
		}
	default:
		s.responded = true
		fault = s.frameLocked(m)
	}
	if fault != nil {
		putBlock(m.block)
		s.refuseLocked(frame.ProtocolError, fault)
		return
	}
	s.heads.add(m)
	if end {
		s.endLocked()
	}
	c.notifyLocked(&s.receive)
}

// frameLocked notes how long the body must be.
func (s *Stream) frameLocked(m message) error {
	switch {
	case s.head, m.status == http.StatusNoContent && m.declared <= 0, m.status == http.StatusNotModified:
		s.noBody = true
	case s.connect && m.status < 300:
	case (m.status == http.StatusNoContent || m.status == http.StatusResetContent) && m.declared > 0:
		return malformed("status " + strconv.Itoa(m.status) + " with a body")
	default:
		s.declared = m.declared
	}
	return nil
}

// endLocked takes in the end of the response.
func (s *Stream) endLocked() {
	c := s.conn
	switch {
	case s.ended || !s.open:
		return
	case !s.responded:
		s.refuseLocked(frame.ProtocolError, malformed("the stream ended without a response"))
		return
	case s.declared >= 0 && s.arrived < s.declared:
		s.refuseLocked(frame.ProtocolError, errShortBody)
		return
	}
	s.ended = true
	s.settleLocked()
	c.notifyLocked(&s.receive)
}
