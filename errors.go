package okhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/okhttp-go/okhttp/internal/connect"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// Sentinels that errors.Is finds in an [*Error].
var (
	// ErrClosed is why a call fails whose client was closed. It is a net.ErrClosed.
	ErrClosed error = &closedError{}

	// ErrAlreadyExecuted is what a Call returns on its second use. Clone it instead.
	ErrAlreadyExecuted = errors.New("call was already executed")

	// ErrTooManyFollowUps is why a call fails at its 21st redirect, challenge or repeat.
	ErrTooManyFollowUps = errors.New("too many follow-up requests")

	// ErrOutcomeUnknown is in the error of a call whose request was sent on a
	// connection that then broke without a response byte, where it was not safe
	// to repeat it: the server may or may not have processed it. Mark a
	// request that may be repeated with an Idempotency-Key header or [WithIdempotent].
	ErrOutcomeUnknown = errors.New("unknown whether the server processed the request")

	// ErrCallTimeout, ErrConnectTimeout, ErrReadTimeout and ErrWriteTimeout tell
	// the client's timeouts apart; each is in a [*TimeoutError].
	ErrCallTimeout    = errors.New("call timeout")
	ErrConnectTimeout = errors.New("connect timeout")
	ErrReadTimeout    = errors.New("read timeout")
	ErrWriteTimeout   = errors.New("write timeout")
)

type closedError struct{}

func (*closedError) Error() string        { return "client is closed" }
func (*closedError) Is(target error) bool { return target == net.ErrClosed }

// Phase names the part of a call in which it failed.
type Phase string

// The phases of a call, in their order.
const (
	PhaseQueue    Phase = "queue"    // waiting in the dispatcher
	PhaseRequest  Phase = "request"  // checking the request; nothing was sent
	PhaseDNS      Phase = "dns"      // resolving the host
	PhaseConnect  Phase = "connect"  // opening a socket, or waiting for a connection
	PhaseTLS      Phase = "tls"      // the TLS handshake
	PhaseSend     Phase = "send"     // sending the request
	PhaseReceive  Phase = "receive"  // waiting for the response head, or reading it
	PhaseBody     Phase = "body"     // reading the response body
	PhaseFollowUp Phase = "followup" // following a redirect or challenge
)

// Error is the error of a call. It says where the call failed; what it wraps
// says why. It never holds a query, a header value or a body.
type Error struct {
	Phase Phase  // where the call was
	Host  string // host:port of the origin
	Addr  string // the peer's address, where a connection existed
	Err   error  // the cause

	// Prior holds the failures of other attempts of the same call: exchanges that
	// were retried, and other addresses that could not be reached either.
	Prior []error

	safe bool
}

// Error gives one line: "okhttp: receive: example.com:443 (192.0.2.1:443): …".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("okhttp: ")
	b.WriteString(string(e.Phase))
	b.WriteString(": ")
	if e.Host != "" {
		b.WriteString(e.Host)
		if e.Addr != "" && e.Addr != e.Host {
			b.WriteString(" (" + e.Addr + ")")
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether a timeout was the cause; with Temporary it makes an
// *Error a net.Error.
func (e *Error) Timeout() bool { return isTimeout(e.Err) }

// Temporary reports the same as Timeout.
func (e *Error) Temporary() bool { return e.Timeout() }

// SafeToRetry reports whether the request of a failed call cannot have been
// processed by the server: nothing of it was sent, so that another attempt
// cannot do anything twice. It says nothing of whether that attempt would
// succeed: it is also true of a host that does not exist. It is false for nil
// and for errors of others.
func SafeToRetry(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.safe
}

// TimeoutError is one of the client's timeouts running out. It satisfies
// net.Error; errors.Is finds os.ErrDeadlineExceeded, context.DeadlineExceeded
// and the sentinel of the timeout (such as [ErrReadTimeout]) in it.
type TimeoutError struct {
	timeout error // the sentinel
	cause   *httpsem.TimeoutError
}

func (e *TimeoutError) Error() string { return e.cause.Error() }

// Op names the timeout: "call", "connect", "tls handshake", "read" or "write".
// A deadline of the request's context is none of these: it is a plain
// context.DeadlineExceeded.
func (e *TimeoutError) Op() string { return string(e.cause.Op) }

// Timeout reports true.
func (e *TimeoutError) Timeout() bool { return true }

// Temporary reports true.
func (e *TimeoutError) Temporary() bool { return true }

// Is finds the sentinel of the timeout.
func (e *TimeoutError) Is(target error) bool { return target == e.timeout }

func (e *TimeoutError) Unwrap() error { return e.cause }

// ProtocolError says that the server broke the rules of HTTP, or passed one of
// the client's bounds. The connection was closed.
type ProtocolError struct{ cause *httpsem.ProtocolError }

func (e *ProtocolError) Error() string { return e.cause.Error() }
func (e *ProtocolError) Unwrap() error { return e.cause.Err }

// BodyError says that the request's body failed: reading it gave an error, or
// more or fewer bytes than its ContentLength.
type BodyError struct{ cause *httpsem.BodyError }

func (e *BodyError) Error() string { return e.cause.Error() }
func (e *BodyError) Unwrap() error { return e.cause.Err }

// RequestError says that the request cannot be sent as it is. Nothing was sent.
type RequestError struct{ reason string }

func (e *RequestError) Error() string { return e.reason }

// InterceptorError says that an interceptor broke the rules of its chain.
type InterceptorError struct {
	Interceptor string // its type, such as "auth.Signer"
	Reason      string
}

func (e *InterceptorError) Error() string { return "interceptor " + e.Interceptor + " " + e.Reason }

// translate gives the errors of the lower storeys their public types.
func translate(err error) error {
	switch e := err.(type) {
	case *httpsem.TimeoutError:
		return &TimeoutError{timeout: timeoutSentinel(e.Op), cause: e}
	case *httpsem.ProtocolError:
		return &ProtocolError{cause: e}
	case *httpsem.BodyError:
		return &BodyError{cause: e}
	case *httpsem.RequestError:
		return &RequestError{reason: e.Reason}
	case *httpsem.UnprocessedError:
		return translate(e.Err)
	}
	if known := translateHTTP2(err); known != nil {
		return known
	}
	if err == connect.ErrPoolClosed {
		return ErrClosed
	}
	return err
}

func timeoutSentinel(op httpsem.TimeoutOp) error {
	switch op {
	case httpsem.TimeoutCall:
		return ErrCallTimeout
	case httpsem.TimeoutConnect, httpsem.TimeoutTLS:
		return ErrConnectTimeout
	case httpsem.TimeoutWrite:
		return ErrWriteTimeout
	default:
		return ErrReadTimeout
	}
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// hostPort names the origin of a request in errors.
func hostPort(req *http.Request) string {
	if req == nil || req.URL == nil {
		return ""
	}
	if req.URL.Port() != "" {
		return req.URL.Host
	}
	switch req.URL.Scheme {
	case "http":
		return net.JoinHostPort(req.URL.Hostname(), "80")
	case "https":
		return net.JoinHostPort(req.URL.Hostname(), "443")
	}
	return req.URL.Host
}
