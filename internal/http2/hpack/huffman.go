package hpack

import "encoding/binary"

// The Huffman code of RFC 7541, appendix B, is canonical: the lengths say all.
// Codes of one length follow each other in the order of their symbols, and the
// first of a length follows the last of the length before. What remains, 30
// ones, is EOS.
var huffmanLengths = [...]struct {
	bits    uint8
	symbols string
}{
	{5, "012aceiost"},
	{6, " %-./3456789=A_bdfghlmnpru"},
	{7, ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz"},
	{8, "&*,;XZ"},
	{10, "!\"()?"},
	{11, "'+|"},
	{12, "#>"},
	{13, "\x00$@[]~"},
	{14, "^}"},
	{15, "<`{"},
	{19, "\\\xc3\xd0"},
	{20, "\x80\x82\x83\xa2\xb8\xc2\xe0\xe2"},
	{21, "\x99\xa1\xa7\xac\xb0\xb1\xb3\xd1\xd8\xd9\xe3\xe5\xe6"},
	{22, "\x81\x84\x85\x86\x88\x92\x9a\x9c\xa0\xa3\xa4\xa9\xaa\xad\xb2\xb5\xb9\xba\xbb\xbd\xbe\xc4\xc6\xe4\xe8\xe9"},
	{23, "\x01\x87\x89\x8a\x8b\x8c\x8d\x8f\x93\x95\x96\x97\x98\x9b\x9d\x9e\xa5\xa6\xa8\xae\xaf\xb4\xb6\xb7\xbc\xbf\xc5\xe7\xef"},
	{24, "\x09\x8e\x90\x91\x94\x9f\xab\xce\xd7\xe1\xec\xed"},
	{25, "\xc7\xcf\xea\xeb"},
	{26, "\xc0\xc1\xc8\xc9\xca\xcd\xd2\xd5\xda\xdb\xee\xf0\xf2\xf3\xff"},
	{27, "\xcb\xcc\xd3\xd4\xd6\xdd\xde\xdf\xf1\xf4\xf5\xf6\xf7\xf8\xfa\xfb\xfc\xfd\xfe"},
	{28, "\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14\x15\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f\xdc\xf9"},
	{30, "\x0a\x0d\x16"},
}

// decodeBits is how many bits of input one look into the decoding table takes.
// Twelve hold two of the symbols that headers are made of, in 16 KiB.
const decodeBits = 12

// A step is an entry of the decoding table: the one or two symbols that its bits
// begin with, how many bits the first takes, and how many all of them. With no
// symbol, the code is longer than the bits.
//
//	0–7 first symbol, 8–15 second, 16–19 bits of the first, 20–23 bits of all, 24–25 symbols
type step uint32

func (s step) firstBits() uint { return uint(s>>16) & 15 }
func (s step) bits() uint      { return uint(s>>20) & 15 }
func (s step) symbols() int    { return int(s >> 24) }

var (
	huffmanCode  [256]uint32 // right-aligned
	huffmanBits  [256]uint8
	huffmanSteps [1 << decodeBits]step
	longCodes    []longCode
)

// longCode is the codes of one length above decodeBits: those below limit, and
// not those of the length before, left-aligned in 32 bits.
type longCode struct {
	bits         uint8
	first, limit uint32
	symbols      string
}

func init() {
	var code uint32
	var last uint8
	for _, l := range huffmanLengths {
		code <<= l.bits - last
		last = l.bits
		first := code
		for i := range len(l.symbols) {
			huffmanCode[l.symbols[i]], huffmanBits[l.symbols[i]] = code, l.bits
			code++
		}
		if l.bits > decodeBits {
			align := 32 - l.bits
			longCodes = append(longCodes, longCode{l.bits, first << align, code << align, l.symbols})
			continue
		}
		for i := range len(l.symbols) {
			from := (first + uint32(i)) << (decodeBits - l.bits)
			for j := range uint32(1) << (decodeBits - l.bits) {
				huffmanSteps[from+j] = 1<<24 | step(l.bits)<<20 | step(l.bits)<<16 | step(l.symbols[i])
			}
		}
	}
	single := huffmanSteps
	for i, s := range single {
		if s == 0 {
			continue
		}
		next := single[i<<s.bits()&(1<<decodeBits-1)]
		if all := s.bits() + next.bits(); next != 0 && all <= decodeBits {
			huffmanSteps[i] = 2<<24 | step(all)<<20 | step(s.bits())<<16 | next&0xff<<8 | s&0xff
		}
	}
}

var errHuffman = &Error{"invalid Huffman code"}

// appendHuffmanDecoded appends what src stands for. It refuses the EOS symbol
// and padding that is not the begin of it or is longer than 7 bits (RFC 7541, 5.2).
func appendHuffmanDecoded(dst, src []byte) ([]byte, error) {
	// Each symbol has at least 5 bits. Each step writes two bytes, wanted or not.
	n := len(dst)
	dst = grow(dst, len(src)*8/5+2)

	var acc uint64 // input, left-aligned; what lies below the valid bits will be had again
	var valid uint
	all := src
	for len(src) >= 8 {
		acc |= binary.BigEndian.Uint64(src) >> valid
		src = src[(63-valid)>>3:]
		valid |= 56
		for range 56 / decodeBits {
			s := huffmanSteps[acc>>(64-decodeBits)]
			if s.symbols() == 0 {
				if valid < 30 {
					break
				}
				b, bits := longSymbol(uint32(acc >> 32))
				if bits == 0 {
					return nil, errHuffman
				}
				dst[n] = b
				n++
				acc <<= bits
				valid -= bits
				if valid < 3*decodeBits {
					break
				}
				continue
			}
			out := dst[n : n+2]
			out[0], out[1] = byte(s), byte(s>>8)
			n += s.symbols()
			acc <<= s.bits()
			valid -= s.bits()
		}
	}
	// The rest is less than 8 bytes. Take it off the last 8, if there are as many.
	acc = acc >> (64 - valid) << (64 - valid)
	if len(src) > 0 && len(all) >= 8 {
		taken := min(len(src), int(64-valid)/8)
		last := binary.BigEndian.Uint64(all[len(all)-8:]) << (64 - 8*len(src))
		last = last >> (64 - 8*taken) << (64 - 8*taken)
		acc |= last >> valid
		valid += 8 * uint(taken)
		src = src[taken:]
	}
	for {
		for len(src) > 0 && valid <= 56 {
			acc |= uint64(src[0]) << (56 - valid)
			valid += 8
			src = src[1:]
		}
		// After the input come ones: with them no shorter code can match than EOS.
		padded := acc | ^uint64(0)>>valid
		s := huffmanSteps[padded>>(64-decodeBits)]
		switch {
		case s.symbols() > 0 && s.bits() <= valid:
			dst[n], dst[n+1] = byte(s), byte(s>>8)
			n += s.symbols()
			acc <<= s.bits()
			valid -= s.bits()
		case s.symbols() > 0 && s.firstBits() <= valid:
			dst[n] = byte(s)
			n++
			acc <<= s.firstBits()
			valid -= s.firstBits()
		case ^padded == 0 && valid < 8:
			return dst[:n], nil
		default:
			b, bits := longSymbol(uint32(padded >> 32))
			if bits == 0 || bits > valid {
				return nil, errHuffman
			}
			dst[n] = b
			n++
			acc <<= bits
			valid -= bits
		}
	}
}

// longSymbol finds the symbol whose code of more than decodeBits begins v, and
// the bits of it, which are 0 for EOS.
func longSymbol(v uint32) (symbol byte, bits uint) {
	for i := range longCodes {
		if c := &longCodes[i]; v < c.limit {
			if v < c.first {
				return 0, 0
			}
			return c.symbols[(v-c.first)>>(32-c.bits)], uint(c.bits)
		}
	}
	return 0, 0
}

// leastDecoded is a length that n bytes of Huffman code stand for at least.
func leastDecoded(n uint32) uint32 {
	if n == 0 {
		return 0
	}
	return uint32((uint64(n)*8 - 7) / 30)
}

// huffmanLen is the length of s in Huffman code, in bytes.
func huffmanLen[S string | []byte](s S) int {
	bits := 0
	for i := range len(s) {
		bits += int(huffmanBits[s[i]])
	}
	return (bits + 7) / 8
}

// appendHuffman appends s in Huffman code.
func appendHuffman[S string | []byte](dst []byte, s S) []byte {
	var acc uint64 // the low bits wait to be written
	var bits uint
	for i := range len(s) {
		c := s[i]
		acc = acc<<(huffmanBits[c]%64) | uint64(huffmanCode[c])
		bits += uint(huffmanBits[c])
		if bits >= 32 {
			bits %= 32
			dst = binary.BigEndian.AppendUint32(dst, uint32(acc>>bits))
		}
	}
	// After the input come ones, to the end of the byte.
	last := uint32(acc<<(32-bits)) | ^uint32(0)>>bits
	for ; bits > 8; bits -= 8 {
		dst = append(dst, byte(last>>24))
		last <<= 8
	}
	if bits > 0 {
		dst = append(dst, byte(last>>24))
	}
	return dst
}

// grow makes dst n bytes longer.
func grow(dst []byte, n int) []byte {
	if n <= cap(dst)-len(dst) {
		return dst[:len(dst)+n]
	}
	return append(dst, make([]byte, n)...)
}
