package okhttp

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// Bounds on what is read of a body that is closed early, to keep its connection.
const (
	drainBytes = 256 << 10
	drainTime  = 100 * time.Millisecond
)

// progressStep is how much is read of a body between two reports of progress.
const progressStep = 256 << 10

var errReadAfterClose = &Error{Phase: PhaseBody, Err: errors.New("read on a closed response body")}

// responseBody is the response's body, and through it the user ends the exchange.
// One goroutine may read while another closes; closing then ends the connection.
type responseBody struct {
	exchange *exchange

	mu      sync.Mutex // not held during I/O
	started bool       // ResponseBodyStart was emitted
	inside  bool       // a read is in progress, or its end is being reported
	closed  bool
	err     error // sticky: io.EOF after the last byte, or why reading failed
	count   int64
	told    int64 // of count, by the last ResponseBodyProgress
}

// complete marks a body that has nothing to read.
func (b *responseBody) complete() {
	b.mu.Lock()
	b.err, b.started = io.EOF, true
	b.mu.Unlock()
}

// enter begins a read, or says why there is none.
func (b *responseBody) enter() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return errReadAfterClose
	case b.err != nil:
		return b.err
	case b.inside:
		return &Error{Phase: PhaseBody, Err: errors.New("concurrent reads of a response body")}
	}
	b.inside = true
	return nil
}

// leave ends a read that gave n bytes and err, and with it the body if err is
// not nil. It returns the error for the user.
func (b *responseBody) leave(n int64, err error) error {
	e := b.exchange
	b.mu.Lock()
	b.count += n
	start := !b.started
	b.started = true
	closed := b.closed
	plain := err
	if err != nil && err != io.EOF {
		err = b.failure(err)
		plain = e.call.plain(err)
	}
	if err != nil {
		b.err = plain
	} else if closed {
		b.err = errReadAfterClose
	}
	last := b.err != nil
	b.inside = last
	count := b.count
	progress := e.call.listener != nil && count-b.told >= progressStep
	if progress {
		b.told = count
	}
	b.mu.Unlock()
	if start {
		emit(e.call, ResponseBodyStart{})
	}
	if progress {
		emit(e.call, ResponseBodyProgress{Bytes: count, Total: e.networkResponse().ContentLength})
	}
	if last {
		b.end(count, err, closed)
	}
	return plain
}

// end reports the end of the body, and ends the exchange. Close, if it comes
// meanwhile, leaves that to us.
func (b *responseBody) end(count int64, err error, closed bool) {
	e := b.exchange
	switch {
	case closed: // Close ends the connection under us, at whatever moment
		emit(e.call, ResponseBodyEnd{count})
		e.stopAfterBody(errAbandoned)
	case err == io.EOF:
		e.takeTrailer()
		emit(e.call, ResponseBodyEnd{count})
		e.endRecv(nil)
	default:
		e.failBody(err)
	}
	b.mu.Lock()
	b.inside = false
	closedNow := b.closed && !closed
	b.mu.Unlock()
	if closedNow {
		e.stopAfterBody(nil)
	}
}

// failure gives a read error its place and its public type.
func (b *responseBody) failure(err error) error {
	e := b.exchange
	c := e.call
	if cause := e.ended(); cause != nil {
		err = cause
	} else if c.client.life.closed.Load() {
		err = &causeError{ErrClosed, err}
	}
	return &Error{Phase: PhaseBody, Host: hostPort(e.request), Addr: e.addr(), Err: translate(err)}
}

func (b *responseBody) Read(p []byte) (int, error) {
	if err := b.enter(); err != nil {
		return 0, err
	}
	n, err := b.exchange.codec.ReadBody(p)
	return n, b.leave(int64(n), err)
}

// WriteTo copies the body to w in large pieces, within the kernel where it can.
func (b *responseBody) WriteTo(w io.Writer) (int64, error) {
	if b.exchange.call.listener == nil {
		return b.writeRest(w)
	}
	first, err := b.writeFirst(w)
	if err != nil {
		if err == io.EOF {
			err = nil
		}
		return first, err
	}
	rest, err := b.writeRest(w)
	return first + rest, err
}

