package hpack

import (
	"net/http"
	"strconv"
	"testing"

	xhpack "golang.org/x/net/http2/hpack"
)

// Each benchmark runs this package and golang.org/x/net in turn, over the same
// block, to the same result: an http.Header with canonical keys.

var smallResponse = []Field{
	{Name: ":status", Value: "200"},
	{Name: "server", Value: "nginx/1.22.1"},
	{Name: "date", Value: "Thu, 31 Dec 2009 20:55:48 GMT"},
	{Name: "content-type", Value: "text/html; charset=UTF-8"},
	{Name: "content-length", Value: "13"},
	{Name: "last-modified", Value: "Thu, 31 Dec 2009 20:55:48 GMT"},
	{Name: "etag", Value: `"4b3d0f94-d"`},
}

var largeResponse = func() []Field {
	all := append([]Field(nil), smallResponse...)
	for i := len(all); i < 41; i++ {
		all = append(all, Field{Name: "x-custom-header-" + strconv.Itoa(i), Value: "value number " + strconv.Itoa(i) + " of a response"})
	}
	return all
}()

// benchBlocks are the ways a server may send a list.
var benchBlocks = []struct {
	name  string
	block func(fields []Field) []byte
}{
	{"raw", func(fields []Field) []byte { return literals(fields, 0, false) }},
	{"huffman", func(fields []Field) []byte { return literals(fields, 0, true) }},
	{"huffman-inserting", func(fields []Field) []byte { return literals(fields, 0x40, true) }},
	{"indexed", func(fields []Field) []byte {
		var block []byte // what a connection sends the second time
		for i := range fields {
			block = appendInteger(block, 0x80, 0x7f, staticLen+uint32(len(fields)-i))
		}
		return block
	}},
}

// literals encodes the fields with names in full.
func literals(fields []Field, form byte, huffman bool) (block []byte) {
	str := func(s string) {
		if huffman {
			block = appendHuffman(appendInteger(block, 0x80, 0x7f, uint32(huffmanLen(s))), s)
		} else {
			block = append(appendInteger(block, 0, 0x7f, uint32(len(s))), s...)
		}
	}
	for _, f := range fields {
		block = append(block, form)
		str(f.Name)
		str(f.Value)
	}
	return block
}

func BenchmarkDecode(b *testing.B) {
	for _, list := range []struct {
		name   string
		fields []Field
	}{{"6", smallResponse}, {"40", largeResponse}} {
		for _, kind := range benchBlocks {
			block := kind.block(list.fields)
			b.Run(list.name+"-"+kind.name+"/okhttp", func(b *testing.B) { benchOurs(b, list.fields, block, true) })
			b.Run(list.name+"-"+kind.name+"/xnet", func(b *testing.B) { benchXNet(b, list.fields, block, true) })
			b.Run(list.name+"-"+kind.name+"-fields/okhttp", func(b *testing.B) { benchOurs(b, list.fields, block, false) })
			b.Run(list.name+"-"+kind.name+"-fields/xnet", func(b *testing.B) { benchXNet(b, list.fields, block, false) })
		}
	}
}

func benchOurs(b *testing.B, fields []Field, block []byte, header bool) {
	b.ReportAllocs()
	d := Decoder{Canonical: true, MaxListSize: 256 << 10}
	var scratch Block
	if err := d.Decode(&scratch, literals(fields, 0x40, true)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := d.Decode(&scratch, block); err != nil {
			b.Fatal(err)
		}
		if !header {
			continue
		}
		if sink = Header(scratch.Fields); len(sink) != len(fields)-1 {
			b.Fatal("fields are missing")
		}
	}
}

var sink http.Header // escapes, as a response's does

func benchXNet(b *testing.B, fields []Field, block []byte, header bool) {
	b.ReportAllocs()
	var got []xhpack.HeaderField
	d := xhpack.NewDecoder(DefaultTableSize, func(f xhpack.HeaderField) { got = append(got, f) })
	if _, err := d.Write(literals(fields, 0x40, true)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		got = got[:0]
		if _, err := d.Write(block); err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
		if !header {
			continue
		}
		h := make(http.Header, len(got))
		values := make([]string, len(got))
		for i, f := range got {
			if f.IsPseudo() {
				continue
			}
			values[i] = f.Value
			key := http.CanonicalHeaderKey(f.Name)
			if old, ok := h[key]; ok {
				h[key] = append(old, f.Value)
			} else {
				h[key] = values[i : i+1 : i+1]
			}
		}
		sink = h
		if len(h) != len(fields)-1 {
			b.Fatal("fields are missing")
		}
	}
}

var request = []Field{
	{Name: ":method", Value: "GET"},
	{Name: ":path", Value: "/api/v1/things?page=12&size=50"},
	{Name: ":authority", Value: "api.example.com"},
	{Name: ":scheme", Value: "https"},
	{Name: "Accept", Value: "application/json"},
	{Name: "Accept-Encoding", Value: "gzip"},
	{Name: "User-Agent", Value: "okhttp-go/1.0"},
	{Name: "Authorization", Value: "Bearer 0123456789abcdef0123456789abcdef"},
	{Name: "X-Client-Version", Value: "12.34.56"},
}

func BenchmarkEncode(b *testing.B) {
	b.Run("okhttp", func(b *testing.B) {
		b.ReportAllocs()
		var e Encoder
		var buf []byte
		for b.Loop() {
			buf = buf[:0]
			for i := range request {
				buf = e.AppendField(buf, request[i].Name, request[i].Value, false)
			}
		}
		b.ReportMetric(float64(len(buf)), "wire-B")
	})
	b.Run("xnet", func(b *testing.B) {
		b.ReportAllocs()
		var buf countingWriter
		e := xhpack.NewEncoder(&buf)
		for b.Loop() {
			buf = 0
			for i := range request {
				f := xhpack.HeaderField{Name: lowerName(request[i].Name), Value: request[i].Value, Sensitive: request[i].Name == "Authorization"}
				if err := e.WriteField(f); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(buf), "wire-B")
	})
}

// lowerName is the table of small letters that net/http has.
func lowerName(name string) string { return lowerNames[name] }

var lowerNames = func() map[string]string {
	m := map[string]string{}
	for _, f := range request {
		m[f.Name] = string(appendLower(nil, f.Name))
	}
	return m
}()

type countingWriter int

func (w *countingWriter) Write(p []byte) (int, error) {
	*w += countingWriter(len(p))
	return len(p), nil
}

func BenchmarkHuffman(b *testing.B) {
	text := []byte("text/html; charset=UTF-8, Thu, 31 Dec 2009 20:55:48 GMT, https://www.example.com/index.html?a=b&c=d")
	code := appendHuffman(nil, text)
	buf := make([]byte, 0, 1024)
	b.Run("decode/okhttp", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			buf, _ = appendHuffmanDecoded(buf[:0], code)
		}
	})
	b.Run("decode/xnet", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			_, _ = xhpack.HuffmanDecodeToString(code)
		}
	})
	s := string(text)
	b.Run("encode/okhttp", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			buf = appendString(buf[:0], s)
		}
	})
	b.Run("encode/xnet", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if xhpack.HuffmanEncodeLength(s) < uint64(len(s)) {
				buf = xhpack.AppendHuffmanString(buf[:0], s)
			}
		}
	})
}
