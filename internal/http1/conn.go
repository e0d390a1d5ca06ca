// Package http1 speaks HTTP/1.1 on a connection: bytes to requests and
// responses, and back. It knows no client, no pool and no server.
//
// Conn is the client's half. The functions whose names begin with Server are
// the half of mockwebserver.
package http1

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// Conn carries exchanges over one connection, one after the other. It holds no
// buffer and no goroutine between them.
//
// An exchange is reusable at its end if both halves are complete, both sides
// keep the connection alive, and nothing is left in doubt. Each half reports on
// its own, since they may run at the same time on two goroutines.
type Conn struct {
	conn net.Conn     // what HTTP is spoken on
	raw  net.Conn     // the socket below, to close
	tcp  *net.TCPConn // conn, if nothing lies between HTTP and the kernel

	tls bool // conn is TLS

	// files takes request bodies that are files: conn, if it can and nothing
	// changes the bytes below it. Of a TCP connection, or one around it, that is
	// the kernel.
	files io.ReaderFrom

	deadlines
	received atomic.Bool // a byte of a response was read
	sent     atomic.Bool // a byte of the request may have left
	canceled atomic.Bool

	late *late // a read that was begun before this exchange; nil as a rule

	*turn // between Begin and End only
}

// turn is the state of one exchange. It comes from a pool, because most
// connections are idle most of the time.
type turn struct {
	options httpsem.ExchangeOptions

	// The sending half: one goroutine from WriteHead to the end of WriteBody or
	// Flush.
	out      *[]byte // what is encoded and not yet sent
	sendDone bool    // the request is complete on the wire
	sendErr  error   // why it never will be
	bodyDue  bool    // the head announced a body
	tunnel   bool    // the body goes out without framing: a CONNECT
	reqClose bool    // the request asks to close the connection

	// The receiving half: one goroutine from AwaitHead to the end of the body.
	in        input
	response  response
	headSpare int64 // bytes that heads and trailers may still have
	interim   int   // 1xx responses so far
}

var turns = sync.Pool{New: func() any { return new(turn) }}

// canPeek: an idle TCP connection is looked at without a read.
const canPeek = runtime.GOOS != "windows" && runtime.GOOS != "plan9" && runtime.GOOS != "js" && runtime.GOOS != "wasip1"

// NewConn returns the codec of a connection. conn is what HTTP is spoken on, a
// TLS connection perhaps, and raw the socket below it, or the same.
func NewConn(conn, raw net.Conn) *Conn {
	c := new(Conn)
	c.Open(conn, raw)
	return c
}

// Open makes a zero Conn the codec of a connection, see NewConn. It is for
// those who have a Conn within a structure of their own.
func (c *Conn) Open(conn, raw net.Conn) {
	c.conn, c.raw = conn, raw
	c.tcp, _ = conn.(*net.TCPConn)
	if _, c.tls = conn.(*tls.Conn); !c.tls {
		c.files, _ = conn.(io.ReaderFrom)
	}
	c.deadlines.conn, c.deadlines.origin = conn, time.Now()
	c.deadlines.exact = c.tcp == nil // who knows what it does after a timeout
	_, socket := raw.(*net.TCPConn)
	c.deadlines.probed = !socket || !canPeek
}

// Begin readies the connection for an exchange.
func (c *Conn) Begin(o httpsem.ExchangeOptions) {
	if c.turn == nil {
		c.turn = turns.Get().(*turn)
	}
	*c.turn = turn{options: o}
	c.in.conn = c
	c.deadlines.begin(o)
	c.received.Store(false)
	c.sent.Store(false)
	c.headSpare = c.maxHead()
}

// maxHead bounds the bytes of all heads and trailers of the exchange.
func (c *Conn) maxHead() int64 {
	if c.options.MaxHead <= 0 {
		return httpsem.DefaultMaxHead
	}
	return c.options.MaxHead
}

// Sent reports whether any byte of this exchange may have left.
func (c *Conn) Sent() bool { return c.sent.Load() }

// Received reports whether any byte of a response was read.
func (c *Conn) Received() bool { return c.received.Load() }

// HoldReadTimeout suspends the read timeout until StartReadTimeout.
func (c *Conn) HoldReadTimeout() { c.deadlines.holdRead() }

// StartReadTimeout lets the read timeout count from now on, for a read that is
// blocked as well.
func (c *Conn) StartReadTimeout() { c.deadlines.startRead() }

