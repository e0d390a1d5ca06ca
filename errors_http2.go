package okhttp

import (
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// StreamError says that the HTTP/2 stream of a call was reset, by the server or
// for what the server did. Other calls on the connection go on (RFC 9113 section
// 5.4.2).
type StreamError struct{ cause *httpsem.StreamError }

func (e *StreamError) Error() string { return e.cause.Error() }

// Code is the error code of RFC 9113 section 7, such as 7 for REFUSED_STREAM.
// The error's text has its name.
func (e *StreamError) Code() uint32 { return e.cause.Code }

// Remote reports whether it was the server that reset the stream.
func (e *StreamError) Remote() bool { return e.cause.Remote }

// GoAwayError says that the server has given an HTTP/2 connection up before a
// call on it was done (RFC 9113 section 6.8).
type GoAwayError struct{ cause *httpsem.GoAwayError }

func (e *GoAwayError) Error() string { return e.cause.Error() }

// Code is the error code of RFC 9113 section 7, 0 where nothing was wrong. The
// error's text has its name.
func (e *GoAwayError) Code() uint32 { return e.cause.Code }

// Debug is what the server says about it: printable, and at most 256 bytes.
func (e *GoAwayError) Debug() string { return e.cause.Debug }

// LivenessError says that an HTTP/2 connection was found dead while a call waited:
// the server, or what lies between, did not answer a PING. It is no timeout of the
// call, and Timeout is false.
type LivenessError struct{ cause *httpsem.LivenessError }

func (e *LivenessError) Error() string { return e.cause.Error() }

// After is how long the answer was waited for.
func (e *LivenessError) After() time.Duration { return e.cause.After }

// Timeout reports false: the call itself still had time.
func (e *LivenessError) Timeout() bool { return false }
