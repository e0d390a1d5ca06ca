package mockwebserver

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
)

// h2Exchange is one request and its response on a stream. It lives on the
// stream's goroutine, but for a handler that reads the request on another one.
type h2Exchange struct {
	c       *conn
	h       *h2Conn
	s       *h2Stream
	request *RecordedRequest
	hasBody bool
	input   *h2Input // reads the body

	response Response
	known    bool // the dispatcher has chosen response
	informed bool // the informational responses were sent
	answered bool // the response was begun

	over     atomic.Bool // an effect has ended the stream
	recorded sync.Once   // the request is out of our hands, and not changed any more
}

// begin serves a new stream.
func (h *h2Conn) begin(id uint32, end, tooLarge bool) error {
	c := h.c
	fields := h.fields.Fields
	length, flaw := headFlaw(fields, h.own.extendedConnect)
	if end && length > 0 {
		flaw = "there is no body, but a content-length"
	}

	h.mu.Lock()
	if h.openLocked() >= h.own.maxStreams {
		h.closed.add(id, true)
		h.mu.Unlock()
		return h.answer(func(dst []byte) []byte { return frame.AppendRSTStream(dst, id, frame.RefusedStream) })
	}
	s := h.newStream(id, length)
	s.sendWindow, s.recvWindow = h.peer.window, h.own.window
	if end {
		s.bodyEnd = io.EOF
	}
	h.streams[id] = s
	h.mu.Unlock()

	r := newRecordedRequest(c)
	r.StreamID = id
	r.setHead(fields)
	c.exchanges++
	x := &h2Exchange{c: c, h: h, s: s, request: r, hasBody: !end}
	c.server.watcher.begun()
	switch {
	case flaw != "":
		x.refuse(&BadRequestError{Reason: flaw})
		s.reset(CodeProtocolError)
	case tooLarge:
		x.refuse(&BadRequestError{Status: http.StatusRequestHeaderFieldsTooLarge, Reason: "the request head is too large"})
		_ = s.writeHeaders("431", nil, true)
	default:
		x.response, x.known = c.peek(AtRequestStart, r)
		h.work.Go(func() {
			x.run()
			x.end()
		})
		return nil
	}
	x.end()
	return nil
}

// end forgets the stream.
func (x *h2Exchange) end() {
	x.s.leave()
	x.c.server.watcher.ended()
}

// run serves the exchange.
func (x *h2Exchange) run() {
	if !x.act(AtRequestStart) || !x.sendEarly() {
		return
	}
	reading := ReadBeforeResponse
	if x.hasBody {
		reading = x.response.reading
	}
	switch reading {
	case ReadAfterResponse:
		_ = x.respond() && x.readBody()
	case ReadNever:
		x.record(ErrScripted)
		_ = x.respond()
	default:
		_ = x.readBody() && x.respond()
	}
}

// record makes the request visible; failure says why it is incomplete.
func (x *h2Exchange) record(failure error) {
	x.recorded.Do(func() {
		x.request.Failure = failure
		x.c.server.record(x.request)
	})
}

// refuse records a request that is not going to be complete.
func (x *h2Exchange) refuse(err error) {
	if q, ok := x.c.server.Dispatcher().(*Queue); ok && x.known && !x.answered {
		q.responses.putBack(x.response)
	}
	x.record(err)
	if !x.c.aborted.Load() {
		x.c.server.settings.logf("mockwebserver: connection %d, request %d: %v", x.request.ConnectionIndex, x.request.ExchangeIndex, err)
	}
}

// sleep waits. It reports whether the stream goes on.
func (x *h2Exchange) sleep(d time.Duration) bool {
	if d <= 0 {
		return x.s.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-x.s.ctx.Done():
		return false
	}
}

// sendEarly sends what comes before the request body is read.
func (x *h2Exchange) sendEarly() bool {
	if x.known && !x.inform() {
		return false
	}
	wanted := x.c.server.settings.autoContinue && x.hasBody && x.response.reading == ReadBeforeResponse &&
		x.request.Header.hasToken("Expect", "100-continue")
	for _, r := range x.response.informational {
		wanted = wanted && r.statusCode() != "100"
	}
	return !wanted || x.s.writeHeaders("100", nil, false) == nil
}

// inform sends the informational responses, once.
func (x *h2Exchange) inform() bool {
	if x.informed {
		return true
	}
	x.informed = true
	for _, r := range x.response.informational {
		if !x.sleep(r.headDelay) || x.writeHead(r, false) != nil {
			return false
		}
	}
	return true
}

// dispatch has the response chosen, unless it is known. It reports whether
// anybody still waits for it.
func (x *h2Exchange) dispatch() bool {
	if x.known {
		return true
	}
	x.known = true
	d := x.c.server.Dispatcher()
	q, ok := d.(*Queue)
	if !ok {
		x.response = d.Dispatch(x.s.ctx, x.request)
		return x.s.ctx.Err() == nil
	}
	if x.response, ok = q.next(); ok {
		return true
	}
	x.c.server.settings.logf("mockwebserver: the queue is empty; %s %s waits for a response", x.request.Method, x.request.Target)
	x.response = q.Dispatch(x.s.watched, x.request)
	return x.s.watched.Err() == nil
}

// writeHead sends the head of a response.
func (x *h2Exchange) writeHead(r Response, end bool) error {
	return x.s.writeHeaders(r.statusCode(), http2Fields(r.Header()), end)
}

// http2Fields leaves out what has no place in HTTP/2: lines about an HTTP/1
// connection, and those that are no header at all.
func http2Fields(header Header) []Field {
	fields := make([]Field, 0, len(header))
	for _, f := range header {
		if f.Name == rawLine {
			name, value, ok := strings.Cut(f.Value, ":")
			if !ok {
				continue
			}
			f = Field{name, strings.Trim(value, " \t")}
		}
		if !isConnectionHeader(f.Name) {
			fields = append(fields, f)
		}
	}
	return fields
}

// fail ends a response in its midst, so that the client can see that it is
// incomplete.
func (x *h2Exchange) fail(err error) {
	x.record(err)
	if x.s.failure() != nil {
		return // the client knows
	}
	x.c.server.settings.logf("mockwebserver: response to %s %s: %v", x.request.Method, x.request.Target, err)
	code := CodeInternalError
	if needed := (*http1NeededError)(nil); errors.As(err, &needed) {
		code = CodeHTTP11Required
	}
	x.s.reset(code)
}
