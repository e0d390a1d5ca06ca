package mockwebserver

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
)

// Handler returns a Dispatcher that answers each request by an http.Handler, so
// that existing handlers, and http.ServeMux, plug in. See Response.WithHandler.
func Handler(h http.Handler) Dispatcher {
	response := Response{}.WithHandler(h)
	return DispatcherFunc(func(context.Context, *RecordedRequest) Response { return response })
}

// WithHandler has an http.Handler write the response: status, header and body.
// Head delay, body delay, throttle and effects apply to what it writes;
// status, header, body and trailer of r do not count.
//
// The handler gets a request that was read in full. Its context ends when the
// client hangs up or the server is closed. As in net/http, a short response
// gets a Content-Length and a long or flushed one is chunked; Content-Type is
// guessed; http.Flusher, http.Hijacker, 1xx statuses and trailers work; and a
// panic is logged and closes the connection. There is no Date header.
func (r Response) WithHandler(h http.Handler) Response {
	r.mode, r.handler = bodyHandler, h
	return r
}

// serveHandler runs the handler of a response.
func (x *exchange) serveHandler(r Response) error {
	ctx, stop := x.c.watch()
	w := &handlerWriter{handlerHead: newHandlerHead(), x: x, stopWatch: sync.OnceFunc(stop)}
	defer w.stopWatch()
	req, err := x.request.HTTP(ctx)
	if err != nil {
		http.Error(w, "malformed request target", http.StatusBadRequest)
		return w.finish()
	}
	if !w.call(r.handler, req) {
		_ = x.c.raw.Close()
		return errOver
	}
	if w.hijacked != nil {
		select {
		case <-w.hijacked.closed:
		case <-x.c.ctx.Done():
		}
		return errOver
	}
	w.stopWatch()
	return w.finish()
}

// call reports whether the handler returned, and did not panic.
func (w *handlerWriter) call(h http.Handler, req *http.Request) (returned bool) {
	defer func() {
		if p := recover(); p != nil {
			w.x.c.err = fmt.Errorf("handler: %v", p)
			if p != http.ErrAbortHandler {
				w.x.c.server.settings.logf("mockwebserver: handler: %v\n%s", p, debug.Stack())
			}
		}
	}()
	h.ServeHTTP(w, req)
	return true
}

// handlerWriter is the http.ResponseWriter. Until the head is sent it keeps the
// first bytes of the body.
type handlerWriter struct {
	handlerHead
	x         *exchange
	stopWatch func()

	started bool // the head is sent
	chunked bool
	pace    *pace
	err     error // of a write

	hijacked *hijackedConn
}

func (w *handlerWriter) WriteHeader(status int) {
	if w.status != 0 || w.hijacked != nil {
		return
	}
	if status >= 100 && status <= 199 && status != http.StatusSwitchingProtocols {
		w.x.writeHead(Response{header: headerOf(w.header)}.WithStatus(status))
		w.x.flush()
		return
	}
	w.decide(status)
}

func (w *handlerWriter) Write(p []byte) (int, error) {
	if w.hijacked != nil {
		return 0, http.ErrHijacked
	}
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
		w.start()
	} else {
		w.send(p)
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Flush sends what was written so far.
func (w *handlerWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController.
func (w *handlerWriter) FlushError() error {
	if w.hijacked != nil {
		return http.ErrHijacked
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.started {
		w.start()
	}
	if w.err == nil {
		w.err = w.x.c.bw.Flush()
	}
	return w.err
}

// start sends the head, and the body as far as it is known.
func (w *handlerWriter) start() {
	w.started = true
	x := w.x
	r := Response{noFraming: true}.WithStatus(w.status)
	x.response.statusLine = r.statusLine
	w.complete()
	if w.mayBeFramed() {
		if x.request.Version == "HTTP/1.0" {
			w.sent.Set("Connection", "close")
		} else {
			w.chunked = true
			w.sent.Set("Transfer-Encoding", "chunked")
		}
	}
	r.header = headerOf(w.sent)
	x.response.header = r.header // decides whether the connection stays open
	x.writeHead(r)
	if w.bodyless() {
		w.pace = x.newPace(AtResponseBody, rate{}, 0)
		return
	}
	if x.response.bodyDelay > 0 && !x.c.sleep(x.response.bodyDelay) {
		w.err = errOver
		return
	}
	w.pace = x.newPace(AtResponseBody, x.response.throttle, w.length)
	w.send(w.buffered)
}

// mayBeFramed reports whether a body can get a length or the chunked coding
// that the handler did not set.
func (w *handlerWriter) mayBeFramed() bool {
	opensTunnel := w.x.request.Method == http.MethodConnect && w.status/100 == 2
	return w.length < 0 && !w.emptyStatus() && !hasField(w.sent, "Transfer-Encoding") && !opensTunnel
}

func (w *handlerWriter) bodyless() bool {
	return w.x.request.Method == http.MethodHead || w.emptyStatus()
}

func (w *handlerWriter) send(p []byte) {
	if w.err != nil || len(p) == 0 || w.bodyless() {
		return
	}
	if w.chunked {
		w.err = w.x.writeChunk(w.pace, p)
	} else {
		w.err = w.x.write(w.pace, p)
	}
	if w.err == nil && w.pace.half == halfUnknown {
		w.err = w.pace.middle()
	}
}

// finish sends what the handler has left behind.
func (w *handlerWriter) finish() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	trailer := w.trailer()
	if !w.started {
		if w.mayBeFramed() && len(trailer) == 0 && (w.written > 0 || w.x.request.Method != http.MethodHead) {
			w.length = w.written
			w.sent.Set("Content-Length", strconv.FormatInt(w.length, 10))
		}
		w.start()
	}
	switch {
	case w.err != nil:
		return w.err
	case w.bodyless():
		return w.pace.middle()
	case w.chunked:
		r := w.x.response
		r.trailer = trailer
		return w.x.endChunks(w.pace, r)
	case w.written < w.length:
		return fmt.Errorf("handler wrote %d bytes of a body that it said has %d", w.written, w.length)
	}
	return w.pace.middle()
}

// Hijack hands the connection to the handler. The server still closes it when
// it is closed itself.
func (w *handlerWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if w.hijacked != nil {
		return nil, nil, http.ErrHijacked
	}
	w.stopWatch()
	w.hijacked = &hijackedConn{handedConn: handedConn{Conn: w.x.c.net, c: w.x.c}, closed: make(chan struct{})}
	return w.hijacked, bufio.NewReadWriter(w.x.c.br, w.x.c.bw), nil
}

// hijackedConn tells when the handler has closed it.
type hijackedConn struct {
	handedConn
	once   sync.Once
	closed chan struct{}
}

func (h *hijackedConn) Close() error {
	h.once.Do(func() { close(h.closed) })
	return h.handedConn.Close()
}
