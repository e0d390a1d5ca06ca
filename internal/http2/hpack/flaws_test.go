package hpack

import (
	"net/http"
	"testing"

	"golang.org/x/net/http/httpguts"
)

// Every byte in a name, at its begin and within, by itself and against what
// net/http thinks of it.
func TestNameFlaws(t *testing.T) {
	for i := range 256 {
		b := byte(i)
		want := NotToken
		switch {
		case 'A' <= b && b <= 'Z':
			want = NameCase
		case b <= ' ' || b >= 0x7f || b == ':':
			want = NameBytes
		case httpguts.IsTokenRune(rune(b)):
			want = 0
		}
		for _, name := range [][]byte{{'a', b}, {'a', 'a', b, 'a'}, {':', 'a', b}} {
			if got := checkName(name); got != want {
				t.Errorf("%q: flaws %#x, want %#x", name, got, want)
			}
			canonical := append([]byte(nil), name...)
			canonicalize(canonical, checkName(name))
			if got, want := string(canonical), http.CanonicalHeaderKey(string(name)); got != want {
				t.Errorf("%q becomes %q, want %q", name, got, want)
			}
		}
	}
	for name, want := range map[string]Flaws{"": NameBytes, ":": NameBytes, "::": NameBytes, ":status": 0, "a:": NameBytes, "a": 0} {
		if got := checkName([]byte(name)); got != want {
			t.Errorf("%q: flaws %#x, want %#x", name, got, want)
		}
	}
}

// Every byte at every place of values of all lengths that are looked at eight
// bytes at a time and singly.
func TestValueFlaws(t *testing.T) {
	for n := 1; n <= 20; n++ {
		for place := range n {
			for i := range 256 {
				value := make([]byte, n)
				for j := range value {
					value[j] = "v\x80\xff~"[j%4]
				}
				value[place] = byte(i)
				want := Flaws(0)
				if !httpguts.ValidHeaderFieldValue(string(value)) {
					want |= ValueBytes
				}
				if (place == 0 || place == n-1) && (i == ' ' || i == '\t') {
					want |= ValueSpace
				}
				if got := checkValue(value); got != want {
					t.Fatalf("%q: flaws %#x, want %#x", value, got, want)
				}
			}
		}
	}
	if got := checkValue(nil); got != 0 {
		t.Errorf("an empty value has flaws %#x", got)
	}
}

func TestCanonicalTable(t *testing.T) {
	for i, f := range staticTable {
		if want := http.CanonicalHeaderKey(f.Name); canonicalTable[i].Name != want || canonicalTable[i].Value != f.Value {
			t.Errorf("%q is %q, want %q", f.Name, canonicalTable[i].Name, want)
		}
	}
}
