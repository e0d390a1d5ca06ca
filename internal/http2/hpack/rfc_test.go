package hpack

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The examples of RFC 7541, appendix C.

// exampleBlock is a block of an example: its bytes, its fields, and the dynamic
// table after it, newest entry first, with its size.
type exampleBlock struct {
	wire   string
	fields []string
	table  []string
	size   uint32
}

var examples = []struct {
	name      string
	tableSize uint32 // set before the first block, unless 0
	blocks    []exampleBlock
}{
	{"C.2.1 literal with indexing", 0, []exampleBlock{{
		"400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
		[]string{"custom-key: custom-header"},
		[]string{"custom-key: custom-header"}, 55,
	}}},
	{"C.2.2 literal without indexing", 0, []exampleBlock{{
		"040c 2f73 616d 706c 652f 7061 7468", []string{":path: /sample/path"}, nil, 0,
	}}},
	{"C.2.3 literal never indexed", 0, []exampleBlock{{
		"1008 7061 7373 776f 7264 0673 6563 7265 74", []string{"password: secret (sensitive)"}, nil, 0,
	}}},
	{"C.2.4 indexed", 0, []exampleBlock{{"82", []string{":method: GET"}, nil, 0}}},
	{"C.3 requests", 0, []exampleBlock{
		{
			"8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
			[]string{":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"},
			[]string{":authority: www.example.com"}, 57,
		},
		{
			"8286 84be 5808 6e6f 2d63 6163 6865",
			[]string{":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com", "cache-control: no-cache"},
			[]string{"cache-control: no-cache", ":authority: www.example.com"}, 110,
		},
		{
			"8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
			[]string{":method: GET", ":scheme: https", ":path: /index.html", ":authority: www.example.com", "custom-key: custom-value"},
			[]string{"custom-key: custom-value", "cache-control: no-cache", ":authority: www.example.com"}, 164,
		},
	}},
	{"C.4 requests with Huffman code", 0, []exampleBlock{
		{
			"8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
			[]string{":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"},
			[]string{":authority: www.example.com"}, 57,
		},
		{
			"8286 84be 5886 a8eb 1064 9cbf",
			[]string{":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com", "cache-control: no-cache"},
			[]string{"cache-control: no-cache", ":authority: www.example.com"}, 110,
		},
		{
			"8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
			[]string{":method: GET", ":scheme: https", ":path: /index.html", ":authority: www.example.com", "custom-key: custom-value"},
			[]string{"custom-key: custom-value", "cache-control: no-cache", ":authority: www.example.com"}, 164,
		},
	}},
	{"C.5 responses", 256, []exampleBlock{
		{
			"4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
			[]string{":status: 302", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT", "location: https://www.example.com"},
			[]string{"location: https://www.example.com", "date: Mon, 21 Oct 2013 20:13:21 GMT", "cache-control: private", ":status: 302"}, 222,
		},
		{
			"4803 3330 37c1 c0bf",
			[]string{":status: 307", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT", "location: https://www.example.com"},
			[]string{":status: 307", "location: https://www.example.com", "date: Mon, 21 Oct 2013 20:13:21 GMT", "cache-control: private"}, 222,
		},
		{
			"88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31",
			[]string{":status: 200", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:22 GMT", "location: https://www.example.com", "content-encoding: gzip", "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"},
			[]string{"set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1", "content-encoding: gzip", "date: Mon, 21 Oct 2013 20:13:22 GMT"}, 215,
		},
	}},
	{"C.6 responses with Huffman code", 256, []exampleBlock{
		{
			"4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
			[]string{":status: 302", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT", "location: https://www.example.com"},
			[]string{"location: https://www.example.com", "date: Mon, 21 Oct 2013 20:13:21 GMT", "cache-control: private", ":status: 302"}, 222,
		},
		{
			"4883 640e ffc1 c0bf",
			[]string{":status: 307", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT", "location: https://www.example.com"},
			[]string{":status: 307", "location: https://www.example.com", "date: Mon, 21 Oct 2013 20:13:21 GMT", "cache-control: private"}, 222,
		},
		{
			"88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
			[]string{":status: 200", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:22 GMT", "location: https://www.example.com", "content-encoding: gzip", "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"},
			[]string{"set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1", "content-encoding: gzip", "date: Mon, 21 Oct 2013 20:13:22 GMT"}, 215,
		},
	}},
}

func TestRFCExamples(t *testing.T) {
	for _, example := range examples {
		t.Run(example.name, func(t *testing.T) {
			var d Decoder
			d.start()
			if example.tableSize != 0 {
				d.table.max = example.tableSize
			}
			var b Block
			for _, want := range example.blocks {
				if err := d.Decode(&b, unhex(t, want.wire)); err != nil {
					t.Fatal(err)
				}
				if got := list(b.Fields); !slices.Equal(got, want.fields) {
					t.Errorf("fields %q, want %q", got, want.fields)
				}
				if got := tableOf(&d); !slices.Equal(got, want.table) {
					t.Errorf("table %q, want %q", got, want.table)
				}
				if d.table.size != want.size {
					t.Errorf("table of %d bytes, want %d", d.table.size, want.size)
				}
			}
		})
	}
}

// unhex reads hexadecimal, with spaces for the eye.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// list writes fields as a reader would.
func list(fields []Field) (all []string) {
	for _, f := range fields {
		s := f.Name + ": " + f.Value
		if f.Sensitive {
			s += " (sensitive)"
		}
		if f.Flaws != 0 {
			s += fmt.Sprintf(" (flaws %#x)", uint8(f.Flaws))
		}
		all = append(all, s)
	}
	return all
}

// tableOf lists the dynamic table, newest entry first.
func tableOf(d *Decoder) (all []string) {
	for i := range d.table.count {
		e := d.table.at(i)
		all = append(all, e.name+": "+e.value)
	}
	return all
}
