package mockwebserver

import (
	"fmt"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
)

// ErrorCode is the code of an HTTP/2 RST_STREAM or GOAWAY frame (RFC 9113,
// section 7). Any number can be sent, also one that is not listed here.
type ErrorCode uint32

// The codes of RFC 9113.
const (
	CodeNoError            ErrorCode = 0x0
	CodeProtocolError      ErrorCode = 0x1
	CodeInternalError      ErrorCode = 0x2
	CodeFlowControlError   ErrorCode = 0x3
	CodeSettingsTimeout    ErrorCode = 0x4
	CodeStreamClosed       ErrorCode = 0x5
	CodeFrameSizeError     ErrorCode = 0x6
	CodeRefusedStream      ErrorCode = 0x7
	CodeCancel             ErrorCode = 0x8
	CodeCompressionError   ErrorCode = 0x9
	CodeConnectError       ErrorCode = 0xa
	CodeEnhanceYourCalm    ErrorCode = 0xb
	CodeInadequateSecurity ErrorCode = 0xc
	CodeHTTP11Required     ErrorCode = 0xd
)

// String returns the code's name in the RFC, such as "REFUSED_STREAM".
func (c ErrorCode) String() string { return frame.ErrCode(c).String() }

// HTTP2Error is the end of an HTTP/2 stream or connection before its time. It is
// the Failure of a request whose stream the client reset, or whose connection
// failed, and the Err of a ConnectionEvent.
type HTTP2Error struct {
	Code     ErrorCode
	StreamID uint32 // 0: the error is of the connection
	Remote   bool   // the client sent the code; otherwise it did what made the server send it
	Reason   string // what was wrong, or the client's debug data, shortened
}

func (e *HTTP2Error) Error() string {
	what := "the connection"
	if e.StreamID != 0 {
		what = fmt.Sprintf("stream %d", e.StreamID)
	}
	by := "the server"
	if e.Remote {
		by = "the client"
	}
	text := fmt.Sprintf("mockwebserver: %s ended %s: %v", by, what, e.Code)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// http2Error makes an error of the codec one of this package.
func http2Error(e *frame.Error) *HTTP2Error {
	return &HTTP2Error{Code: ErrorCode(e.Code), StreamID: e.StreamID, Reason: e.Reason}
}

func connectionError(code frame.ErrCode, reason string) error {
	return &frame.Error{Code: code, Reason: reason}
}

func streamError(code frame.ErrCode, id uint32, reason string) error {
	return &frame.Error{Code: code, StreamID: id, Reason: reason}
}
