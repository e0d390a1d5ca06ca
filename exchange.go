package okhttp

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/okhttp-go/okhttp/internal/connect"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// exchange is one request and its response on one connection.
//
// Its two halves end on their own: the request may outlive the response head,
// and on a failure one half tells more than the other. Each half is a field
// that is nil while it is open, errDone when it ended well, and else why it
// failed. When neither is nil the exchange is over, once.
type exchange struct {
	call    *Call
	conn    *connect.Conn
	codec   connect.Codec
	cfg     *settings
	reused  bool // the connection had been used before
	hasBody bool // the response promises one; owned as what follows
	over    bool // the codec was ended, or given up; guarded by mu

	// Owned by the goroutine that runs the chain until the response is handed out.
	request    *http.Request
	response   http.Response
	compressed *http.Response // response before it was decompressed; nil if it was not
	prior      *http.Response // the response that this exchange follows
	head       *sentRequest   // for listeners; nil where nobody listens
	attempt    *attempt       // nil as a rule
	upload     *upload        // the request body on its own goroutine; nil if it was sent inline
	body       responseBody
	sent       time.Time
	received   time.Duration // of the first head, since sent; zero before

	mu         sync.Mutex // a leaf
	send, recv error
}

// errDone marks a half of an exchange that ended well.
var errDone = errors.New("done")

// exchangeError is a failure of an exchange, with what retrying depends on.
type exchangeError struct {
	exchange       *exchange
	err            error
	also           error // that of the other half
	sent, received bool  // bytes of the request may have left; bytes of a response came
}

func (e *exchangeError) Error() string { return e.err.Error() }
func (e *exchangeError) Unwrap() error { return e.err }

// newExchange begins an exchange on a connection, which the call holds from now on.
func (c *Call) newExchange(cfg *settings, conn *connect.Conn, reused bool, extra *[3]httpsem.Field) *exchange {
	e := &c.first
	if e.call != nil { // in use by an earlier hop, whose response may still be looked at
		e = new(exchange)
	}
	e.call, e.conn, e.codec, e.cfg, e.reused = c, conn, conn.NewCodec(), cfg, reused
	e.prior = c.prior
	if c.listener != nil {
		e.head = &sentRequest{extra: *extra}
	}
	e.body.exchange = e
	e.codec.Begin(connect.ExchangeOptions{
		ReadTimeout: cfg.readTimeout, WriteTimeout: cfg.writeTimeout,
		MaxHead: cfg.maxHead, HeaderOrder: cfg.headerOrder,
		Extra: *extra, Checked: len(c.cfg.networkInterceptors) == 0,
	})
	c.mu.Lock()
	acquired := c.conn == nil
	c.conn = conn
	if c.cause != nil { // canceled while it waited for the connection
		e.codec.Cancel()
	}
	c.exchange, c.reusable, c.reason = e, false, "exchange in progress"
	c.mu.Unlock()
	if acquired {
		emit(c, ConnectionAcquired{Connection{conn}, reused})
	}
	if c.attempt != nil {
		e.watch(c.attempt)
	}
	return e
}

func (c *Call) openExchange() *exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exchange
}

// addr is the peer's address. Of a connection that a dialer made it is asked only
// where that is a socket: others may have none.
func (e *exchange) addr() string {
	if a := e.conn.Route().Addr; a.IsValid() {
		return a.String()
	}
	switch c := e.conn.Link().Raw.(type) {
	case *net.TCPConn, *net.UnixConn:
		return addrString(c.RemoteAddr())
	}
	return ""
}

func addrString(a net.Addr) string {
	if a == nil {
		return ""
	}
	return a.String()
}

// fail makes the error of an exchange whose other half may have failed too.
func (e *exchange) fail(err, also error) *exchangeError {
	return &exchangeError{exchange: e, err: err, also: also, sent: e.codec.Sent(), received: e.codec.Received()}
}

// endSend ends the request half; nil means well.
func (e *exchange) endSend(err error) { e.endHalf(&e.send, err) }

// endRecv ends the response half; nil means well.
func (e *exchange) endRecv(err error) { e.endHalf(&e.recv, err) }

func (e *exchange) endHalf(half *error, err error) {
	if err == nil {
		err = errDone
	}
	e.mu.Lock()
	if *half == nil {
		*half = err
	}
	end := e.send != nil && e.recv != nil && !e.over
	if end {
		e.over = true
	}
	well := e.send == errDone && e.recv == errDone
	e.mu.Unlock()
	if !end {
		return
	}
	if e.upload.stuck() && !e.shared() {
		e.detach(false, "the reader of the request body does not come back")
		return
	}
	reusable, reason := e.codec.End()
	if well {
		e.conn.MarkServed()
	} else if reusable && !e.shared() {
		reusable, reason = false, "exchange failed"
	}
	e.detach(reusable, reason)
}

// shared reports whether the connection may carry other exchanges at the same
// time. What becomes of it after a failed exchange is then for its codec to say.
func (e *exchange) shared() bool { return isShared(e.conn) }

func isShared(c *connect.Conn) bool { return c.Multiplexed() }

// detach tells the call that the exchange is over.
func (e *exchange) detach(reusable bool, reason string) {
	c := e.call
	e.unwatch()
	c.mu.Lock()
	if c.exchange == e {
		c.exchange = nil
		c.reusable, c.reason = reusable, reason
	}
	c.settleAndUnlock()
}

// abandon ends the exchange at once, whatever is open, and closes its
// connection. When it returns nothing uses the request body any more, unless
// its reader stays in Read although it was closed.
func (e *exchange) abandon() {
	e.mu.Lock()
	if e.over {
		e.mu.Unlock()
		return
	}
	e.mu.Unlock()
	e.codec.Cancel()
	e.awaitUpload()
	e.stopUpload()
	e.giveUp()
}

// giveUp ends an exchange of which a half may be stuck in a reader that ignores
// Close. An HTTP/1 codec is not ended then: its connection is never used again,
// so nothing is lost but its buffers.
func (e *exchange) giveUp() {
	e.mu.Lock()
	if e.over {
		e.mu.Unlock()
		return
	}
	e.over = true
	if e.send == nil {
		e.send = errAbandoned
	}
	if e.recv == nil {
		e.recv = errAbandoned
	}
	e.mu.Unlock()
	if e.shared() { // a stream may be ended while somebody is stuck in it
		e.codec.Cancel()
		e.detach(e.codec.End())
		return
	}
	e.detach(false, "exchange abandoned")
}

var errAbandoned = errors.New("exchange was abandoned")

// sendEnded reports whether the request half is over.
func (e *exchange) sendEnded() bool { return e.sendResult() != nil }

// sendResult is how the request half ended, nil while it is open.
func (e *exchange) sendResult() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.send
}
