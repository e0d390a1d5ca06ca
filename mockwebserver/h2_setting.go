package mockwebserver

import "github.com/okhttp-go/okhttp/internal/http2/frame"

// SettingID names a parameter of an HTTP/2 connection (RFC 9113, section 6.5.2).
type SettingID uint16

// The parameters of RFC 9113, RFC 8441 and RFC 9218.
const (
	SettingHeaderTableSize       SettingID = 0x1
	SettingEnablePush            SettingID = 0x2
	SettingMaxConcurrentStreams  SettingID = 0x3
	SettingInitialWindowSize     SettingID = 0x4
	SettingMaxFrameSize          SettingID = 0x5
	SettingMaxHeaderListSize     SettingID = 0x6
	SettingEnableConnectProtocol SettingID = 0x8
	SettingNoRFC7540Priorities   SettingID = 0x9
)

// String returns the name in the RFC, such as "MAX_CONCURRENT_STREAMS".
func (id SettingID) String() string { return frame.SettingID(id).String() }

// Setting is one parameter and its value.
type Setting struct {
	ID    SettingID
	Value uint32
}

// String returns name and value, such as "MAX_FRAME_SIZE=16384".
func (s Setting) String() string {
	return frame.Setting{ID: frame.SettingID(s.ID), Value: s.Value}.String()
}

func frameSettings(settings []Setting) []frame.Setting {
	list := make([]frame.Setting, len(settings))
	for i, s := range settings {
		list[i] = frame.Setting{ID: frame.SettingID(s.ID), Value: s.Value}
	}
	return list
}
