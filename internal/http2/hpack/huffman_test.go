package hpack

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	xhpack "golang.org/x/net/http2/hpack"
)

func TestHuffmanTables(t *testing.T) {
	// 256 symbols and EOS make a full code: their weights add up to 1.
	sum := uint64(1) // EOS, of 30 bits
	seen := map[byte]bool{}
	for _, l := range huffmanLengths {
		for i := range len(l.symbols) {
			sum += 1 << (30 - l.bits)
			if seen[l.symbols[i]] {
				t.Errorf("symbol %#x stands twice", l.symbols[i])
			}
			seen[l.symbols[i]] = true
		}
	}
	if len(seen) != 256 || sum != 1<<30 {
		t.Errorf("%d symbols with weights of %d, want 256 with %d", len(seen), sum, 1<<30)
	}
	for i := range 256 {
		s := string([]byte{byte(i)})
		if ours, theirs := appendHuffman(nil, s), xhpack.AppendHuffmanString(nil, s); !bytes.Equal(ours, theirs) {
			t.Errorf("symbol %#x is %x, in x/net %x", i, ours, theirs)
		}
	}
}

// Every pair of symbols, at every place of a long text and of a short one.
func TestHuffmanPairs(t *testing.T) {
	var text []byte
	for i := range 256 {
		text = text[:0]
		for j := range 256 {
			text = append(text, byte(i), byte(j))
			short := []byte{byte(j), byte(i), byte(j)}
			roundTrip(t, short)
		}
		roundTrip(t, text)
	}
}

func roundTrip(t *testing.T, text []byte) {
	t.Helper()
	code := appendHuffman(nil, text)
	if len(code) != huffmanLen(text) {
		t.Fatalf("%q: %d bytes, foreseen %d", text, len(code), huffmanLen(text))
	}
	back, err := appendHuffmanDecoded([]byte("before"), code)
	if err != nil || string(back) != "before"+string(text) {
		t.Fatalf("%q: %x came back as %q, %v", text, code, back, err)
	}
}

func TestHuffmanInvalid(t *testing.T) {
	eos := "ffffffff"
	for _, c := range []struct {
		name, code string
		ok         bool
	}{
		{"nothing", "", true},
		{"a with padding", "1f", true},
		{"a with zeros as padding", "18", false},
		{"a with a wrong last bit", "1e", false},
		{"8 bits of padding alone", "ff", false},
		{"a whole byte of padding", "1fff", false},
		{"0 and w fill 12 bits, 4 of padding", "078f", true},
		{"EOS", eos, false},
		{"EOS after a", "1f" + eos, false},
		{"EOS far from the end", "1f" + eos + strings.Repeat("18c6", 20), false},
		{"cut within a long code", "fffe", false},
		{"cut within the longest code", "fffffff0", false},
		{"the longest code", "fffffff3", true},
		{"long text with zeros as padding", strings.Repeat("18c6318c63", 5) + "00", false},
	} {
		_, err := appendHuffmanDecoded(nil, unhex(t, c.code))
		_, theirs := xhpack.HuffmanDecodeToString(unhex(t, c.code))
		if (err == nil) != c.ok || (theirs == nil) != c.ok {
			t.Errorf("%s: %v, and %v in x/net", c.name, err, theirs)
		}
	}
}

// Random bytes are mostly no code; what is must be the same for x/net.
func TestHuffmanRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(7541, 5))
	valid := 0
	for range 50_000 {
		code := make([]byte, r.IntN(24))
		for i := range code {
			code[i] = byte(r.Uint32())
			if r.IntN(3) == 0 {
				code[i] = 0xff
			}
		}
		ours, err := appendHuffmanDecoded(nil, code)
		theirs, theirErr := xhpack.HuffmanDecodeToString(code)
		if (err == nil) != (theirErr == nil) || err == nil && string(ours) != theirs {
			t.Fatalf("%x: %q, %v; in x/net %q, %v", code, ours, err, theirs, theirErr)
		}
		if err == nil {
			valid++
		}
	}
	if valid < 500 {
		t.Errorf("only %d of the codes were valid", valid)
	}
}
