package connect

import (
	"io"
	"net"
	"net/http"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// ExchangeOptions are what one exchange asks of a codec.
type ExchangeOptions = httpsem.ExchangeOptions

// Codec speaks one exchange on a connection: bytes to one request and response.
//
// The life of an exchange:
//
//  1. Begin.
//  2. WriteHead; then WriteBody if the request has a body; else Flush.
//  3. ReadHead until a final status (1xx responses come one by one).
//  4. ReadBody or WriteBodyTo until io.EOF, or Drain.
//  5. End, which says whether the connection may carry another exchange.
//
// Two goroutines may work at once: one in step 2, one in steps 3 and 4. Cancel,
// AbortWrite and StartReadTimeout may be called from any goroutine between
// Begin and End. Begin and End must be called when nobody is in another method.
// A request body's failure is an *httpsem.BodyError, the peer's an
// *httpsem.ProtocolError, a timeout an *httpsem.TimeoutError; all else is the
// socket's.
type Codec interface {
	// Begin readies the codec for an exchange. It does no I/O.
	Begin(ExchangeOptions)

	// WriteHead encodes the request line and headers into the write buffer,
	// without sending them. contentLength is -1 for a body of unknown length,
	// 0 for none. It fails with *httpsem.RequestError, and sends nothing, if a
	// header cannot be written safely.
	WriteHead(req *http.Request, contentLength int64) error

	// WriteBody sends the head, if it is still buffered, and the body, then
	// flushes. A body that is known to be small goes out with the head in one
	// write when inline is true; otherwise the head is flushed first and each
	// read of the body is sent at once. trailer is read after body's EOF.
	// It returns the number of body bytes handed to the socket.
	WriteBody(body io.Reader, contentLength int64, inline bool, trailer http.Header) (int64, error)

	// Flush sends what is buffered.
	Flush() error

	// Sent reports whether any byte of this exchange may have left.
	Sent() bool

	// Received reports whether any byte of a response was read in this exchange.
	Received() bool

	// AwaitHead waits at most d for the first byte of a response. It reports
	// false, without error, when d passed in silence.
	AwaitHead(d time.Duration) (bool, error)

	// ReadHead reads the next response head into resp: status, protocol,
	// headers, ContentLength, TransferEncoding, Close, Uncompressed=false and
	// the announced Trailer keys. resp.Body is left alone.
	ReadHead(req *http.Request, resp *http.Response) error

	// BodyLength returns the number of body bytes still to come, or -1 if that
	// is unknown, after a final head. Zero means that there is no body at all
	// or that it is complete.
	BodyLength() int64

	// ReadBody reads the response body. At its end it returns io.EOF, possibly
	// together with the last bytes.
	ReadBody(p []byte) (int, error)

	// WriteBodyTo copies the response body to w, at most limit bytes of it if
	// that is not negative, by splice where the kernel can. It returns io.EOF if
	// that was the end of the body. If it is w that fails, the error is an
	// *httpsem.SinkError and the body can be read on.
	WriteBodyTo(w io.Writer, limit int64) (int64, error)

	// Trailer returns the trailers after the body's EOF; nil if there were none.
	Trailer() http.Header

	// Drain reads and drops the rest of the body, at most limit bytes within d,
	// and reports whether it reached the end.
	Drain(limit int64, d time.Duration) bool

	// StartReadTimeout arms the read timeout of a read that is already blocked
	// or will come: reads wait without limit until the request is fully sent,
	// if Begin was followed by HoldReadTimeout.
	StartReadTimeout()

	// HoldReadTimeout suspends the read timeout until StartReadTimeout.
	HoldReadTimeout()

	// AbortWrite makes a blocked or later write fail at once.
	AbortWrite()

	// Cancel ends the exchange at once, whatever is blocked: HTTP/1 closes the
	// raw socket.
	Cancel()

	// End ends the exchange, gives the buffers back, and reports whether the
	// connection may carry another; reason says why not.
	End() (reusable bool, reason string)

	// Hijack ends HTTP on the connection after a 101 response and returns the
	// socket with the bytes that were read ahead.
	Hijack() (conn net.Conn, readAhead []byte)
}
