package okhttp

import (
	"io"
	"net/http"
	"time"
)

// peekTime is how long a body may take to show whether there is anything in it.
const peekTime = 200 * time.Millisecond

// mayBeBlank reports whether the request's body should be looked into before it
// is announced: servers are confused by a chunked body in a GET, and what wraps
// the body of another message, as proxies do, often has nothing in it. This is
// net/http's rule.
func mayBeBlank(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodDelete, http.MethodOptions, "PROPFIND", "SEARCH":
		return bodyLength(req) < 0 && len(req.TransferEncoding) == 0
	}
	return false
}

// peek reports whether the body turns out to be empty. A byte that it finds is
// not lost.
func (b *requestBody) peek() bool {
	b.mu.Lock()
	if b.blank || b.read || b.closed || b.current == nil {
		defer b.mu.Unlock()
		return b.blank
	}
	p := &peekedBody{body: b.current, done: make(chan struct{})}
	b.current, b.read = p, true
	b.mu.Unlock()
	go p.look()
	if !waitFor(p.done, peekTime) || p.n > 0 || p.err != io.EOF {
		return false
	}
	b.mu.Lock()
	b.blank = true
	b.mu.Unlock()
	return true
}

// peekedBody is a body of which a first byte was asked for.
type peekedBody struct {
	body io.ReadCloser
	done chan struct{} // closed when the byte or the error has come

	// Written before done is closed.
	one [1]byte
	n   int
	err error

	given bool // owned by the reader
}

func (p *peekedBody) look() {
	defer close(p.done)
	for range 100 { // a reader may say "0 bytes, no error"
		if p.n, p.err = p.body.Read(p.one[:]); p.n != 0 || p.err != nil {
			return
		}
	}
	p.err = io.ErrNoProgress
}

func (p *peekedBody) Read(b []byte) (int, error) {
	<-p.done
	switch {
	case len(b) == 0:
		return 0, nil
	case !p.given:
		p.given = true
		return copy(b, p.one[:p.n]), p.err
	case p.err != nil:
		return 0, p.err
	}
	return p.body.Read(b)
}

// Close closes the body, which ends a look that has not come back.
func (p *peekedBody) Close() error {
	err := p.body.Close()
	waitFor(p.done, uploadCloseGrace)
	return err
}
