package frame

import (
	"strings"
	"testing"
)

// A line of a blocks script: a frame, and the verdict on it. "" is none.
type blocksStep struct {
	h    Header
	want string
}

func TestBlocksOrder(t *testing.T) {
	open := Header{3, Headers, 0, 1}
	more := Header{3, Continuation, 0, 1}
	last := Header{3, Continuation, EndHeaders, 1}
	for _, c := range []struct {
		name  string
		steps []blocksStep
	}{
		{"one frame", []blocksStep{{Header{3, Headers, EndHeaders, 1}, ""}, {Header{3, Data, 0, 1}, ""}}},
		{"three frames", []blocksStep{{open, ""}, {more, ""}, {last, ""}, {Header{3, Data, 0, 1}, ""}}},
		{"a promise and more", []blocksStep{{Header{7, PushPromise, 0, 1}, ""}, {last, ""}, {open, ""}}},
		{"continuation of nothing", []blocksStep{{last, "PROTOCOL_ERROR"}}},
		{"continuation after the end", []blocksStep{{open, ""}, {last, ""}, {last, "PROTOCOL_ERROR"}}},
		{"continuation of another stream", []blocksStep{{open, ""}, {Header{3, Continuation, 0, 3}, "PROTOCOL_ERROR"}}},
		{"data within", []blocksStep{{open, ""}, {Header{3, Data, 0, 1}, "PROTOCOL_ERROR"}}},
		{"headers within", []blocksStep{{open, ""}, {open, "PROTOCOL_ERROR"}}},
		{"ping within", []blocksStep{{open, ""}, {more, ""}, {Header{8, Ping, 0, 0}, "PROTOCOL_ERROR"}}},
		{"unknown type within", []blocksStep{{open, ""}, {Header{0, 0x99, 0, 1}, "PROTOCOL_ERROR"}}},
	} {
		var b Blocks
		for i, s := range c.steps {
			if got := verdict(b.Next(s.h)); got != s.want {
				t.Errorf("%s: frame %d: %q, want %q", c.name, i, got, s.want)
			}
			if open := s.h.Type != Data && !s.h.Flags.Has(EndHeaders); s.want == "" && b.Open() != open {
				t.Errorf("%s: after frame %d the block is open: %v, want %v", c.name, i, b.Open(), open)
			}
		}
	}
}

func TestBlocksLimits(t *testing.T) {
	flood := func(b *Blocks, length uint32) (frames int) {
		if b.Next(Header{length, Headers, 0, 1}) != nil {
			return 0
		}
		for frames = 1; frames < 1<<20; frames++ {
			if err := b.Next(Header{length, Continuation, 0, 1}); err != nil {
				if verdict(err) != "ENHANCE_YOUR_CALM" {
					t.Error(err)
				}
				return frames
			}
		}
		return frames
	}
	for _, c := range []struct {
		name   string
		blocks Blocks
		length uint32
		want   int // frames accepted
	}{
		{"empty frames", Blocks{}, 0, 1 + DefaultMaxContinuations},
		{"full frames", Blocks{}, MinMaxFrameSize, DefaultMaxBlock / MinMaxFrameSize},
		{"few continuations", Blocks{MaxContinuations: 3}, 10, 4},
		{"few bytes", Blocks{MaxBytes: 100}, 33, 3},
		{"a first frame too large", Blocks{MaxBytes: 100}, 101, 0},
	} {
		if got := flood(&c.blocks, c.length); got != c.want {
			t.Errorf("%s: %d were accepted, want %d", c.name, got, c.want)
		}
	}
	// The account begins anew with each block.
	var b Blocks
	for range 1000 {
		for _, h := range []Header{{MinMaxFrameSize, Headers, 0, 1}, {MinMaxFrameSize, Continuation, EndHeaders, 1}} {
			if err := b.Next(h); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestBlocksJoin(t *testing.T) {
	var b Blocks
	whole := []byte("whole")
	if got, ok := b.Join(Header{Type: Headers, Flags: EndHeaders}, whole); !ok || &got[0] != &whole[0] {
		t.Error("a block of one frame was copied")
	}
	var first []byte
	for i, fragments := range [][]string{{"", "a", "", "b"}, {"x", "y", ""}, {"", ""}} {
		for j, f := range fragments {
			h := Header{Type: Continuation}
			if j == len(fragments)-1 {
				h.Flags = EndHeaders
			}
			buffer := []byte(f)
			got, ok := b.Join(h, buffer)
			for k := range buffer {
				if !ok {
					buffer[k] = '?' // the reader uses its buffer again
				}
			}
			if ok != (h.Flags == EndHeaders) || ok && string(got) != strings.Join(fragments, "") {
				t.Errorf("block %d, fragment %d: %q, %v", i, j, got, ok)
			}
			if i == 0 && ok {
				first = got
			}
		}
	}
	if string(first) != "ab" {
		t.Errorf("the first block has become %q", first)
	}
	if b.joined != nil {
		t.Error("memory is kept between blocks")
	}
}
