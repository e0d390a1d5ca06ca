package okhttp

import (
	"errors"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// HTTP2Code is an error code of HTTP/2 (RFC 9113 section 7).
type HTTP2Code uint32

// The codes that tell something about a request.
const (
	CodeNoError         HTTP2Code = httpsem.CodeNoError
	CodeRefusedStream   HTTP2Code = httpsem.CodeRefusedStream
	CodeCancel          HTTP2Code = httpsem.CodeCancel
	CodeEnhanceYourCalm HTTP2Code = httpsem.CodeEnhanceYourCalm
	CodeHTTP11Required  HTTP2Code = httpsem.CodeHTTP11Required
)

// StreamError says that an exchange over HTTP/2 was ended by a reset of its
// stream (RFC 9113 section 6.4). Other exchanges on the connection go on.
type StreamError struct {
	Code  HTTP2Code
	cause *httpsem.StreamError
}

// Error names the code, and who has reset the stream.
func (e *StreamError) Error() string { return e.cause.Error() }

// Remote reports whether the server has reset the stream, not the client.
func (e *StreamError) Remote() bool { return e.cause.Remote }

// GoAwayError says that the server has given up the HTTP/2 connection of an
// exchange (RFC 9113 section 6.8).
type GoAwayError struct {
	Code  HTTP2Code
	cause *httpsem.GoAwayError
	whole error // what it is a part of, such as the end of the connection that followed
}

// Error names the code, and quotes what the server says about it.
func (e *GoAwayError) Error() string { return e.whole.Error() }

// Unwrap returns what happened to the connection after the announcement, if anything.
func (e *GoAwayError) Unwrap() error {
	if e.whole == error(e.cause) {
		return nil
	}
	return e.whole
}

// LastStreamID is the last stream of the client's that the server may have processed.
func (e *GoAwayError) LastStreamID() uint32 { return e.cause.LastStreamID }

// Debug is what the server says about it: printable, and at most 256 bytes.
func (e *GoAwayError) Debug() string { return e.cause.Debug }

// LivenessError says that an HTTP/2 connection was abandoned because its peer did
// not answer a ping (RFC 9113 section 6.7). Whether it has processed the request
// is not known. It is not a timeout of the call.
type LivenessError struct{ cause *httpsem.LivenessError }

func (e *LivenessError) Error() string { return e.cause.Error() }

// After is how long the answer was waited for.
func (e *LivenessError) After() time.Duration { return e.cause.After }

// translateHTTP2 gives errors of HTTP/2 their public types, nil to others.
func translateHTTP2(err error) error {
	var stream *httpsem.StreamError
	var away *httpsem.GoAwayError
	var dead *httpsem.LivenessError
	switch {
	case errors.As(err, &stream):
		return &StreamError{Code: HTTP2Code(stream.Code), cause: stream}
	case errors.As(err, &away):
		return &GoAwayError{Code: HTTP2Code(away.Code), cause: away, whole: err}
	case errors.As(err, &dead):
		return &LivenessError{cause: dead}
	}
	return nil
}
