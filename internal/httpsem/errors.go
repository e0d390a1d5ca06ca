// Package httpsem holds what HTTP means regardless of the version on the wire:
// header tokens, method facts, limits, and the kinds of failure that a codec
// can report. It knows no socket and no client.
package httpsem

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// ProtocolError says that the peer sent something that HTTP forbids, or that
// passes one of our bounds. The connection on which it arrived is in doubt and
// must not carry another exchange.
type ProtocolError struct {
	Reason string // what was wrong, in words; never holds header values
	Err    error  // the cause, such as io.ErrUnexpectedEOF; may be nil
}

func (e *ProtocolError) Error() string {
	if e.Err != nil {
		return e.Reason + ": " + e.Err.Error()
	}
	return e.Reason
}

func (e *ProtocolError) Unwrap() error { return e.Err }

// RequestError says that the request as given cannot be put on the wire. It is
// reported before the first byte is sent.
type RequestError struct {
	Reason string // names the field; never holds its value
}

func (e *RequestError) Error() string { return e.Reason }

// BodyError says that the request body broke its promise: its reader failed, or
// it gave more or fewer bytes than the declared length. It is the caller's
// fault, so nothing is retried because of it.
type BodyError struct {
	Err error
}

func (e *BodyError) Error() string { return "request body: " + e.Err.Error() }
func (e *BodyError) Unwrap() error { return e.Err }

// SinkError says that the writer to which a response body was being copied has
// failed. The body itself is sound, and can be read on.
type SinkError struct {
	Err error
}

func (e *SinkError) Error() string { return e.Err.Error() }
func (e *SinkError) Unwrap() error { return e.Err }

// TimeoutOp names which of the client's timeouts ran out.
type TimeoutOp string

// The timeouts of one call.
const (
	TimeoutCall    TimeoutOp = "call"
	TimeoutConnect TimeoutOp = "connect"
	TimeoutTLS     TimeoutOp = "tls handshake"
	TimeoutRead    TimeoutOp = "read"
	TimeoutWrite   TimeoutOp = "write"
)

// TimeoutError is a timeout of the client. It satisfies net.Error, and
// errors.Is finds os.ErrDeadlineExceeded and context.DeadlineExceeded in it.
type TimeoutError struct {
	Op    TimeoutOp
	After time.Duration // the limit that was passed
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%s timeout after %v", string(e.Op), e.After)
}

// Timeout reports true, for net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// Temporary reports true, for net.Error.
func (e *TimeoutError) Temporary() bool { return true }

// Is makes every timeout match the two sentinels of the standard library.
func (e *TimeoutError) Is(target error) bool {
	return target == os.ErrDeadlineExceeded || target == context.DeadlineExceeded
}

// ErrWriteAborted is what a codec's write fails with after AbortWrite: the rest
// of the request is not wanted any more.
var ErrWriteAborted = errors.New("sending the request was given up")
