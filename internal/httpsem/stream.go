package httpsem

import (
	"fmt"
	"strconv"
	"time"
)

// StreamError says that one stream of a connection was reset, while the others
// go on (RFC 9113, 5.4.2).
type StreamError struct {
	Code   uint32 // of RST_STREAM
	Name   string // of the code in RFC 9113, such as "CANCEL"
	Remote bool   // the peer has reset it
}

// The codes that decide what becomes of a request (RFC 9113, 7).
const (
	CodeNoError         = 0x0
	CodeRefusedStream   = 0x7
	CodeCancel          = 0x8
	CodeEnhanceYourCalm = 0xb
	CodeHTTP11Required  = 0xd
)

func (e *StreamError) Error() string {
	if e.Remote {
		return "stream was reset by the peer: " + e.Name
	}
	return "stream was reset: " + e.Name
}

// Refused reports whether the peer says that it has not looked at the request
// (RFC 9113, 8.7).
func (e *StreamError) Refused() bool { return e.Remote && e.Code == CodeRefusedStream }

// GoAwayError says that the peer has given the connection up (RFC 9113, 6.8).
type GoAwayError struct {
	Code         uint32 // of GOAWAY
	Name         string // of the code in RFC 9113
	LastStreamID uint32 // the last of our streams that the peer may have processed
	Debug        string // what the peer says about it; printable, and at most 256 bytes
}

func (e *GoAwayError) Error() string {
	if e.Debug == "" {
		return "peer is going away: " + e.Name
	}
	return "peer is going away: " + e.Name + " " + strconv.Quote(e.Debug)
}

// UnprocessedError is a failure of a request that the peer has certainly not
// acted on, so that it may be sent again whatever its method.
type UnprocessedError struct{ Err error }

func (e *UnprocessedError) Error() string { return "request was not processed: " + e.Err.Error() }
func (e *UnprocessedError) Unwrap() error { return e.Err }

// LivenessError says that the peer of a connection has fallen silent: it did not
// answer a ping. Whether it has processed a request is not known. It is no
// timeout of the call.
type LivenessError struct {
	After time.Duration // how long the answer was waited for
}

func (e *LivenessError) Error() string {
	return fmt.Sprintf("connection is dead: no answer to a ping within %v", e.After)
}
