package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"strings"
)

// An answer is a response made before the first request: the bytes of head, then
// those of body, times over.
type answer struct {
	head  []byte // head and, if the body is small, the body too
	body  []byte
	times int
}

// dripHalf is the length of each half of the answer to /drip. The second half is
// sent only when the client asks for it on the control connection, so that a
// client can hold any number of connections busy without a goroutine for each.
const dripHalf = 13

// answers returns what the server says to each path.
func answers() map[string]answer {
	hello := []byte("Hello, world!")
	small := func(body []byte, extra string) answer {
		return answer{head: append(responseHead(len(body), extra), body...)}
	}
	zipped := compressed(jsonText(mib))
	return map[string]answer{
		"/13":   small(hello, ""),
		"/1k":   small(jsonText(kib), ""),
		"/40":   small(hello, manyHeaders(40)), // beside the usual four
		"/post": small(hello, ""),
		"/1m":   {head: responseHead(mib, ""), body: make([]byte, mib), times: 1},
		"/64m":  {head: responseHead(64*mib, ""), body: make([]byte, 256*kib), times: 256},
		"/gzip": {head: responseHead(len(zipped), "Content-Encoding: gzip\r\n"), body: zipped, times: 1},
		"/drip": {head: append(responseHead(2*dripHalf, ""), hello...), body: hello, times: 1},
	}
}

// responseHead returns a head with four header fields and extra.
func responseHead(length int, extra string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\n"+
		"Server: bench\r\n"+
		"Content-Type: application/json\r\n"+
		"Date: Tue, 01 Dec 2026 12:00:00 GMT\r\n"+
		"Content-Length: %d\r\n"+
		"%s\r\n", length, extra)
}

// manyHeaders returns n header fields with names that no client knows: two
// strings each, for a client that makes a string of each.
func manyHeaders(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "X-Response-Field-%d: the value of field %d\r\n", i, i)
	}
	return b.String()
}

// jsonText returns n bytes of JSON-like text, the same in every run, that
// compresses about as well as an API's answers do.
func jsonText(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("id name price currency stock warehouse city country email created updated total tax status open closed pending")
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, `{"%s":%d,"%s":"%s %x","%s":%.2f},`,
			words[random.IntN(len(words))], random.IntN(100000),
			words[random.IntN(len(words))], words[random.IntN(len(words))], random.Uint32(),
			words[random.IntN(len(words))], random.Float64()*1000)
	}
	return b.Bytes()[:n]
}

func compressed(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text) // a bytes.Buffer does not fail
	z.Close()
	return b.Bytes()
}
