package hpack_test

import (
	"errors"
	"fmt"

	"github.com/okhttp-go/okhttp/internal/http2/hpack"
)

// A request goes from one side of a connection to the other, twice.
func Example() {
	var encoder hpack.Encoder // of the client's connection
	var decoder hpack.Decoder // of the server's
	var block hpack.Block     // from a pool

	for range 2 {
		var wire []byte
		wire = encoder.AppendField(wire, ":method", "GET", false)
		wire = encoder.AppendField(wire, ":authority", "example.com", false)
		wire = encoder.AppendField(wire, "User-Agent", "okhttp-go", false)
		fmt.Println(len(wire), "bytes")

		if err := decoder.Decode(&block, wire); err != nil {
			fmt.Println(err)
			return
		}
		for _, f := range block.Fields {
			fmt.Println(f.Name, f.Value)
		}
		block.Reset()
	}
	// Output:
	// 20 bytes
	// :method GET
	// :authority example.com
	// user-agent okhttp-go
	// 3 bytes
	// :method GET
	// :authority example.com
	// user-agent okhttp-go
}

// A client makes an http.Header of a response.
func ExampleHeader() {
	decoder := hpack.Decoder{Canonical: true, MaxListSize: 256 << 10}
	var block hpack.Block
	wire := []byte("\x88\x5f\x0atext/plain\x40\x05x-tag\x01a")
	if err := decoder.Decode(&block, wire); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(block.Fields[0].Value)
	fmt.Println(hpack.Header(block.Fields))
	// Output:
	// 200
	// map[Content-Type:[text/plain] X-Tag:[a]]
}

// A list that is too large is the matter of its stream: the connection lives on.
func ExampleDecoder_Decode_limit() {
	decoder := hpack.Decoder{MaxListSize: 100}
	var block hpack.Block
	err := decoder.Decode(&block, []byte("\x82\x40\x01a\x40"+string(make([]byte, 64))))
	fmt.Println(errors.Is(err, hpack.ErrHeaderListTooLarge), len(block.Fields))

	err = decoder.Decode(&block, []byte{0x82})
	fmt.Println(err, block.Fields[0])
	// Output:
	// true 1
	// <nil> {:method GET false 0}
}
