package hpack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	xhpack "golang.org/x/net/http2/hpack"
)

func encode(e *Encoder, fields ...Field) (block []byte) {
	for _, f := range fields {
		block = e.AppendField(block, f.Name, f.Value, f.Sensitive)
	}
	return block
}

func TestEncodeForms(t *testing.T) {
	const indexed, inserting, without, never = 0x80, 0x40, 0x00, 0x10
	long := strings.Repeat("v", 2100)
	for _, c := range []struct {
		f     Field
		form  byte
		again byte // the second time
	}{
		{Field{Name: ":method", Value: "GET"}, indexed, indexed},
		{Field{Name: ":method", Value: "PURGE"}, without, without},
		{Field{Name: ":path", Value: "/"}, indexed, indexed},
		{Field{Name: ":path", Value: "/a"}, without, without},
		{Field{Name: ":scheme", Value: "https"}, indexed, indexed},
		{Field{Name: ":status", Value: "404"}, indexed, indexed},
		{Field{Name: ":status", Value: "418"}, without, without},
		{Field{Name: ":authority", Value: "a.example"}, inserting, indexed},
		{Field{Name: "accept-encoding", Value: "gzip, deflate"}, indexed, indexed},
		{Field{Name: "Accept-Encoding", Value: "gzip"}, inserting, indexed},
		{Field{Name: "X-Unknown", Value: "v"}, inserting, indexed},
		{Field{Name: "x-large", Value: long}, without, without},
		{Field{Name: "Content-Length", Value: "12"}, without, without},
		{Field{Name: "Authorization", Value: "Basic abcdefghijklmnopqrstuvwxyz"}, never, never},
		{Field{Name: "PROXY-authorization", Value: "x"}, never, never},
		{Field{Name: "cookie", Value: "short=123456"}, never, never},
		{Field{Name: "cookie", Value: "long=1234567890123456"}, inserting, indexed},
		{Field{Name: "X-Secret", Value: "v", Sensitive: true}, never, never},
		{Field{Name: ":method", Value: "GET", Sensitive: true}, never, never},
	} {
		var e Encoder
		var d Decoder
		var b Block
		for i, want := range []byte{c.form, c.again} {
			block := encode(&e, c.f)
			mask := byte(0xf0)
			switch {
			case want == indexed:
				mask = 0x80
			case want == inserting:
				mask = 0xc0
			}
			if block[0]&mask != want {
				t.Errorf("%v, time %d: %x", c.f, i+1, block)
			}
			if err := d.Decode(&b, block); err != nil {
				t.Fatal(err)
			}
			low := strings.ToLower(c.f.Name) + ": " + c.f.Value
			if got := plain(b.Fields); !slices.Equal(got, []string{low}) || b.Fields[0].Sensitive != (want == never) {
				t.Errorf("%v, time %d: came back as %+v", c.f, i+1, b.Fields)
			}
		}
	}
}