// AbortWrite makes a blocked or later write fail at once.
func (c *Conn) AbortWrite() { c.deadlines.abortWrite() }

// Cancel ends the exchange at once by closing the socket. It goes past TLS,
// whose Close would write and could block.
func (c *Conn) Cancel() {
	c.canceled.Store(true)
	_ = c.raw.Close() // it is given up: there is nobody to tell
}

// End ends the exchange and gives the buffers back. The connection may carry
// another one if reusable; reason says why not.
func (c *Conn) End() (reusable bool, reason string) {
	reason = c.doubt()
	c.freeOut()
	c.in.free()
	t := c.turn
	c.turn = nil
	*t = turn{} // so that the pool keeps nothing alive
	turns.Put(t)
	return reason == "", reason
}

// doubt returns why the connection cannot carry another exchange, or "".
func (c *Conn) doubt() string {
	r := &c.response
	switch {
	case c.canceled.Load():
		return "canceled"
	case c.sendErr != nil:
		return "the request could not be sent"
	case !c.sendDone:
		return "the request was not sent to its end"
	case r.err != nil:
		return "the response could not be read"
	case r.state == beforeHead:
		return "there was no final response"
	case r.state == switched:
		return "the protocol was switched"
	case r.state == untilClose || r.endedByClose:
		return "the response ends with the connection"
	case r.state != complete:
		return "the response body was not read to its end"
	case c.reqClose:
		return "the request said Connection: close"
	case r.faulty != "":
		return r.faulty
	case r.closes:
		return "the response does not keep the connection alive"
	case len(c.in.buffered()) > 0 || c.in.err != nil:
		return "the peer sent more than the response"
	}
	return ""
}

// Hijack ends HTTP on the connection, after a 101 response or a tunnel's 2xx.
// It returns the connection, without deadlines, and what was read ahead.
func (c *Conn) Hijack() (conn net.Conn, readAhead []byte) {
	if b := c.in.buffered(); len(b) > 0 {
		readAhead = append([]byte(nil), b...)
	}
	c.in.r = c.in.w
	c.response.state = switched
	c.deadlines.clear()
	return c.conn, readAhead
}

// readSocket is the one place where the socket is read into memory.
func (c *Conn) readSocket(p []byte) (int, error) {
	c.beforeRead()
	var n int
	var err error
	if l := c.late; l != nil {
		c.late = nil
		n, err = l.take(p)
		if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			n, err = c.conn.Read(p) // that was the deadline of the question, see Idle
		}
	} else {
		n, err = c.conn.Read(p)
	}
	for n == 0 && err != nil && c.resumeRead(err) {
		n, err = c.conn.Read(p)
	}
	if n > 0 && !c.received.Load() {
		c.received.Store(true)
	}
	if err != nil {
		err = c.readError(err)
	}
	return n, err
}

// writeSocket is the one place where memory is written to the socket.
func (c *Conn) writeSocket(p []byte) (int, error) {
	if err := c.beforeWrite(); err != nil {
		c.sendErr = err
		return 0, err
	}
	first := !c.sent.Swap(true)
	n, err := c.conn.Write(p)
	for m := n; err != nil && (c.resumeWrite(err) || m > 0 && c.renewWrite(err)); n += m {
		m, err = c.conn.Write(p[n:])
	}
	if err != nil {
		if first && n == 0 && !c.tls {
			// Nothing was taken, so nothing can have arrived. Through TLS a zero does
			// not mean that.
			c.sent.Store(false)
		}
		err = c.writeError(err)
		c.sendErr = err
	}
	return n, err
}

// renewWrite reports whether a write that ran into its timeout after it had got
// some bytes out may go on for another: the peer is slow, not stuck. Only the
// kernel knows for certain how many those were.
func (c *Conn) renewWrite(err error) bool {
	return c.tcp != nil && errors.Is(err, os.ErrDeadlineExceeded) && c.beforeWrite() == nil
}

// output returns the write buffer, taking one if there is none.
func (c *Conn) output() *[]byte {
	if c.out == nil {
		c.out = outputs.Get().(*[]byte)
	}
	return c.out
}

func (c *Conn) freeOut() {
	if c.out != nil {
		freeOutput(c.out)
		c.out = nil
	}
}

// noBody reports whether a response to that method never has a body.
func noBody(method string) bool { return method == http.MethodHead }
