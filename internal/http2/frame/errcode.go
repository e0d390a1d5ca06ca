package frame

import "fmt"

// ErrCode is an error code of RST_STREAM and GOAWAY (RFC 9113, 7). One that is
// not listed here is to be taken as [InternalError].
type ErrCode uint32

// The error codes of RFC 9113, 7.
const (
	NoError            ErrCode = 0x0
	ProtocolError      ErrCode = 0x1
	InternalError      ErrCode = 0x2
	FlowControlError   ErrCode = 0x3
	SettingsTimeout    ErrCode = 0x4
	StreamClosed       ErrCode = 0x5
	FrameSizeError     ErrCode = 0x6
	RefusedStream      ErrCode = 0x7
	Cancel             ErrCode = 0x8
	CompressionError   ErrCode = 0x9
	ConnectError       ErrCode = 0xa
	EnhanceYourCalm    ErrCode = 0xb
	InadequateSecurity ErrCode = 0xc
	HTTP11Required     ErrCode = 0xd
)

var errCodeNames = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
	"STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
	"CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
}

// String is the name of the code in RFC 9113, or its number.
func (c ErrCode) String() string {
	if uint64(c) < uint64(len(errCodeNames)) {
		return errCodeNames[c]
	}
	return fmt.Sprintf("error code 0x%x", uint32(c))
}

// Error is a frame that the peer must not have sent.
type Error struct {
	// Code is what to tell the peer.
	Code ErrCode
	// StreamID is the stream that must be reset. 0 is an error of the connection,
	// which must end with GOAWAY (RFC 9113, 5.4).
	StreamID uint32
	// Reason says what was wrong, in words.
	Reason string
}

func (e *Error) Error() string {
	if e.StreamID == 0 {
		return fmt.Sprintf("http2: %v: %s", e.Code, e.Reason)
	}
	return fmt.Sprintf("http2: stream %d: %v: %s", e.StreamID, e.Code, e.Reason)
}

// connError is an error that ends the connection, about the frame h.
func connError(code ErrCode, h Header, reason string) error {
	return &Error{Code: code, Reason: h.Type.String() + " " + reason}
}

// streamError is an error that ends the stream of h only.
func streamError(code ErrCode, h Header, reason string) error {
	return &Error{Code: code, StreamID: h.StreamID, Reason: h.Type.String() + " " + reason}
}
