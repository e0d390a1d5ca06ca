package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A reply is what the server says to a path, in no version of HTTP yet: header
// fields, and a body that is one piece times over.
type reply struct {
	fields []field
	piece  []byte
	times  int
	held   bool // all but the first piece wait until they are released
}

type field struct{ name, value string }

// dripHalf is the length of each half of the answer to /drip. The second half is
// sent only when the client asks for it on the control connection, so that a
// client can hold any number of connections busy without a goroutine for each.
const dripHalf = 13

// replies returns what the server says to each path.
func replies() map[string]reply {
	hello := []byte("Hello, world!")
	zeros := make([]byte, 256*kib)
	zipped := compressed(jsonText(mib))
	all := map[string]reply{
		"/13":   {piece: hello, times: 1},
		"/1k":   {piece: jsonText(kib), times: 1},
		"/40":   {piece: hello, times: 1, fields: manyFields(40)}, // beside the usual four
		"/post": {piece: hello, times: 1},
		"/1m":   {piece: zeros, times: 4},
		"/16m":  {piece: zeros, times: 64},
		"/64m":  {piece: zeros, times: 256},
		"/gzip": {piece: zipped, times: 1, fields: []field{{"Content-Encoding", "gzip"}}},
		"/drip": {piece: hello, times: 2, held: true},
	}
	for path, r := range all {
		r.fields = append([]field{
			{"Server", "bench"},
			{"Content-Type", "application/json"},
			{"Date", "Tue, 01 Dec 2026 12:00:00 GMT"},
			{"Content-Length", strconv.Itoa(len(r.piece) * r.times)},
		}, r.fields...)
		all[path] = r
	}
	return all
}

// An answer is a response in HTTP/1.1, made before the first request: the bytes of
// head, then those of body, times over.
type answer struct {
	head  []byte // and, if it is small, the first piece of the body
	body  []byte
	times int
	held  bool // the body waits until it is released
}

// answers returns the replies in HTTP/1.1.
func answers() map[string]answer {
	all := map[string]answer{}
	for path, r := range replies() {
		a := answer{head: r.head(), body: r.piece, times: r.times, held: r.held}
		if len(r.piece) <= kib {
			a.head = append(a.head, r.piece...)
			a.times--
		}
		all[path] = a
	}
	return all
}

// head returns the reply's head in HTTP/1.1.
func (r reply) head() []byte {
	head := []byte("HTTP/1.1 200 OK\r\n")
	for _, f := range r.fields {
		head = fmt.Appendf(head, "%s: %s\r\n", f.name, f.value)
	}
	return append(head, "\r\n"...)
}

// manyFields returns n header fields with names that no client knows: two
// strings each, for a client that makes a string of each.
func manyFields(n int) []field {
	var all []field
	for i := range n {
		all = append(all, field{fmt.Sprintf("X-Response-Field-%d", i), fmt.Sprintf("the value of field %d", i)})
	}
	return all
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
