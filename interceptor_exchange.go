package okhttp

import (
	"errors"
	"net/http"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// inlineBody is the size up to which a body that is in memory goes out with the
// head, from the caller's goroutine.
const inlineBody = 16 << 10

// afterFailedSend is how long a response is waited for when the request could not
// be sent. As a rule the connection has broken, and there is nothing to wait for.
const afterFailedSend = time.Second

var errNoAnswer = errors.New("no answer came")

// do sends the request and receives the response head. Failures are *exchangeError.
func (e *exchange) do(req *http.Request) (*http.Response, error) {
	if e.request != nil {
		return nil, &InterceptorError{Reason: "called Proceed more than once"}
	}
	e.request = req
	if len(e.call.cfg.networkInterceptors) > 0 {
		if a := e.call.attemptOf(req); a != nil {
			e.watch(a)
		}
	}
	awaited, failure := e.sendRequest(req)
	if failure != nil {
		return nil, failure
	}
	resp, err := e.receiveHead(req, awaited)
	if err != nil {
		return nil, err
	}
	e.open(resp)
	return resp, nil
}

// sendRequest sends the head, and the body or as much of it as must precede the
// response. A response head that came before the body was due is returned. An
// error means that no response is to be hoped for.
func (e *exchange) sendRequest(req *http.Request) (*http.Response, error) {
	c := e.call
	c.phase = PhaseSend
	length := bodyLength(req)
	emit(c, RequestHeadersStart{})
	e.sent = time.Now()
	if err := e.codec.WriteHead(req, length); err != nil {
		return nil, e.failSend(err)
	}
	if e.head != nil {
		e.head.user = req
		emit(c, RequestHeadersEnd{e.head})
	}
	if length == 0 {
		if err := e.codec.Flush(); err != nil {
			return nil, e.failSendUnlessAnswered(err)
		}
		e.endSend(nil)
		return nil, nil
	}
	if !sameBody(req, c.body.req) {
		if err := c.body.replace(req); err != nil {
			return nil, e.failSend(err)
		}
	}
	if expectsContinue(req) && e.cfg.expectTimeout > 0 {
		early, err := e.awaitContinue(req)
		if err != nil || early != nil || e.sendEnded() {
			return early, err
		}
	}
	emit(c, RequestBodyStart{})
	if req.GetBody != nil && length > 0 && length <= inlineBody {
		return nil, e.sendInline(length)
	}
	e.startUpload(length)
	return nil, nil
}

// sendInline sends a small body together with the head.
func (e *exchange) sendInline(length int64) error {
	c := e.call
	reader, _ := c.body.reader()
	n, err := e.codec.WriteBody(reader, length, true, e.request.Trailer)
	c.body.close()
	if err != nil {
		return e.failSendUnlessAnswered(err)
	}
	emit(c, RequestBodyEnd{n})
	e.endSend(nil)
	return nil
}

// failSend ends the exchange because sending failed.
func (e *exchange) failSend(err error) error {
	emit(e.call, RequestFailed{translate(err)})
	failure := e.fail(err, nil)
	e.codec.Cancel()
	e.endSend(err)
	e.endRecv(err)
	return failure
}

// failSendUnlessAnswered lets the response be read although sending failed: a
// server may answer, and close, before it has read the request. What it answered
// is still to be had. Where the failure is ours there is nothing to read.
func (e *exchange) failSendUnlessAnswered(err error) error {
	var fault *httpsem.BodyError
	if errors.As(err, &fault) || isTimeout(err) || !e.codec.Sent() && e.reused {
		return e.failSend(err)
	}
	emit(e.call, RequestFailed{translate(err)})
	e.endSend(err)
	return nil
}

// awaitContinue holds the body back until the server asks for it, refuses it
// with a final response, or says nothing for a while (RFC 9110 section 10.1.1).
func (e *exchange) awaitContinue(req *http.Request) (*http.Response, error) {
	c := e.call
	if err := e.codec.Flush(); err != nil {
		return nil, e.failSendUnlessAnswered(err)
	}
	if c.tracer != nil {
		c.tracer.wait100Continue()
	}
	for {
		came, err := e.codec.AwaitHead(e.cfg.expectTimeout)
		if err != nil {
			return nil, e.failReceive(err)
		}
		if !came {
			return nil, nil
		}
		resp, err := e.readHead(req)
		if err != nil {
			return nil, err
		}
		switch {
		case resp.StatusCode == http.StatusContinue:
			return nil, nil
		case interim(resp.StatusCode):
			continue
		}
		e.endSend(errNotSent)
		return resp, nil
	}
}

// errNotSent is the fate of a body that the server did not want. The connection
// cannot be used again: the server may still wait for the body.
var errNotSent = errors.New("the server answered instead of asking for the request body")

func interim(code int) bool {
	return code >= 100 && code < 200 && code != http.StatusSwitchingProtocols
}

// receiveHead reads up to the final response head.
func (e *exchange) receiveHead(req *http.Request, resp *http.Response) (*http.Response, error) {
	c := e.call
	c.phase = PhaseReceive
	for resp == nil || interim(resp.StatusCode) {
		var err error
		if resp, err = e.readHead(req); err != nil {
			return nil, err
		}
	}
	e.settleUpload(resp)
	if e.received == 0 {
		e.markReceived()
	}
	emit(c, ResponseHeadersEnd{resp})
	return resp, nil
}

// markReceived notes, and reports, that a first head has arrived. A request
// body that has just been sent is reported before it.
func (e *exchange) markReceived() {
	e.received = max(time.Since(e.sent), 1)
	emit(e.call, ResponseHeadersStart{})
}

// readHead reads one head, and reports interim ones.
func (e *exchange) readHead(req *http.Request) (*http.Response, error) {
	if send := e.sendResult(); send != nil && send != errDone && e.upload == nil {
		// What a server may have said before it hung up is here, or near.
		if came, err := e.codec.AwaitHead(afterFailedSend); err == nil && !came {
			return nil, e.failReceive(errNoAnswer)
		}
	}
	resp := &e.response
	*resp = http.Response{}
	if err := e.codec.ReadHead(req, resp); err != nil {
		return nil, e.failReceive(err)
	}
	if interim(resp.StatusCode) {
		if e.received == 0 {
			e.markReceived()
		}
		emit(e.call, InformationalResponse{resp.StatusCode, resp.Header})
		if t := e.call.tracer; t != nil {
			if err := t.got1xx(resp.StatusCode, resp.Header); err != nil {
				return nil, e.failReceive(err)
			}
		}
	}
	return resp, nil
}

// failReceive ends the exchange because no response head could be read. If
// sending failed before, that is the error, and this one only follows from it.
func (e *exchange) failReceive(err error) error {
	c := e.call
	failure := e.fail(err, nil)
	if u := e.upload; u != nil && !e.sendEnded() {
		before := waitFor(u.done, 0)
		e.codec.Cancel()
		e.awaitUpload()
		if !e.stopUpload() {
			emit(c, RequestFailed{errUploadStopped})
		} else {
			var fault *httpsem.BodyError
			if u.err != nil && (before || errors.As(u.err, &fault) || isTimeout(u.err)) {
				c.phase = PhaseSend
				failure.err, failure.also = u.err, err
			}
			e.reportUpload()
		}
		if !before && c.Canceled() {
			c.phase = PhaseSend // where it was when it was told to stop
		}
	} else {
		e.codec.Cancel()
		switch send := e.sendResult(); send {
		case errDone:
		case nil: // the server was to ask for the body first
			e.endSend(err)
		default:
			c.phase = PhaseSend
			failure.err, failure.also = send, err
		}
	}
	why := err
	if cause := e.ended(); cause != nil {
		why = cause // the socket broke because of it
	}
	emit(c, ResponseFailed{Err: translate(why)})
	e.endRecv(err)
	e.giveUp()
	return failure
}

// settleUpload decides, now that the response has begun, what becomes of a
// request body that is still being sent. A server that answers with an error,
// a redirect or the wish to close has no use for it. After a success it goes on
// beside the response.
func (e *exchange) settleUpload(resp *http.Response) {
	u := e.upload
	if u == nil || e.sendEnded() {
		return
	}
	tail := uploadTail
	if e.shared() { // a stream whose two sides talk has no last write that is just returning
		tail = 0
	}
	if !waitFor(u.done, tail) {
		if resp.StatusCode < 300 && u.letRun() {
			return
		}
		if !e.stopUpload() {
			e.codec.StartReadTimeout()
			emit(e.call, RequestFailed{errUploadStopped})
			e.endSend(errUploadStopped)
			return
		}
		if u.err != nil {
			u.err = errUploadStopped
		}
	}
	e.reportUpload()
}

// open hands the response out, with a body that ends the exchange.
func (e *exchange) open(resp *http.Response) {
	resp.Request = e.request
	resp.TLS = e.conn.TLS()
	resp.Body = &e.body
	switch length := e.codec.BodyLength(); {
	case resp.StatusCode == http.StatusSwitchingProtocols && asksUpgrade(e.request):
		e.upgrade(resp)
	case length == 0:
		emit(e.call, ResponseBodyStart{})
		emit(e.call, ResponseBodyEnd{0})
		e.body.complete()
		e.endRecv(nil)
	default:
		e.hasBody = true
	}
}