// writeFirst copies what comes first by itself, so that the body's start is
// reported then and not when all of it is copied.
func (b *responseBody) writeFirst(w io.Writer) (int64, error) {
	b.mu.Lock()
	started := b.started
	b.mu.Unlock()
	if started {
		return 0, nil
	}
	buf := make([]byte, 4<<10)
	n, err := b.Read(buf)
	if n == 0 {
		return 0, err
	}
	m, sinkErr := w.Write(buf[:n])
	switch {
	case sinkErr != nil:
		err = sinkErr
	case m < n:
		err = io.ErrShortWrite
	}
	return int64(m), err
}

func (b *responseBody) writeRest(w io.Writer) (written int64, err error) {
	limit := int64(-1)
	if b.exchange.call.listener != nil {
		limit = progressStep
	}
	for {
		if err := b.enter(); err != nil {
			if err == io.EOF {
				err = nil
			}
			return written, err
		}
		n, err := b.exchange.codec.WriteBodyTo(w, limit)
		written += n
		var fault *httpsem.SinkError
		if errors.As(err, &fault) {
			// The writer's fault: the body can be read on, as after a failed io.Copy.
			_ = b.leave(n, nil)
			return written, fault.Err
		}
		if err = b.leave(n, err); err != nil {
			if err == io.EOF {
				err = nil
			}
			return written, err
		}
	}
}

// Close lets go of the response. What little may be left of the body is read,
// so that the connection can be used again; otherwise the connection is closed.
func (b *responseBody) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	ended, inside := b.err != nil, b.inside
	start := !b.started && !inside
	b.started = b.started || start
	count := b.count
	b.mu.Unlock()
	e := b.exchange
	switch {
	case ended && inside: // it is being reported
		return nil
	case ended:
		e.stopAfterBody(nil)
		return nil
	case inside: // a reader is blocked: it reports the end when it comes back
		e.codec.Cancel()
		return nil
	}
	if start {
		emit(e.call, ResponseBodyStart{})
	}
	if cause := e.ended(); cause != nil { // a body that was cut off is no success
		e.failBody(b.failure(cause))
		return nil
	}
	var end error
	if !e.sendEnded() || e.call.Canceled() || !e.codec.Drain(drainBytes, drainTime) {
		end = errAbandoned
	}
	emit(e.call, ResponseBodyEnd{count})
	e.stopAfterBody(end)
	return nil
}

// stopAfterBody ends the response half, and an upload that still runs beside it.
func (e *exchange) stopAfterBody(end error) {
	if !e.sendEnded() {
		e.abandon()
		return
	}
	e.endRecv(end)
}

// failBody ends the exchange because the body could not be read.
func (e *exchange) failBody(err error) {
	c := e.call
	e.body.mu.Lock()
	count := e.body.count
	e.body.mu.Unlock()
	emit(c, ResponseFailed{Err: err, Bytes: count})
	c.mu.Lock()
	if c.failure == nil {
		c.failure = err
	}
	c.mu.Unlock()
	e.codec.Cancel()
	e.stopAfterBody(err)
}

// takeTrailer completes the response with what came after its body. Only the
// reader of the body calls it, so nobody else looks at the response meanwhile.
func (e *exchange) takeTrailer() {
	trailer := e.codec.Trailer()
	if len(trailer) == 0 {
		return
	}
	resp := &e.response
	if resp.Trailer == nil {
		resp.Trailer = make(http.Header, len(trailer))
	}
	for name, values := range trailer {
		resp.Trailer[name] = values
	}
	if c := e.call; c.door == wholeClient && e.cfg.jar != nil && len(trailer["Set-Cookie"]) > 0 {
		e.cfg.jar.SetCookies(e.request.URL, (&http.Response{Header: trailer}).Cookies())
	}
}

// closedBody stands for the body of a response that is only looked back at.
type closedBody struct{ info *Info }

func (closedBody) Read([]byte) (int, error) { return 0, errReadAfterClose }
func (closedBody) Close() error             { return nil }
