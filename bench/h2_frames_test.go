package main

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
)

// framesOf lists the frames in b, of which each read gets no more than step bytes.
func framesOf(t *testing.T, b []byte, step int) (got []string, err error) {
	t.Helper()
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		for piece := range slices.Chunk(b, step) {
			far.Write(piece)
		}
	}()
	defer near.Close()
	r := frameReader{conn: near, buf: make([]byte, 16)}
	for r.fill() == nil {
		err := r.each(func(f frame) error {
			got = append(got, fmt.Sprintf("%d/%d on %d: %s", f.kind, f.flags, f.stream, f.payload))
			return nil
		})
		if err != nil {
			return got, err
		}
	}
	return got, nil
}

func TestFrameReader(t *testing.T) {
	b := appendFrameHeader(nil, frameHeaders, flagEndHeaders, 3, 5)
	b = append(b, "block"...)
	b = appendFrameHeader(b, frameData, flagEndStream, 3, 6)
	b = append(b, "abcdef"...)
	b = appendFrameHeader(b, frameData, flagEndStream, 5, 0)
	b = appendWindowUpdate(b, 0, 0x41424344)
	ping := appendFrameHeader(nil, framePing, 0, 0, 8)
	ping = append(ping, "are you?"...)
	b = append(b, ping...)

	got, err := framesOf(t, b, len(b))
	want := []string{"1/4 on 3: block", "0/1 on 3: abcdef", "0/1 on 5: ", "8/0 on 0: ABCD", "6/0 on 0: are you?"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("frames %q, %v", got, err)
	}

	// DATA comes in the pieces it is read in, everything else whole.
	got, err = framesOf(t, b, 1)
	want = slices.Replace(want, 1, 2, "0/0 on 3: a", "0/0 on 3: b", "0/0 on 3: c", "0/0 on 3: d", "0/0 on 3: e", "0/1 on 3: f")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("frames byte by byte %q, %v", got, err)
	}
}

func TestFrameReaderRefuses(t *testing.T) {
	for name, b := range map[string][]byte{
		"padded":        appendFrameHeader(nil, frameData, flagPadded, 1, 1),
		"more than one": appendFrameHeader(nil, frameHeaders, 0, 1, 1),
		"WINDOW_UPDATE": appendFrameHeader(nil, frameWindowUpdate, 0, 1, 3),
		"16385 bytes":   appendFrameHeader(nil, framePing, 0, 0, defaultMaxFrame+1),
	} {
		if _, err := framesOf(t, b, len(b)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSettings(t *testing.T) {
	sent := []setting{{settingMaxFrame, 1 << 20}, {settingInitialWindow, largestWindow}}
	b := appendSettings(nil, sent...)
	got, err := framesOf(t, b, len(b))
	if err != nil || len(got) != 1 {
		t.Fatalf("frames %q, %v", got, err)
	}
	f := frame{kind: frameSettings, payload: b[frameHeaderLength:]}
	if !slices.Equal(f.settings(), sent) {
		t.Errorf("settings %v", f.settings())
	}
	if reply := f.appendReply(nil); !bytes.Equal(reply, []byte{0, 0, 0, frameSettings, flagAck, 0, 0, 0, 0}) {
		t.Errorf("reply %x", reply)
	}
	f.flags = flagAck
	if reply := f.appendReply(nil); len(reply) > 0 {
		t.Errorf("reply to a reply %x", reply)
	}
}
