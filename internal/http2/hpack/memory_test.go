package hpack

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// heapGrowth tells how many bytes of heap are in use after f, beyond those before.
func heapGrowth(f func()) int {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int(after.HeapAlloc) - int(before.HeapAlloc)
}

// An idle connection has these, and no memory for what it has not done yet.
func TestIdleSize(t *testing.T) {
	if n := unsafe.Sizeof(Decoder{}); n > 112 {
		t.Errorf("a decoder takes %d bytes", n)
	}
	if n := unsafe.Sizeof(Encoder{}); n > 112 {
		t.Errorf("an encoder takes %d bytes", n)
	}
	used := make([]struct {
		d Decoder
		e Encoder
	}, 100)
	growth := heapGrowth(func() {
		var b Block
		var wire []byte
		for i := range used {
			d, e := &used[i].d, &used[i].e
			if err := d.Decode(&b, []byte{0x88}); err != nil {
				t.Fatal(err)
			}
			wire = wire[:0]
			for _, f := range request {
				wire = e.AppendField(wire, f.Name, f.Value, false)
			}
		}
	})
	// Eight entries, 16 heads and their text.
	if per := growth / len(used); per > 700 {
		t.Errorf("a connection that was used once takes %d bytes more", per)
	}
	runtime.KeepAlive(used)
}

// An entry of the table must not keep the block alive that it came with.
func TestTableKeepsNoBlocks(t *testing.T) {
	block := literals([]Field{{Name: "large", Value: strings.Repeat("v", 100_000)}}, 0, false)
	block = append(block, literals([]Field{{Name: "k", Value: ""}}, 0x40, false)...)
	var d Decoder
	growth := heapGrowth(func() {
		var b Block
		for range 200 {
			if err := d.Decode(&b, block); err != nil {
				t.Fatal(err)
			}
		}
	})
	if d.table.count < 100 {
		t.Fatalf("%d entries", d.table.count)
	}
	if growth > 64<<10 {
		t.Errorf("%d bytes are kept by a table of %d", growth, d.table.size)
	}
	runtime.KeepAlive(&d)
}

// Nor through a name that it took from an entry which has left, be it in the same
// block or in the next, be it within the list's limit or beyond.
func TestTableKeepsNoNeighbours(t *testing.T) {
	for _, limit := range []uint32{0, 1} {
		d := Decoder{MaxListSize: limit}
		growth := heapGrowth(func() {
			var b Block
			for i := range 200 {
				large := literals([]Field{{Name: "k", Value: strings.Repeat("v", 4000-33*min(i, 60))}}, 0x40, false)
				for _, block := range [][]byte{large, {0x7e, 0}, append(large, 0x7e, 0)} {
					if err := d.Decode(&b, block); err != nil && !errors.Is(err, ErrHeaderListTooLarge) {
						t.Fatal(err)
					}
				}
			}
		})
		if growth > 64<<10 {
			t.Errorf("limit %d: %d bytes are kept by a table of %d", limit, growth, d.table.size)
		}
		runtime.KeepAlive(&d)
	}
}

// A bomb: one large entry, then thousands of indices or names of it. What is
// beyond the limit must take no memory, and the table stays in step.
func TestBomb(t *testing.T) {
	entry := literals([]Field{{Name: strings.Repeat("n", 2000), Value: strings.Repeat("v", 2000)}}, 0x40, false)
	zeros := []Field{{Name: "a", Value: strings.Repeat("0", 1600)}} // the shortest code
	for name, bomb := range map[string][]byte{
		"indices":                 bytes.Repeat([]byte{0xbe}, 100_000),
		"names":                   bytes.Repeat([]byte{0x0f, 62 - 15, 0}, 100_000),
		"names of new entries":    bytes.Repeat([]byte{0x7e, 0}, 100_000),
		"values in Huffman code":  bytes.Repeat(literals(zeros, 0, true), 2000),
		"entries in Huffman code": bytes.Repeat(literals(zeros, 0x40, true), 2000),
		"many small fields":       bytes.Repeat([]byte{0x82}, 300_000),
		"many small new entries":  bytes.Repeat([]byte{0x40, 1, 'a', 0}, 50_000),
	} {
		t.Run(name, func(t *testing.T) {
			bomb := append(append([]byte(nil), entry...), bomb...)
			d := Decoder{MaxListSize: 64 << 10}
			var b Block
			growth := heapGrowth(func() {
				if err := d.Decode(&b, bomb); !errors.Is(err, ErrHeaderListTooLarge) {
					t.Fatal(err)
				}
			})
			// The fields within the limit, with some room: 2000 of the smallest.
			if growth > 600<<10 {
				t.Errorf("%d bytes for a limit of %d", growth, d.MaxListSize)
			}
			size := 0
			for i := range b.Fields {
				size += b.Fields[i].Size()
			}
			if size > 64<<10 {
				t.Errorf("a list of %d bytes", size)
			}
			b.Reset()
			if cap(b.Fields) > keptFields || cap(b.text) > keptText || cap(b.literals) > keptFields {
				t.Error("much memory is kept")
			}
			if err := d.Decode(&b, []byte{0xbe}); err != nil {
				t.Error(err)
			}
		})
	}
}

// A pooled block keeps no string, whatever its user did to the slice.
func TestResetLetsGo(t *testing.T) {
	var d Decoder
	var b Block
	if err := d.Decode(&b, literals(smallResponse, 0, false)); err != nil {
		t.Fatal(err)
	}
	all := b.Fields
	b.Fields = b.Fields[:2]
	b.Reset()
	for i, f := range all {
		if f != (Field{}) {
			t.Errorf("field %d is still %v", i, f)
		}
	}
}
