package hpack

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// decodeStep is a block for a decoder, and what comes of it: fields, or an error.
type decodeStep struct {
	allow *uint32 // SETTINGS_HEADER_TABLE_SIZE acknowledged before
	wire  string
	want  []string
	err   error
}

func TestDecode(t *testing.T) {
	size := func(n uint32) *uint32 { return &n }
	// 62 is the newest entry of the dynamic table; "40 01 61 01 62" adds a: b.
	const addAB = "4001610162"
	ab := []string{"a: b"}
	for _, test := range []struct {
		name  string
		steps []decodeStep
	}{
		{"empty block", []decodeStep{{wire: ""}}},
		{"index 0", []decodeStep{{wire: "80", err: errIndexZero}}},
		{"index of the static table's end", []decodeStep{{wire: "bd", want: []string{"www-authenticate: "}}}},
		{"index beyond the static table", []decodeStep{{wire: "be", err: errIndex}}},
		{"index beyond the dynamic table", []decodeStep{{wire: addAB + "be", want: []string{"a: b", "a: b"}}, {wire: "bf", err: errIndex}}},
		{"name index beyond the tables", []decodeStep{{wire: "7f0001 62", err: errIndex}}},
		{"an index of 2^31", []decodeStep{{wire: "ff81ffffff07", err: errInteger}}},
		{"an index of six bytes", []decodeStep{{wire: "ff808080808000", err: errInteger}}},
		{"zeros after an index", []decodeStep{{wire: "ff80808000", err: errIndex}}},
		{"cut within an index", []decodeStep{{wire: "ff80", err: errTruncated}}},
		{"cut within an update", []decodeStep{{wire: "3f", err: errTruncated}}},
		{"cut within a name's index", []decodeStep{{wire: "0f", err: errTruncated}}},
		{"cut before a name", []decodeStep{{wire: "40", err: errTruncated}}},
		{"cut within a name", []decodeStep{{wire: "400261", err: errTruncated}}},
		{"cut before a value", []decodeStep{{wire: "400161", err: errTruncated}}},
		{"cut within a value", []decodeStep{{wire: "4001610262", err: errTruncated}}},
		{"cut within a length", []decodeStep{{wire: "40016 17f", err: errTruncated}}},
		{"wrong Huffman code", []decodeStep{{wire: "4001618118", err: errHuffman}}},
		{"nothing works after an error", []decodeStep{{wire: "80", err: errIndexZero}, {wire: "82", err: errIndexZero}}},

		{"name of an entry that the block added", []decodeStep{{wire: addAB + "7e0163" + "be" + "bf", want: []string{"a: b", "a: c", "a: c", "a: b"}}}},
		{"name of an entry that an earlier block added", []decodeStep{{wire: addAB, want: ab}, {wire: "7e0163" + "0f2f0164", want: []string{"a: c", "a: d"}}}},
		{"flaws stay with an entry", []decodeStep{
			{wire: "400141 0100", want: []string{"A: \x00 (flaws 0xa)"}},
			{wire: "be", want: []string{"A: \x00 (flaws 0xa)"}},
			{wire: "7e0162", want: []string{"A: b (flaws 0x2)"}},
		}},

		{"table size 0 empties the table", []decodeStep{{wire: addAB, want: ab}, {wire: "20be", err: errIndex}}},
		{"two updates", []decodeStep{{wire: addAB, want: ab}, {wire: "203fe11f" + addAB, want: ab}, {wire: "be", want: ab}}},
		{"update alone", []decodeStep{{wire: "20"}, {wire: addAB, want: ab}, {wire: "be", err: errIndex}}},
		{"update above the limit", []decodeStep{{wire: "3fe21f", err: errLargeUpdate}}},
		{"update above a limit that was lowered", []decodeStep{{allow: size(100), wire: "3f46", err: errLargeUpdate}}},
		{"update after a field", []decodeStep{{wire: "8220", err: errLateUpdate}}},
		{"limit raised", []decodeStep{{allow: size(1 << 20), wire: "3fe2ff3f", err: errLargeUpdate}}},
		{"limit raised and used", []decodeStep{{allow: size(1 << 20), wire: "3fe1ff3f82", want: []string{":method: GET"}}}},
		{"limit raised and not used", []decodeStep{{allow: size(1 << 20), wire: "82", want: []string{":method: GET"}}}},

		{"table made smaller as asked", []decodeStep{{wire: addAB, want: ab}, {allow: size(0), wire: "2082", want: []string{":method: GET"}}}},
		{"table not made smaller", []decodeStep{{wire: addAB, want: ab}, {allow: size(100), wire: "82", err: errAbsentUpdate}}},
		{"table not made small enough", []decodeStep{{allow: size(20)}, {allow: size(100), wire: "3e82", err: errAbsentUpdate}}},
		{"a peer that used less all the time says nothing", []decodeStep{{wire: "2082", want: []string{":method: GET"}}, {allow: size(10), wire: "82", want: []string{":method: GET"}}}},
		{"an empty block need not say it", []decodeStep{{allow: size(10), wire: ""}, {wire: "82", err: errAbsentUpdate}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var d Decoder
			var b Block
			for _, step := range test.steps {
				if step.allow != nil {
					d.SetMaxTableSize(*step.allow)
				}
				err := d.Decode(&b, unhex(t, step.wire))
				if err != step.err {
					t.Fatalf("%s: error %v, want %v", step.wire, err, step.err)
				}
				if err != nil && !strings.HasPrefix(err.Error(), "hpack: ") {
					t.Errorf("%s: error %q says not whose it is", step.wire, err)
				}
				if got := list(b.Fields); !slices.Equal(got, step.want) {
					t.Errorf("%s: fields %q, want %q", step.wire, got, step.want)
				}
			}
		})
	}
}

