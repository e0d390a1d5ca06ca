package hpack

import "encoding/binary"

// Flaws is a set of what may be wrong with a field. All but [NotToken] and
// [ValueSpace] make a message malformed by the least that RFC 9113, 8.2.1, asks
// for.
type Flaws uint8

const (
	// NameBytes: the name is empty, or has a control byte, a space, a colon that
	// does not begin it, or a byte above ASCII.
	NameBytes Flaws = 1 << iota
	// NameCase: the name has a capital letter, as sent.
	NameCase
	// NotToken: the name has a byte that no token has (RFC 9110, 5.1), and is
	// none of the above.
	NotToken
	// ValueBytes: the value has a control byte other than a tab. RFC 9113 speaks
	// of NUL, CR and LF only, RFC 9110, 5.5, of all.
	ValueBytes
	// ValueSpace: the value begins or ends with a space or a tab. RFC 9113
	// forbids it, yet it harms nobody who does not copy it into HTTP/1.
	ValueSpace
)

// nameFlaws holds what each byte is in a name.
var nameFlaws = func() (t [256]Flaws) {
	for i := range t {
		switch b := byte(i); {
		case b <= ' ' || b >= 0x7f || b == ':':
			t[i] = NameBytes
		case 'A' <= b && b <= 'Z':
			t[i] = NameCase
		}
	}
	for _, b := range []byte("\"(),/;<=>?@[\\]{}") {
		t[b] = NotToken
	}
	return t
}()

// checkName tells the flaws of a name, which may be that of a pseudo-header.
func checkName(name []byte) (f Flaws) {
	if len(name) > 1 && name[0] == ':' {
		name = name[1:]
	}
	if len(name) == 0 {
		return NameBytes
	}
	for _, b := range name {
		f |= nameFlaws[b]
	}
	return f
}

// canonicalize puts a name into the case of http.Header, in place. Flaws are
// those of the name: like net/http it leaves alone what is no token.
func canonicalize(name []byte, f Flaws) {
	if f&(NameBytes|NotToken) != 0 || name[0] == ':' {
		return
	}
	if f&NameCase == 0 {
		name[0] = upper(name[0])
		for i, b := range name[:len(name)-1] {
			if b == '-' {
				name[i+1] = upper(name[i+1])
			}
		}
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

// checkValue tells the flaws of a value.
func checkValue(value []byte) (f Flaws) {
	if len(value) == 0 {
		return 0
	}
	if isSpace(value[0]) || isSpace(value[len(value)-1]) {
		f = ValueSpace
	}
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	rest := value
	for len(rest) >= 8 {
		// The high bit of each byte that is below a space, or a DEL.
		x := binary.LittleEndian.Uint64(rest)
		del := x ^ 0x7f*ones
		if ((x-' '*ones)&^x|(del-ones)&^del)&high != 0 {
			break
		}
		rest = rest[8:]
	}
	for _, b := range rest {
		if b < ' ' && b != '\t' || b == 0x7f {
			return f | ValueBytes
		}
	}
	return f
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		b -= 'a' - 'A'
	}
	return b
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' }
