package frame

import (
	"bytes"
	"fmt"
	"testing"
)

// Blocks of all lengths around the limit, in one frame or with continuations, by
// both ways to write them.
func TestWriteHeaders(t *testing.T) {
	const limit = 100
	before := []byte("before")
	for n := range 3*limit + 20 {
		block := make([]byte, n)
		for i := range block {
			block[i] = byte(i)
		}
		for _, endStream := range []bool{false, true} {
			wire := AppendHeaders(bytes.Clone(before), HeadersParam{StreamID: 5, Block: block, EndStream: endStream}, limit)
			checkBlock(t, wire[len(before):], Headers, block, endStream, (max(n, 1)+limit-1)/limit)

			around := BeginHeaders(bytes.Clone(before))
			around = append(around, block...)
			around = FinishHeaders(around, len(before), 5, endStream, limit)
			if !bytes.Equal(around, wire) {
				t.Fatalf("block of %d: FinishHeaders makes\n%x, AppendHeaders\n%x", n, around, wire)
			}
		}
		priority := &PriorityParam{Weight: 1}
		wire := AppendHeaders(nil, HeadersParam{StreamID: 5, Block: block, Priority: priority, Padding: make([]byte, 20)}, limit)
		checkBlock(t, wire, Headers, block, false, 0)
		wire = AppendPushPromise(nil, PushPromiseParam{StreamID: 5, PromisedID: 2, Block: block, Padding: make([]byte, 90)}, limit)
		checkBlock(t, wire, PushPromise, block, false, 0)
	}
}

// checkBlock reads what was written, and counts the frames unless want is 0.
func checkBlock(t *testing.T, wire []byte, first Type, block []byte, endStream bool, want int) {
	t.Helper()
	r := NewReader(bytes.NewReader(wire))
	r.MaxFrameSize = 100
	for n := 1; ; n++ {
		h, payload, err := r.ReadFrame()
		if err != nil {
			t.Fatalf("block of %d: frame %d: %v", len(block), n, err)
		}
		if h.StreamID != 5 || (n == 1) != (h.Type == first) || h.Flags.Has(EndStream) != (n == 1 && endStream) {
			t.Fatalf("block of %d: frame %d is %v", len(block), n, h)
		}
		fragment := payload
		switch h.Type {
		case Headers:
			f, err := ParseHeaders(h, payload)
			if err != nil {
				t.Fatal(err)
			}
			fragment = f.Fragment
		case PushPromise:
			f, err := ParsePushPromise(h, payload)
			if err != nil {
				t.Fatal(err)
			}
			fragment = f.Fragment
		}
		got, complete := r.Blocks.Join(h, fragment)
		if !complete {
			continue
		}
		if !bytes.Equal(got, block) {
			t.Fatalf("block of %d came back as %d bytes: %x", len(block), len(got), got)
		}
		if want != 0 && n != want {
			t.Fatalf("block of %d in %d frames, want %d", len(block), n, want)
		}
		if _, _, err := r.ReadFrame(); err == nil {
			t.Fatalf("block of %d: more frames", len(block))
		}
		return
	}
}

func TestWriteNoLimit(t *testing.T) {
	block := make([]byte, MinMaxFrameSize+1)
	wire := AppendHeaders(nil, HeadersParam{StreamID: 1, Block: block}, 0)
	if want := 2*HeaderLen + len(block); len(wire) != want {
		t.Errorf("%d bytes, want %d", len(wire), want)
	}
	around := FinishHeaders(append(BeginHeaders(nil), block...), 0, 1, false, 0)
	if !bytes.Equal(around, wire) {
		t.Error("FinishHeaders differs")
	}
}

func TestWriteAllocs(t *testing.T) {
	buf := make([]byte, 0, 1024)
	data := []byte("data")
	settings := []Setting{{MaxFrameSize, 1 << 15}}
	if n := testing.AllocsPerRun(100, func() {
		buf = AppendData(buf[:0], 1, data, true)
		buf = AppendSettings(buf, settings...)
		buf = AppendWindowUpdate(buf, 1, 10)
		buf = AppendPing(buf, true, [8]byte{1})
		buf = AppendRSTStream(buf, 1, Cancel)
		start := len(buf)
		buf = append(BeginHeaders(buf), data...)
		buf = FinishHeaders(buf, start, 1, true, 0)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var err error
	var l SettingList
	if n := testing.AllocsPerRun(100, func() {
		for rest := buf; len(rest) > 0 && err == nil; {
			h := ParseHeader([9]byte(rest))
			err = h.Check(MinMaxFrameSize)
			payload := rest[HeaderLen : HeaderLen+h.Length]
			rest = rest[HeaderLen+h.Length:]
			switch h.Type {
			case Data:
				_, err = ParseData(h, payload)
			case Settings:
				l, err = ParseSettings(h, payload)
			}
		}
	}); n != 0 || err != nil || l.Len() != 1 {
		t.Errorf("%v allocations to parse, %v", n, err)
	}
}

// A stream's reserved bit and what does not fit are cut off, not sent.
func TestWriteMasks(t *testing.T) {
	for got, want := range map[string]string{
		fmt.Sprintf("%x", AppendHeader(nil, Header{1<<24 + 1, Data, 0, 1<<32 - 1})):                "0000010000" + "7fffffff",
		fmt.Sprintf("%x", AppendWindowUpdate(nil, 1, 1<<32-1)[HeaderLen:]):                         "7fffffff",
		fmt.Sprintf("%x", AppendGoAway(nil, 1<<32-1, 1<<32-1, nil)[HeaderLen:]):                    "7fffffffffffffff"[:8] + "ffffffff",
		fmt.Sprintf("%x", AppendPriority(nil, 1, PriorityParam{1<<31 | 5, false, 7})[9:]):          "0000000507",
		fmt.Sprintf("%x", AppendPushPromise(nil, PushPromiseParam{1, 1<<31 | 2, nil, nil}, 0)[9:]): "00000002",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
