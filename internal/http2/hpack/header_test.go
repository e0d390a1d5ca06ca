package hpack

import (
	"net/http"
	"reflect"
	"strconv"
	"testing"
)

func TestHeader(t *testing.T) {
	var fields []Field
	want := http.Header{}
	add := func(name, value string) {
		fields = append(fields, Field{Name: name, Value: value})
		if name[0] != ':' {
			want.Add(name, value)
		}
	}
	check := func(what string) {
		t.Helper()
		if got := Header(fields); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	check("nothing")
	add(":status", "200")
	check("a pseudo-header")
	add("A", "1")
	add("B", "2")
	check("two names")
	add("A", "3")
	check("a name twice")
	for i := range 100 {
		add("A", strconv.Itoa(i))
		add("Once-"+strconv.Itoa(i), "")
		check("more of it")
	}

	h := Header([]Field{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}})
	h["A"] = append(h["A"], "more")
	if h.Get("B") != "2" {
		t.Error("an append to one field changes another")
	}
}

// Values of 40 headers take one slice, and their text one string.
func TestDecodeAllocs(t *testing.T) {
	d := Decoder{Canonical: true}
	var b Block
	known := literals(largeResponse, 0x40, true)
	if err := d.Decode(&b, known); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		block []byte
		want  float64
	}{
		"raw":       {literals(largeResponse, 0, false), 1},
		"huffman":   {literals(largeResponse, 0, true), 1},
		"inserting": {known, 2}, // and one for the table
		"indexed":   {[]byte{0xbe, 0xbf, 0xc0, 0xc1}, 0},
	} {
		got := testing.AllocsPerRun(100, func() {
			if err := d.Decode(&b, c.block); err != nil {
				t.Fatal(err)
			}
		})
		if got > c.want {
			t.Errorf("%s: %v allocations, want %v", name, got, c.want)
		}
	}
	var h http.Header
	if err := d.Decode(&b, known); err != nil {
		t.Fatal(err)
	}
	mapAllocs := testing.AllocsPerRun(100, func() {
		h = make(http.Header, len(b.Fields))
		for _, f := range b.Fields {
			h[f.Name] = nil
		}
	})
	if got := testing.AllocsPerRun(100, func() { h = Header(b.Fields) }); got > mapAllocs+1 {
		t.Errorf("a header takes %v allocations beside the map's %v, want 1", got-mapAllocs, mapAllocs)
	}
	_ = h
}
