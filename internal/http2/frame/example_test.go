package frame_test

import (
	"bytes"
	"fmt"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
)

// Frames are written into one buffer, and taken out of it where they lie.
func Example() {
	var buf []byte
	buf = frame.AppendSettings(buf, frame.Setting{ID: frame.InitialWindowSize, Value: 1 << 20})
	buf = frame.AppendData(buf, 1, []byte("hello"), true)

	var blocks frame.Blocks
	for len(buf) >= frame.HeaderLen {
		h := frame.ParseHeader([frame.HeaderLen]byte(buf))
		if err := h.Check(frame.MinMaxFrameSize); err != nil {
			fmt.Println(err)
			return
		}
		if err := blocks.Next(h); err != nil {
			fmt.Println(err)
			return
		}
		payload := buf[frame.HeaderLen:][:h.Length]
		buf = buf[frame.HeaderLen+h.Length:]
		switch h.Type {
		case frame.Settings:
			settings, err := frame.ParseSettings(h, payload)
			for s := range settings.All() {
				fmt.Println(s, err)
			}
		case frame.Data:
			data, err := frame.ParseData(h, payload)
			fmt.Printf("%s, end of stream: %v, %v\n", data.Data, h.Flags.Has(frame.EndStream), err)
		}
	}
	// Output:
	// INITIAL_WINDOW_SIZE=1048576 <nil>
	// hello, end of stream: true, <nil>
}

// A header block is encoded where it will be sent from.
func ExampleFinishHeaders() {
	var buf []byte
	start := len(buf)
	buf = frame.BeginHeaders(buf)
	buf = append(buf, "encoded fields"...)
	buf = frame.FinishHeaders(buf, start, 1, true, 10)

	r := frame.NewReader(bytes.NewReader(buf))
	for {
		h, payload, err := r.ReadFrame()
		if err != nil {
			return
		}
		fmt.Printf("%v: %s\n", h, payload)
		if block, complete := r.Blocks.Join(h, payload); complete {
			fmt.Printf("%s\n", block)
		}
	}
	// Output:
	// HEADERS on stream 1, 10 bytes, flags 0x01: encoded fi
	// CONTINUATION on stream 1, 4 bytes, flags 0x04: elds
	// encoded fields
}