// The smallest size that the limit had since the last block counts, not the last.
func TestDecodeLoweredAndRaised(t *testing.T) {
	for _, c := range []struct {
		wire string
		err  error
	}{
		{"82", errAbsentUpdate},
		{"3fe11f82", errAbsentUpdate},     // 4096 only
		{"3f0182", nil},                   // 32, and no more
		{"3f013fe11f82", nil},             // 32, then 4096
		{"3f023fe11f82", errAbsentUpdate}, // 33 is not 32
	} {
		var d Decoder
		var b Block
		d.SetMaxTableSize(32)
		d.SetMaxTableSize(4096)
		if err := d.Decode(&b, unhex(t, c.wire)); err != c.err {
			t.Errorf("%s: %v, want %v", c.wire, err, c.err)
		}
	}
}

func TestDecodeCanonical(t *testing.T) {
	d := Decoder{Canonical: true}
	var b Block
	block := literals([]Field{
		{Name: "x-some-name", Value: "1"}, {Name: "etag", Value: "2"}, {Name: ":strange", Value: "3"},
		{Name: "a(b", Value: "4"}, {Name: "X-UPPER-x", Value: "5"}, {Name: "-a--b-", Value: "6"},
	}, 0x40, true)
	block = append(block, 0x88, 0x40+31, 1, 'h') // :status 200, content-type: h
	want := []string{
		"X-Some-Name: 1", "Etag: 2", ":strange: 3", "a(b: 4 (flaws 0x4)", "X-Upper-X: 5 (flaws 0x2)", "-A--B-: 6",
		":status: 200", "Content-Type: h",
	}
	if err := d.Decode(&b, block); err != nil {
		t.Fatal(err)
	}
	if got := list(b.Fields); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// From the table, newest first, but for the indexed one.
	if err := d.Decode(&b, unhex(t, "be bf c0 c1 c2 c3 c4")); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(b.Fields)
	want = slices.Delete(want, 6, 7)
	if got := list(b.Fields); !slices.Equal(got, want) {
		t.Errorf("from the table %q, want %q", got, want)
	}
}

