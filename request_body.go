package okhttp

import (
	"io"
	"net/http"
	"sync"
)

// requestBody is the body of one hop's request over all attempts to send it. It
// knows whether the body can be sent again, and closes it whatever happens.
//
// One goroutine at a time uses it, except that close may come at any time to
// unblock a Read.
type requestBody struct {
	req *http.Request

	mu      sync.Mutex
	current io.ReadCloser // nil: there is no body
	turn    int           // counts what current has been
	read    bool          // a Read of current was begun
	closed  bool
	blank   bool // there is a body, but nothing in it
}

func (b *requestBody) init(req *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.req, b.current, b.read, b.closed, b.blank = req, nil, false, false, false
	b.turn++
	if req != nil && req.Body != nil {
		b.current = req.Body
	}
}

// spend notes that another call has used the body: it must be had again.
func (b *requestBody) spend() { b.read, b.closed = true, true }

// empty reports whether there is no body to send.
func (b *requestBody) empty() bool {
	return b.blank || b.req.Body == nil || b.req.Body == http.NoBody
}

// bodyLength reads a request's length as net/http means it: 0 with a body is
// an unknown length.
func bodyLength(req *http.Request) int64 {
	switch {
	case req.Body == nil || req.Body == http.NoBody:
		return 0
	case req.ContentLength > 0 && !chunkedWanted(req) && len(req.Trailer) == 0: // trailers need chunks
		return req.ContentLength
	default:
		return -1
	}
}

func chunkedWanted(req *http.Request) bool {
	return len(req.TransferEncoding) > 0 && req.TransferEncoding[0] == "chunked"
}

// replayable reports whether the body can be sent again after it was read.
func (b *requestBody) replayable() bool { return b.empty() || b.req.GetBody != nil }

// wasRead reports whether a byte of the current body may be gone.
func (b *requestBody) wasRead() bool {
	if b.req.Body == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read
}

// rewind makes the body whole again for another attempt.
func (b *requestBody) rewind() error {
	if b.empty() {
		return nil
	}
	b.mu.Lock()
	whole := !b.read && !b.closed
	b.mu.Unlock()
	if whole {
		return nil
	}
	again, err := b.req.GetBody()
	if err != nil {
		return err
	}
	b.close()
	b.mu.Lock()
	b.current, b.read, b.closed = again, false, false
	b.turn++
	b.mu.Unlock()
	return nil
}

// sameBody reports whether two requests share a body. Bodies may be of types that
// cannot be compared, such as a struct around a reader and a func; then all that
// could be compared was equal.
func sameBody(a, b *http.Request) (same bool) {
	defer func() {
		if recover() != nil {
			same = true
		}
	}()
	return a == b || a.Body == b.Body
}

// replace makes req, which an interceptor has passed on, the hop's request. If it
// has another body, that may read from the one before, which is closed with it.
func (b *requestBody) replace(req *http.Request) error {
	if b.req == nil || sameBody(b.req, req) {
		return b.adopt(req)
	}
	before := b.present()
	if before != nil && sameBody(&http.Request{Body: before}, req) {
		b.req = req
		return nil
	}
	b.init(req)
	switch {
	case before == nil:
	case b.current == nil:
		before.Close()
	default:
		b.current = &bodyOver{b.current, before}
	}
	return nil
}

// present is the body of this attempt, as an interceptor is to see it: what is
// left of the request's own, or a new one for a repetition. It is nil where there
// is none, or where it is closed.
func (b *requestBody) present() io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	return b.current
}

// bodyOver is a body that an interceptor has put in the place of another.
type bodyOver struct {
	io.ReadCloser
	before io.ReadCloser
}

func (b *bodyOver) Close() error {
	err := b.ReadCloser.Close()
	b.before.Close()
	return err
}

// adopt makes req the hop's request. A body that it shares with the request
// before stays as it is, unless it has to be had again.
func (b *requestBody) adopt(req *http.Request) error {
	if b.req == nil || !sameBody(b.req, req) {
		over, ok := b.present().(*bodyOver)
		if unread := ok && !b.wasRead() && sameBody(&http.Request{Body: over.before}, req); !unread {
			b.close()
		} // else the one below is to be sent itself
		b.init(req)
		return nil
	}
	b.req = req
	if b.empty() {
		return nil
	}
	b.mu.Lock()
	whole := !b.read && !b.closed
	b.mu.Unlock()
	if whole {
		return nil
	}
	if req.GetBody == nil {
		return &RequestError{reason: "the request's body was read already, and it has no GetBody"}
	}
	return b.rewind()
}

// reader returns the body to send now, and its turn for closeIf.
func (b *requestBody) reader() (io.Reader, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read = true
	if over, ok := b.current.(*bodyOver); ok {
		return over.ReadCloser, b.turn
	}
	return b.current, b.turn
}

func (b *requestBody) close() {
	if b.req != nil && b.req.Body != nil {
		b.closeIf(b.turn)
	}
}

// closeIf closes the body unless another has taken its place: whoever sends it
// may have been given up long ago.
func (b *requestBody) closeIf(turn int) {
	b.mu.Lock()
	if b.turn != turn {
		b.mu.Unlock()
		return
	}
	current := b.current
	done := b.closed
	b.closed = true
	b.mu.Unlock()
	if current != nil && !done {
		current.Close()
	}
}
