package mockwebserver

import (
	"errors"
	"net/http"
)

// http1NeededError is a response that HTTP/2 has no form for.
type http1NeededError struct{ what string }

func (e *http1NeededError) Error() string { return e.what + " is possible on HTTP/1 only" }

// respond has a response chosen and sends it, with its effects. It reports
// whether the exchange goes on.
func (x *h2Exchange) respond() bool {
	if !x.dispatch() {
		return false
	}
	x.answered = true
	r := x.response
	if x.s.ctx.Err() != nil || !x.inform() || !x.sleep(r.headDelay) || !x.act(AtResponseStart) {
		return false
	}
	if err := x.send(r); err != nil {
		if !x.over.Load() && !errors.Is(err, errOver) {
			x.fail(err)
		}
		return false
	}
	return !x.over.Load() && x.h.flush() == nil && x.act(AtResponseEnd)
}

// send sends head, promises, body and trailer.
func (x *h2Exchange) send(r Response) error {
	switch {
	case r.mode == bodyRaw:
		return &http1NeededError{"a raw response"}
	case r.statusCode() == "101":
		return &http1NeededError{"101 Switching Protocols"}
	case r.mode == bodyHandler:
		return x.serveHandler(r)
	}
	bodyless := x.request.Method == http.MethodHead
	size := len(r.body)
	if bodyless {
		size = 0
	}
	known := bodyless || r.mode != bodyStreamed && r.mode != bodySocket
	nothingMore := known && size == 0 && r.bodyDelay == 0 && r.trailerDelay == 0 && len(r.trailer) == 0 && !r.has(AtResponseBody)
	if err := x.writeHead(r, nothingMore); err != nil || nothingMore {
		return err
	}
	if !x.sleep(r.bodyDelay) {
		return errOver
	}
	if bodyless {
		if err := newPace(x, r, AtResponseBody, rate{}, 0).middle(); err != nil {
			return err
		}
		return x.endStream()
	}
	return x.sendBody(r)
}

func (x *h2Exchange) sendBody(r Response) error {
	if r.mode == bodySocket {
		return x.handOver(r.socket)
	}
	if r.mode == bodyStreamed {
		p := newPace(x, r, AtResponseBody, r.throttle, r.bodyLength)
		if err := r.bodyFunc(x.s.ctx, &h2BodyWriter{x: x, pace: p}); err != nil {
			return err
		}
		return x.endBody(p, r)
	}
	p := newPace(x, r, AtResponseBody, r.throttle, int64(len(r.body)))
	endsWithBody := len(r.trailer) == 0 && r.trailerDelay == 0
	for i, body := 0, r.body; len(body) > 0; i++ {
		size := len(body)
		if r.mode == bodyChunked && len(r.chunkSizes) > 0 {
			size = min(size, r.chunkSizes[min(i, len(r.chunkSizes)-1)])
		}
		if err := x.write(p, body[:size], endsWithBody && size == len(body)); err != nil {
			return err
		}
		body = body[size:]
	}
	if endsWithBody && len(r.body) > 0 {
		return nil
	}
	return x.endBody(p, r)
}

// write sends body bytes at the given pace. With end they are the last ones.
func (x *h2Exchange) write(p *pace, body []byte, end bool) error {
	for {
		n, err := p.next(len(body))
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		if _, err := x.s.write(body[:n], end && n == len(body), nil); err != nil {
			return err
		}
		p.moved(n)
		body = body[n:]
	}
}

// endBody ends the stream after the body, with the trailer if there is one.
func (x *h2Exchange) endBody(p *pace, r Response) error {
	if x.over.Load() {
		return errOver
	}
	if err := p.middle(); err != nil { // of an empty body
		return err
	}
	if !x.sleep(r.trailerDelay) {
		return errOver
	}
	if len(r.trailer) > 0 {
		return x.s.writeHeaders("", http2Fields(r.trailer), true)
	}
	return x.endStream()
}

func (x *h2Exchange) endStream() error {
	_, err := x.s.write(nil, true, nil)
	return err
}

// h2BodyWriter sends each write at once.
type h2BodyWriter struct {
	x    *h2Exchange
	pace *pace
}

func (w *h2BodyWriter) Write(p []byte) (int, error) {
	if w.x.over.Load() {
		return 0, errOver
	}
	if len(p) == 0 {
		return 0, nil
	}
	if err := w.x.write(w.pace, p, false); err != nil {
		return 0, err
	}
	if w.pace.half == halfUnknown {
		if err := w.pace.middle(); err != nil {
			return len(p), err
		}
	}
	return len(p), nil
}
