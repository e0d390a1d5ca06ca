package frame

import (
	"encoding/binary"
	"fmt"
	"iter"
)

// SettingID names a parameter of the connection. One that is not listed here
// must be ignored (RFC 9113, 6.5.2).
type SettingID uint16

// The settings of RFC 9113, 6.5.2, RFC 8441 and RFC 9218.
const (
	HeaderTableSize       SettingID = 0x1
	EnablePush            SettingID = 0x2
	MaxConcurrentStreams  SettingID = 0x3
	InitialWindowSize     SettingID = 0x4
	MaxFrameSize          SettingID = 0x5
	MaxHeaderListSize     SettingID = 0x6
	EnableConnectProtocol SettingID = 0x8
	NoRFC7540Priorities   SettingID = 0x9
)

var settingNames = map[SettingID]string{
	HeaderTableSize:       "HEADER_TABLE_SIZE",
	EnablePush:            "ENABLE_PUSH",
	MaxConcurrentStreams:  "MAX_CONCURRENT_STREAMS",
	InitialWindowSize:     "INITIAL_WINDOW_SIZE",
	MaxFrameSize:          "MAX_FRAME_SIZE",
	MaxHeaderListSize:     "MAX_HEADER_LIST_SIZE",
	EnableConnectProtocol: "ENABLE_CONNECT_PROTOCOL",
	NoRFC7540Priorities:   "NO_RFC7540_PRIORITIES",
}

// String is the name of the setting in its RFC, without SETTINGS_, or its number.
func (id SettingID) String() string {
	if name, ok := settingNames[id]; ok {
		return name
	}
	return fmt.Sprintf("setting 0x%x", uint16(id))
}

// Setting is one parameter of a SETTINGS frame.
type Setting struct {
	ID    SettingID
	Value uint32
}

func (s Setting) String() string { return fmt.Sprintf("%v=%d", s.ID, s.Value) }

// check tells what is wrong with the value, with the code that RFC 9113, 6.5.2,
// RFC 8441, 3, or RFC 9218, 2.1, gives for it.
func (s Setting) check() (code ErrCode, ok bool) {
	switch s.ID {
	case EnablePush, EnableConnectProtocol, NoRFC7540Priorities:
		return ProtocolError, s.Value <= 1
	case InitialWindowSize:
		return FlowControlError, s.Value <= MaxWindow
	case MaxFrameSize:
		return ProtocolError, s.Value >= MinMaxFrameSize && s.Value <= MaxMaxFrameSize
	default:
		return NoError, true
	}
}

// settingLen is the length of one setting in a payload.
const settingLen = 6

// SettingList is the payload of a SETTINGS frame that [ParseSettings] has checked.
type SettingList []byte

// Len is the number of settings.
func (l SettingList) Len() int { return len(l) / settingLen }

// At returns the setting i, in the order sent.
func (l SettingList) At(i int) Setting {
	b := l[i*settingLen:]
	return Setting{SettingID(binary.BigEndian.Uint16(b)), binary.BigEndian.Uint32(b[2:])}
}

// All yields the settings in the order sent, in which they must be applied. An
// identifier may come more than once.
func (l SettingList) All() iter.Seq[Setting] {
	return func(yield func(Setting) bool) {
		for i := range l.Len() {
			if !yield(l.At(i)) {
				return
			}
		}
	}
}