// Strings that were handed out stay as they are whatever the decoder does next.
func TestDecodedStringsStay(t *testing.T) {
	var d Decoder
	var b Block
	if err := d.Decode(&b, literals(smallResponse, 0x40, true)); err != nil {
		t.Fatal(err)
	}
	kept := slices.Clone(b.Fields)
	for range 50 {
		if err := d.Decode(&b, literals(largeResponse, 0x40, true)); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(list(kept), list(smallResponse)) {
		t.Errorf("%q became %q", list(smallResponse), list(kept))
	}
}

func TestListLimit(t *testing.T) {
	fields := []Field{{Name: "aa", Value: "bb"}, {Name: "cc", Value: "dd"}, {Name: "ee", Value: "ff"}} // 36 each
	for _, form := range []byte{0x00, 0x10, 0x40} {
		for _, huffman := range []bool{false, true} {
			for limit, whole := range map[uint32]int{1: 0, 35: 0, 36: 1, 71: 1, 72: 2, 107: 2, 108: 3, 0: 3} {
				d := Decoder{MaxListSize: limit}
				var b Block
				err := d.Decode(&b, literals(fields, form, huffman))
				if (err != nil) != (whole < 3) || err != nil && !errors.Is(err, ErrHeaderListTooLarge) {
					t.Errorf("limit %d: %v", limit, err)
				}
				if got, want := plain(b.Fields), plain(fields[:whole]); !slices.Equal(got, want) {
					t.Errorf("limit %d: %q, want %q", limit, got, want)
				}
				if form != 0x40 {
					continue
				}
				// The table has all of them, and the connection lives on.
				if got, want := tableOf(&d), []string{"ee: ff", "cc: dd", "aa: bb"}; !slices.Equal(got, want) {
					t.Errorf("limit %d: table %q, want %q", limit, got, want)
				}
				d.MaxListSize = 0
				if err := d.Decode(&b, unhex(t, "c0 7e 01 67")); err != nil {
					t.Error(err)
				}
				if got, want := plain(b.Fields), []string{"aa: bb", "ee: g"}; !slices.Equal(got, want) {
					t.Errorf("limit %d: afterwards %q, want %q", limit, got, want)
				}
			}
		}
	}
}

// After the limit the table goes on as if there were none: names from entries
// within and beyond the limit, evictions, what does not fit.
func TestListLimitKeepsTable(t *testing.T) {
	long := strings.Repeat("l", 5000)
	block := literals([]Field{{Name: "first", Value: "1"}, {Name: "second", Value: strings.Repeat("2", 200)}}, 0x40, true)
	block = append(block, 0x7e, 1, '3') // second: 3, of the entry before
	block = append(block, 0x7f, 1, 1, '4')
	block = append(block, literals([]Field{{Name: "not indexed", Value: long}}, 0, true)...)
	block = append(block, 0xbe, 0xbf)
	block = append(block, 0x7e, 1, '5')
	for _, tail := range [][]byte{
		nil,
		literals([]Field{{Name: "evicts", Value: long}}, 0x40, true),
		literals([]Field{{Name: "evicts", Value: long}}, 0x40, false),
		literals([]Field{{Name: long, Value: "evicts"}}, 0x40, true),
		append(literals([]Field{{Name: "fits", Value: long[:4000]}}, 0x40, true), 0x7e, 1, '6'),
	} {
		block := append(slices.Clone(block), tail...)
		var free, limited Decoder
		var b Block
		if err := free.Decode(&b, block); err != nil {
			t.Fatal(err)
		}
		for _, limited.MaxListSize = range []uint32{1, 40, 300, 320, 400, 4200, 6000} {
			l := Decoder{MaxListSize: limited.MaxListSize}
			if err := l.Decode(&b, block); err != nil && !errors.Is(err, ErrHeaderListTooLarge) {
				t.Fatal(err)
			}
			if got, want := tableOf(&l), tableOf(&free); !slices.Equal(got, want) {
				t.Errorf("limit %d: table %q, want %q", l.MaxListSize, got, want)
			}
		}
	}
}
