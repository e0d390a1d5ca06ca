package hpack

// Integers (RFC 7541, 5.1): the low bits of one byte, then seven bits in each
// byte that follows.

var (
	errTruncated = &Error{"block ends within a field"}
	errInteger   = &Error{"integer too large"}
)

// maxIntegerBytes is how many bytes may follow the first. Five hold more than
// any length, index or size of use; a longer form can only hide something.
const maxIntegerBytes = 5

// readInteger reads the integer whose low bits, given by prefix (2^n-1), are in
// wire[i]. Next is the place after it. The result is below 2^31.
func readInteger(wire []byte, i int, prefix byte) (v uint32, next int, err error) {
	v = uint32(wire[i] & prefix)
	i++
	if v < uint32(prefix) {
		return v, i, nil
	}
	long := uint64(v)
	for n := range maxIntegerBytes {
		if i >= len(wire) {
			return 0, 0, errTruncated
		}
		b := wire[i]
		i++
		long += uint64(b&0x7f) << (7 * n)
		if b < 0x80 {
			if long > 1<<31-1 {
				return 0, 0, errInteger
			}
			return uint32(long), i, nil
		}
	}
	return 0, 0, errInteger
}

// appendInteger appends v with first as the bits above its prefix.
func appendInteger(dst []byte, first, prefix byte, v uint32) []byte {
	if v < uint32(prefix) {
		return append(dst, first|byte(v))
	}
	dst = append(dst, first|prefix)
	v -= uint32(prefix)
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}
