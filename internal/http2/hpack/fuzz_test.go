package hpack

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	xhpack "golang.org/x/net/http2/hpack"
)

// FuzzDecode decodes three blocks of one connection and compares with
// golang.org/x/net: the same fields, and an error or none. Where the two differ
// on purpose is in knownDifference. Then it looks at what only we have: the
// limit, canonical names, and our encoder.
func FuzzDecode(f *testing.F) {
	for _, example := range examples {
		blocks := [3][]byte{}
		for i := range example.blocks {
			blocks[i] = unhex(f, example.blocks[i].wire)
		}
		f.Add(blocks[0], blocks[1], blocks[2], uint16(example.tableSize), uint16(100))
	}
	f.Add(literals(largeResponse, 0x40, true), []byte{0xbe, 0x7e, 0x01, 'b', 0xff, 0x00}, literals(largeResponse, 0, true), uint16(4096), uint16(200))
	f.Add([]byte{0x20, 0x3f, 0xe1, 0x1f, 0x40, 1, 'a', 0x81, 0x1f}, []byte{0x3f, 0x10, 0xbe}, []byte{0x0f, 0x2f, 0}, uint16(4096), uint16(40))

	f.Fuzz(func(t *testing.T, one, two, three []byte, size, limit uint16) {
		var ours, canonical Decoder
		canonical.Canonical = true
		limited := Decoder{MaxListSize: uint32(limit)}
		for _, d := range []*Decoder{&ours, &canonical, &limited} {
			d.start()
			d.allowed, d.lowest, d.table.max = uint32(size), uint32(size), uint32(size)
		}
		theirs := xhpack.NewDecoder(uint32(size), nil)
		var encoder Encoder
		reread := xhpack.NewDecoder(DefaultTableSize, nil)

		for _, block := range [][]byte{one, two, three} {
			var b, other Block
			err := ours.Decode(&b, block)
			want, theirErr := theirs.DecodeFull(block)
			if (err == nil) != (theirErr == nil) {
				if why := knownDifference(block, err, theirErr); why == "" {
					t.Fatalf("%x: %v, in x/net %v", block, err, theirErr)
				}
				return
			}

			limitErr := limited.Decode(&other, block)
			checkLimit(t, &b, &other, err, limitErr, int(limit))
			if err != nil {
				return
			}
			if limitErr == nil || errors.Is(limitErr, ErrHeaderListTooLarge) {
				if got, want := tableOf(&limited), tableOf(&ours); !slices.Equal(got, want) {
					t.Fatalf("%x: with a limit the table is %q, without %q", block, got, want)
				}
			} else {
				return
			}

			if got, want := list(withoutFlaws(b.Fields)), list(ofXNet(want)); !slices.Equal(got, want) {
				t.Fatalf("%x: %q, in x/net %q", block, got, want)
			}
			if err := canonical.Decode(&other, block); err != nil {
				t.Fatalf("%x: canonical: %v", block, err)
			}
			for i, f := range b.Fields {
				f.Name = http.CanonicalHeaderKey(f.Name)
				if other.Fields[i] != f {
					t.Fatalf("%x: canonical field %+v, want %+v", block, other.Fields[i], f)
				}
			}
			if ours.table.size > uint32(size) {
				t.Fatalf("%x: table of %d bytes", block, ours.table.size)
			}

			again, err := reread.DecodeFull(encode(&encoder, b.Fields...))
			if err != nil {
				t.Fatalf("%x: encoded again: %v", block, err)
			}
			for i := range b.Fields {
				b.Fields[i].Name = string(appendLower(nil, b.Fields[i].Name))
			}
			if got, want := plain(ofXNet(again)), plain(b.Fields); !slices.Equal(got, want) {
				t.Fatalf("%x: encoded again: %q, want %q", block, got, want)
			}
		}
	})
}

// checkLimit compares a block decoded with a limit to the same without.
func checkLimit(t *testing.T, free, limited *Block, err, limitErr error, limit int) {
	t.Helper()
	if err != nil {
		// What lies beyond the limit is not looked into, so this may be no error there.
		if limitErr == nil {
			t.Fatalf("no error with a limit, without: %v", err)
		}
		return
	}
	want, size := 0, 0
	for i := range free.Fields {
		if size += free.Fields[i].Size(); limit == 0 || size <= limit {
			want++
		}
	}
	if want == len(free.Fields) != (limitErr == nil) || limitErr != nil && !errors.Is(limitErr, ErrHeaderListTooLarge) {
		t.Fatalf("limit %d, list %d: %v", limit, size, limitErr)
	}
	if got, want := list(limited.Fields), list(free.Fields[:want]); !slices.Equal(got, want) {
		t.Fatalf("limit %d: %q, want %q", limit, got, want)
	}
}

// knownDifference names the reason why one of the two decoders, and not the
// other, refuses a block, or is empty.
func knownDifference(block []byte, ours, theirs error) string {
	switch {
	case ours == error(errInteger) && theirs == nil:
		return "we take integers of up to 5 more bytes, x/net of up to 9, which can only be zeros"
	case ours == error(errLateUpdate) && theirs == nil:
		return "RFC 7541, 4.2: x/net allows a late update while its table is empty"
	case theirs != nil && strings.Contains(theirs.Error(), "MUST occur at the beginning") && updatesAtStart(block) > 1:
		return "RFC 7541, 4.2: x/net refuses a second update at the start"
	default:
		return ""
	}
}

func updatesAtStart(block []byte) (n int) {
	for i := 0; i < len(block) && block[i]&0xe0 == 0x20; n++ {
		_, next, err := readInteger(block, i, 0x1f)
		if err != nil {
			return n
		}
		i = next
	}
	return n
}

func withoutFlaws(fields []Field) []Field {
	all := slices.Clone(fields)
	for i := range all {
		all[i].Flaws = 0
	}
	return all
}
