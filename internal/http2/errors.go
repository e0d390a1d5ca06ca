package http2

import (
	"errors"
	"io"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/http2/hpack"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// lostError marks an error as the socket's.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// hungUpError is the end of a connection without a word.
type hungUpError struct{}

func (hungUpError) Error() string { return "the peer has closed the connection" }
func (hungUpError) Unwrap() error { return io.ErrUnexpectedEOF }

var errHungUp error = hungUpError{}

// causeError is a failure that the peer has announced.
type causeError struct{ err, cause error }

func (e *causeError) Error() string   { return e.err.Error() + ": " + e.cause.Error() }
func (e *causeError) Unwrap() []error { return []error{e.err, e.cause} }

var (
	errCanceled  = errors.New("the stream was canceled")
	errNoStream  = errors.New("the stream was not begun")
	errExhausted = errors.New("the connection has no stream numbers left")
)

// streamError is a reset of a stream.
func streamError(code frame.ErrCode, remote bool) *httpsem.StreamError {
	return &httpsem.StreamError{Code: uint32(code), Name: code.String(), Remote: remote}
}

// connFault is an offence that ends the connection.
func connFault(code frame.ErrCode, reason string) error {
	return &frame.Error{Code: code, Reason: reason}
}

// malformed is an offence against HTTP within one stream (RFC 9113, 8.1.1).
func malformed(reason string) error { return &httpsem.ProtocolError{Reason: reason} }

// faultOf gives an offence its code, and what the calls are told.
func faultOf(err error) (frame.ErrCode, error) {
	var broken *frame.Error
	var compression *hpack.Error
	switch {
	case errors.As(err, &broken):
		return broken.Code, &httpsem.ProtocolError{Reason: broken.Reason + " (" + broken.Code.String() + ")"}
	case errors.As(err, &compression):
		return frame.CompressionError, &httpsem.ProtocolError{Reason: compression.Error()}
	}
	return frame.InternalError, err
}
