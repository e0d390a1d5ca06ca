package httpsem

import "strings"

// The classes of a byte in a header, as bits, so that one look in one table
// answers any of the questions below.
const (
	tokenByte uint8 = 1 << iota // may stand in a token (RFC 9110, 5.6.2)
	valueByte                   // may stand in a field value: TAB, space, visible, or above ASCII
	nameByte                    // is tolerated in a received field name, see TolerableName
)

var classes = func() (t [256]uint8) {
	for i := range t {
		b := byte(i)
		switch {
		case b == '\t':
			t[i] = valueByte
		case b < ' ' || b == 0x7f:
			// Control bytes have no place anywhere.
		case b == ':':
			t[i] = valueByte
		default:
			t[i] = valueByte | nameByte
		}
		if 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' ||
			strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0 && b != 0 {
			t[i] |= tokenByte
		}
	}
	return t
}()

// IsToken reports whether s is a token, as methods and header names must be.
func IsToken[S string | []byte](s S) bool {
	if len(s) == 0 {
		return false
	}
	for i := range len(s) {
		if classes[s[i]]&tokenByte == 0 {
			return false
		}
	}
	return true
}

// IsValue reports whether s may be sent or received as a header value. Bytes
// above ASCII are allowed, as in net/http: RFC 9110 calls them opaque.
func IsValue[S string | []byte](s S) bool {
	for i := range len(s) {
		if classes[s[i]]&valueByte == 0 {
			return false
		}
	}
	return true
}

// TolerableName reports whether a name in a response is taken as it is, though
// it may not be a token: servers do send a space within a name, brackets, or
// Latin-1, and a strange field harms nobody. A space before the colon stays in
// the name, as in net/http. But where that would hide a field which says how
// long the message is, the name is refused: parsers disagree about it, which is
// what smuggling lives from.
func TolerableName(s []byte) bool {
	if len(s) == 0 || s[0] == ' ' {
		return false
	}
	if s[len(s)-1] == ' ' && IsFraming(string(TrimSpace(s))) {
		return false
	}
	for _, b := range s {
		if classes[b]&nameByte == 0 {
			return false
		}
	}
	return true
}

// Canonicalize turns a header name into the canonical case of http.Header, in
// place. A name that is not a token stays as it is, as in net/http.
func Canonicalize(name []byte) {
	if !IsToken(name) {
		return
	}
	first := true
	for i, b := range name {
		if first && 'a' <= b && b <= 'z' {
			name[i] = b - ('a' - 'A')
		} else if !first && 'A' <= b && b <= 'Z' {
			name[i] = b + ('a' - 'A')
		}
		first = b == '-'
	}
}

// EqualFold compares ASCII letters without regard to case, and all else as it
// is. The Unicode folding of strings.EqualFold would let a Kelvin sign pass as k.
func EqualFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + ('a' - 'A')
	}
	return b
}

// TrimSpace cuts the optional whitespace of RFC 9110, 5.6.3, off both ends.
func TrimSpace[S string | []byte](s S) S {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// HasToken reports whether one of the values, each a comma-separated list,
// holds the token, in any case.
func HasToken(values []string, token string) bool {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if EqualFold(TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}
