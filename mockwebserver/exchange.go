package mockwebserver

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/okhttp-go/okhttp/internal/http1"
)

// exchange is one request and its response on an HTTP/1 connection. It lives on
// the connection's goroutine.
type exchange struct {
	c        *conn
	request  *RecordedRequest
	length   int64 // of the request body, unless it is chunked
	chunked  bool
	recorded bool // the request is out of our hands, and not changed any more

	response Response
	known    bool // the dispatcher has chosen response
	informed bool // the informational responses were sent
	over     bool // an effect has ended the connection
}

func newExchange(c *conn) *exchange {
	return &exchange{c: c, request: newRecordedRequest(c)}
}

// newRecordedRequest makes the record of a connection's next request.
func newRecordedRequest(c *conn) *RecordedRequest {
	r := &RecordedRequest{ConnectionIndex: c.index, ExchangeIndex: c.exchanges, RemoteAddr: c.raw.RemoteAddr().String(), Tunnel: c.layer.tunnel, TLS: c.tls}
	if c.tls != nil {
		r.SNI = c.tls.ServerName
	}
	return r
}

// run serves the exchange. It reports whether the connection goes on.
func (x *exchange) run() bool {
	if err := x.readHead(); err != nil {
		if err != io.EOF { // io.EOF: nothing came but empty lines
			x.refuse(err)
		}
		return false
	}
	x.c.requestRead = x.length == 0 && !x.chunked
	x.response, x.known = x.c.peek(AtRequestStart, x.request)
	if !x.act(AtRequestStart) || !x.sendEarly() {
		return false
	}
	reading := ReadBeforeResponse
	if !x.c.requestRead {
		reading = x.response.reading
	}
	switch reading {
	case ReadAfterResponse:
		return x.respond() && x.readBody() && x.keepAlive()
	case ReadNever:
		x.record(ErrScripted)
		if x.respond() {
			x.c.closeInOrder()
		}
		return false
	default:
		return x.readBody() && x.respond() && x.keepAlive()
	}
}

func (x *exchange) readHead() error {
	head, err := http1.ServerReadHead(x.c.br, x.c.server.settings.headLimit)
	r := x.request
	r.Method, r.Target, r.Version, r.Header = head.Method, head.Target, head.Version, recordedHeader(head.Fields)
	if err != nil {
		return err
	}
	x.length, x.chunked, err = head.BodyLength()
	return err
}

func recordedHeader(fields []http1.ServerField) Header {
	if fields == nil {
		return nil
	}
	h := make(Header, len(fields))
	for i, f := range fields {
		h[i] = Field(f)
	}
	return h
}

// record makes the request visible; failure says why it is incomplete.
func (x *exchange) record(failure error) {
	if x.recorded {
		return
	}
	x.recorded = true
	x.request.Failure = failure
	x.c.server.record(x.request)
}

// act performs the effects at a trigger. A request that they cut short is
// recorded before, so that a test can wait for it.
func (x *exchange) act(at Trigger) bool {
	if x.response.endsAt(at) {
		x.record(ErrScripted)
	}
	if !x.c.act(at, x.response) {
		x.over = true
		return false
	}
	return true
}

// refuse records a request that cannot be read, and answers it if possible.
func (x *exchange) refuse(err error) {
	if q, ok := x.c.server.Dispatcher().(*Queue); ok && x.known {
		q.responses.putBack(x.response)
	}
	x.c.err = err
	status, reason := http.StatusBadRequest, "request ended too early"
	var bad *http1.ServerError
	if errors.As(err, &bad) {
		status, reason = bad.Status, bad.Reason
		err = &BadRequestError{Status: status, Reason: reason}
	}
	x.record(err)
	if x.c.aborted.Load() {
		return
	}
	x.c.server.settings.logf("mockwebserver: connection %d, request %d: %v", x.request.ConnectionIndex, x.request.ExchangeIndex, err)
	reason += "\n"
	fmt.Fprintf(x.c.bw, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), len(reason), reason)
	x.c.closeInOrder()
}

// sendEarly sends what comes before the request body is read.
func (x *exchange) sendEarly() bool {
	if x.known && !x.inform() {
		return false
	}
	wanted := x.c.server.settings.autoContinue && !x.c.requestRead && x.response.reading == ReadBeforeResponse &&
		x.request.Header.hasToken("Expect", "100-continue")
	for _, r := range x.response.informational {
		wanted = wanted && !strings.HasPrefix(r.StatusLine(), "HTTP/1.1 100 ")
	}
	if wanted {
		_, _ = x.c.bw.WriteString("HTTP/1.1 100 Continue\r\n\r\n")
		return x.flush()
	}
	return true
}

// inform sends the informational responses, once.
func (x *exchange) inform() bool {
	if x.informed {
		return true
	}
	x.informed = true
	for _, r := range x.response.informational {
		if !x.c.sleep(r.headDelay) {
			return false
		}
		x.writeHead(r)
		if !x.flush() {
			return false
		}
	}
	return true
}

// dispatch has the response chosen, unless it is known.
func (x *exchange) dispatch() {
	if x.known {
		return
	}
	x.known = true
	d := x.c.server.Dispatcher()
	q, ok := d.(*Queue)
	if !ok {
		x.response = d.Dispatch(x.c.ctx, x.request)
		return
	}
	if x.response, ok = q.next(); ok {
		return
	}
	x.c.server.settings.logf("mockwebserver: the queue is empty; %s %s waits for a response", x.request.Method, x.request.Target)
	ctx, stop := x.c.watch()
	defer stop()
	x.response = q.Dispatch(ctx, x.request)
}

// keepAlive reports whether the connection goes on after the response, and
// closes it otherwise.
func (x *exchange) keepAlive() bool {
	if x.stays() {
		return true
	}
	x.c.closeInOrder()
	return false
}

func (x *exchange) stays() bool {
	r := x.response
	switch {
	case r.keepOpen:
		return true
	case x.opensTunnel():
		return r.mode != bodyUntilClose
	case x.request.wantsClose() || r.mode == bodyUntilClose:
		return false
	case r.mode == bodyRaw:
		return true
	}
	h := Header(r.header)
	if h.hasToken("Connection", "close") {
		return false
	}
	return !strings.HasPrefix(r.statusLine, "HTTP/1.0 ") || h.hasToken("Connection", "keep-alive")
}

func (x *exchange) flush() bool {
	if err := x.c.bw.Flush(); err != nil {
		x.c.err = err
		return false
	}
	return true
}