// A field of an entry's name and another value refers to the entry for the name.
func TestEncodeNameOfEntry(t *testing.T) {
	var e Encoder
	encode(&e, Field{Name: "X-Name", Value: "1"})
	if got, want := encode(&e, Field{Name: "x-name", Value: "2"}), []byte{0x7e, 1, '2'}; !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
	secret := Field{Name: "X-Name", Value: "3", Sensitive: true}
	if got, want := encode(&e, secret), []byte{0x1f, 62 - 15, 1, '3'}; !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestEncodeTableSize(t *testing.T) {
	field := Field{Name: ":method", Value: "GET"}
	for _, c := range []struct {
		name  string
		sizes []uint32
		want  string
	}{
		{"the same", []uint32{4096}, "82"},
		{"above the bound", []uint32{1 << 20}, "82"},
		{"lower", []uint32{100}, "3f4582"},
		{"zero", []uint32{0}, "2082"},
		{"lower, and back", []uint32{100, 4096}, "3f453fe11f82"},
		{"twice lower", []uint32{100, 50}, "3f1382"},
		{"lower, lower, and up", []uint32{100, 0, 50}, "203f1382"},
		{"up and down", []uint32{5000, 100}, "3f4582"},
	} {
		var e Encoder
		for _, n := range c.sizes {
			e.SetMaxTableSize(n)
		}
		if got := fmt.Sprintf("%x", encode(&e, field)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if got := fmt.Sprintf("%x", encode(&e, field)); got != "82" {
			t.Errorf("%s: afterwards %s", c.name, got)
		}
	}
}

// The encoder and two decoders agree about the table for many random fields:
// evictions, growing, text that moves, sizes that change.
func TestEncodeRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(7541, 1))
	var e Encoder
	var d Decoder
	var b Block
	x := xhpack.NewDecoder(DefaultTableSize, nil)
	hits := 0
	for range 4000 {
		if r.IntN(200) == 0 {
			n := []uint32{0, 33, 100, 1000, 4096, 1 << 16}[r.IntN(6)]
			e.SetMaxTableSize(n)
			d.SetMaxTableSize(n)
			x.SetAllowedMaxDynamicTableSize(n)
		}
		var fields []Field
		for range 1 + r.IntN(8) {
			fields = append(fields, Field{
				Name:  fmt.Sprintf("name-%d", r.IntN(12)),
				Value: strings.Repeat("v", []int{0, 0, 9, 10, 300, 1000}[r.IntN(6)]) + fmt.Sprint(r.IntN(3)),
			})
		}
		block := encode(&e, fields...)
		if block[0]&0x80 != 0 {
			hits++
		}
		if err := d.Decode(&b, block); err != nil {
			t.Fatal(err)
		}
		theirs, err := x.DecodeFull(block)
		if err != nil {
			t.Fatal(err)
		}
		if want := plain(fields); !slices.Equal(plain(b.Fields), want) || !slices.Equal(plain(ofXNet(theirs)), want) {
			t.Fatalf("%q came back as %q, and for x/net as %q", want, plain(b.Fields), plain(ofXNet(theirs)))
		}
		if d.table.size != e.table.size || d.table.count != e.table.count || e.table.size > 4096 {
			t.Fatalf("decoder's table: %d entries of %d bytes; encoder's: %d of %d", d.table.count, d.table.size, e.table.count, e.table.size)
		}
		if n := cap(e.table.text); n > 3*DefaultTableSize {
			t.Fatalf("%d bytes of text", n)
		}
	}
	if hits < 100 {
		t.Errorf("only %d blocks began with an entry of the table", hits)
	}
}

// The numbers of entries may wrap.
func TestEncodeWrappedNumbers(t *testing.T) {
	var e Encoder
	e.start()
	e.table.next = 1<<32 - 50
	var d Decoder
	d.start()
	d.table.next = 1<<32 - 50
	var b Block
	for i := range 1000 {
		fields := []Field{{Name: "a", Value: fmt.Sprint(i)}, {Name: "a", Value: fmt.Sprint(i - 5)}, {Name: "b", Value: ""}}
		if err := d.Decode(&b, encode(&e, fields...)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(plain(b.Fields), plain(fields)) {
			t.Fatalf("%q came back as %q", plain(fields), plain(b.Fields))
		}
	}
}

func TestEncodeAllocs(t *testing.T) {
	var e Encoder
	buf := encode(&e, request...)
	if got := testing.AllocsPerRun(100, func() {
		buf = buf[:0]
		for i := range request {
			buf = e.AppendField(buf, request[i].Name, request[i].Value, false)
		}
	}); got != 0 {
		t.Errorf("%v allocations for a repeated request", got)
	}
	values := make([]string, 1000)
	for i := range values {
		values[i] = fmt.Sprint("value-", i)
	}
	for _, v := range values {
		buf = e.AppendField(buf[:0], "x-changes", v, false)
	}
	i := 0
	if got := testing.AllocsPerRun(1000, func() {
		buf = e.AppendField(buf[:0], "x-changes", values[i%len(values)], false)
		i++
	}); got != 0 {
		t.Errorf("%v allocations for a new value", got)
	}
}
