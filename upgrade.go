package okhttp

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// upgrade gives the socket to the caller after a 101 response, through the
// response's body, as net/http does. HTTP's timeouts end here, and the call
// timeout; the call ends when the body is closed.
func (e *exchange) upgrade(resp *http.Response) {
	c := e.call
	conn, ahead := e.codec.Hijack()
	conn.SetDeadline(time.Time{})
	e.conn.Detach("upgraded to another protocol")
	if c.timer != nil {
		c.timer.Stop()
	}
	resp.Body = &upgradedBody{exchange: e, conn: conn, ahead: ahead}
}

// asksUpgrade reports whether a 101 can be the answer to a request. One that
// nobody asked for is a response without a body, and its connection is closed:
// its reader expects no socket, and would wait on it without any timeout.
func asksUpgrade(req *http.Request) bool {
	for name, values := range req.Header {
		if len(values) > 0 && strings.EqualFold(name, "Upgrade") {
			return true
		}
	}
	return false
}

// upgradedBody is the socket behind a 101 response: an io.ReadWriteCloser. Reads
// and writes may run at the same time.
type upgradedBody struct {
	exchange *exchange
	conn     net.Conn
	ahead    []byte // read before the upgrade; owned by the reader

	mu          sync.Mutex
	readStarted bool
	sentStarted bool
	closed      bool
	read, sent  int64
}

var _ io.ReadWriteCloser = (*upgradedBody)(nil)

func (b *upgradedBody) Read(p []byte) (int, error) {
	b.begin(&b.readStarted, ResponseBodyStart{})
	n, err := b.receive(p)
	b.count(&b.read, n)
	return n, b.fault(err)
}

func (b *upgradedBody) receive(p []byte) (int, error) {
	if len(b.ahead) > 0 {
		n := copy(p, b.ahead)
		b.ahead = b.ahead[n:]
		return n, nil
	}
	return b.conn.Read(p)
}

func (b *upgradedBody) Write(p []byte) (int, error) {
	b.begin(&b.sentStarted, RequestBodyStart{})
	n, err := b.conn.Write(p)
	b.count(&b.sent, n)
	return n, b.fault(err)
}

// CloseWrite ends the sending side, where the connection can do that.
func (b *upgradedBody) CloseWrite() error {
	if half, ok := b.conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errNoHalfClose
}

var errNoHalfClose = &Error{Phase: PhaseBody, Err: errors.ErrUnsupported}

// fault gives an error of a canceled call its reason.
func (b *upgradedBody) fault(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if cause := b.exchange.call.canceledErr(); cause != nil {
		return b.exchange.body.failure(err)
	}
	return err
}

func (b *upgradedBody) begin(started *bool, event Event) {
	b.mu.Lock()
	first := !*started && !b.closed
	*started = *started || first
	b.mu.Unlock()
	if first && b.exchange.call.listener != nil {
		b.exchange.call.listener.OnEvent(b.exchange.call, event)
	}
}

func (b *upgradedBody) count(total *int64, n int) {
	b.mu.Lock()
	*total += int64(n)
	b.mu.Unlock()
}

// Close closes the socket and ends the call.
func (b *upgradedBody) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	readStarted, sentStarted, read, sent := b.readStarted, b.sentStarted, b.read, b.sent
	b.mu.Unlock()
	e := b.exchange
	err := e.conn.Link().Close()
	if readStarted {
		emit(e.call, ResponseBodyEnd{read})
	}
	if sentStarted {
		emit(e.call, RequestBodyEnd{sent})
	}
	e.giveUp()
	return err
}
