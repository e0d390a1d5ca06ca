package mockwebserver

import (
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
)

// serveHandler runs the handler of a response.
func (x *h2Exchange) serveHandler(r Response) error {
	w := &h2HandlerWriter{handlerHead: newHandlerHead(), x: x}
	req, err := x.request.HTTP(x.s.watched)
	if err != nil {
		http.Error(w, "malformed request target", http.StatusBadRequest)
		return w.finish()
	}
	if x.hasBody && x.response.reading == ReadAfterResponse {
		x.openInput()
		req.Body, req.ContentLength, req.Trailer = &h2LiveBody{x.input, req}, x.s.declared, announcedTrailer(x.request.Header)
	}
	if err := w.call(r.handler, req); err != nil {
		return err
	}
	return w.finish()
}

// announcedTrailer returns the names in the Trailer header, with no values yet.
func announcedTrailer(header Header) http.Header {
	head := handlerHead{sent: http.Header{"Trailer": header.Values("Trailer")}}
	trailer := make(http.Header)
	for _, name := range head.announced() {
		trailer[name] = nil
	}
	return trailer
}

// h2LiveBody is a request body that comes in while the handler reads it.
type h2LiveBody struct {
	in  *h2Input
	req *http.Request
}

func (b *h2LiveBody) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if err == io.EOF {
		for name, values := range b.in.x.request.Trailer.HTTP() {
			b.req.Trailer[name] = values
		}
	}
	return n, err
}

// Close does nothing: the server reads the rest after the response.
func (b *h2LiveBody) Close() error { return nil }

// h2HandlerWriter is the http.ResponseWriter. Until the head is sent it keeps
// the first bytes of the body.
type h2HandlerWriter struct {
	handlerHead
	x       *h2Exchange
	started bool // the head is sent
	ended   bool // and the stream's end with it
	pace    *pace
	err     error // of a write
}

// call fails if the handler panics.
func (w *h2HandlerWriter) call(h http.Handler, req *http.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("handler: %v", p)
			if p != http.ErrAbortHandler {
				w.x.c.server.settings.logf("mockwebserver: handler: %v\n%s", p, debug.Stack())
			}
		}
	}()
	h.ServeHTTP(w, req)
	return nil
}

func (w *h2HandlerWriter) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	if status >= 100 && status <= 199 && status != http.StatusSwitchingProtocols {
		_ = w.x.writeHead(Response{header: headerOf(w.header), noFraming: true}.WithStatus(status), false)
		return
	}
	w.decide(status)
}

func (w *h2HandlerWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.err != nil {
		return 0, w.err
	}
	if err := w.admit(len(p)); err != nil {
		return 0, err
	}
	if !w.started {
		w.buffered = append(w.buffered, p...)
		if len(w.buffered) <= handlerBuffer {
			return len(p), nil
		}
		w.start(false)
	} else {
		w.send(p)
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Flush sends what was written so far.
func (w *h2HandlerWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController.
func (w *h2HandlerWriter) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.started {
		w.start(false)
	}
	return w.err
}

// EnableFullDuplex is for http.ResponseController: a stream is always duplex.
func (w *h2HandlerWriter) EnableFullDuplex() error { return nil }

// start sends the head, and the body as far as it is known. With nothingMore the
// response is complete without a body.
func (w *h2HandlerWriter) start(nothingMore bool) {
	w.started, w.ended = true, nothingMore
	if w.status == http.StatusSwitchingProtocols {
		w.err = &http1NeededError{"101 Switching Protocols"}
		return
	}
	w.complete()
	r := w.x.response
	head := Response{header: headerOf(w.sent), noFraming: true}.WithStatus(w.status)
	if w.err = w.x.writeHead(head, nothingMore); w.err != nil || nothingMore {
		return
	}
	if !w.x.sleep(r.bodyDelay) {
		w.err = errOver
		return
	}
	if w.bodyless() {
		w.pace = newPace(w.x, r, AtResponseBody, rate{}, 0)
		return
	}
	w.pace = newPace(w.x, r, AtResponseBody, r.throttle, w.length)
	w.send(w.buffered)
}

func (w *h2HandlerWriter) bodyless() bool {
	return w.x.request.Method == http.MethodHead || w.emptyStatus()
}

func (w *h2HandlerWriter) send(p []byte) {
	if w.err != nil || len(p) == 0 || w.bodyless() {
		return
	}
	w.err = w.x.write(w.pace, p, false)
	if w.err == nil && w.pace.half == halfUnknown {
		w.err = w.pace.middle()
	}
}

// finish sends what the handler has left behind.
func (w *h2HandlerWriter) finish() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	r := w.x.response
	r.trailer = w.trailer()
	if !w.started {
		if w.length < 0 && !w.emptyStatus() && (w.written > 0 || w.x.request.Method != http.MethodHead) {
			w.length = w.written
			w.sent.Set("Content-Length", strconv.FormatInt(w.length, 10))
		}
		empty := w.written == 0 || w.bodyless()
		w.start(empty && len(r.trailer) == 0 && r.bodyDelay == 0 && r.trailerDelay == 0 && !r.has(AtResponseBody))
	}
	switch {
	case w.err != nil || w.ended:
		return w.err
	case !w.bodyless() && w.written < w.length:
		return fmt.Errorf("handler wrote %d bytes of a body that it said has %d", w.written, w.length)
	}
	return w.x.endBody(w.pace, r)
}
