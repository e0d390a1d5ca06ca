package hpack

import "hash/maphash"

// maxEncoderTable bounds an encoder's table, whatever the peer allows: requests
// to one host have few fields in common, and each connection has a table.
const maxEncoderTable = DefaultTableSize

// Encoder encodes the header blocks of one direction of a connection, all of
// them and in the order sent. The zero Encoder is ready; until a field enters
// its table it has no memory but its own.
type Encoder struct {
	table   encodeTable
	started bool
	changed bool   // the table's size must be told
	lowest  uint32 // that it had since it was told
}

func (e *Encoder) start() {
	if !e.started {
		e.started = true
		e.table.max = maxEncoderTable
		e.table.next = 1
	}
}

// SetMaxTableSize takes the SETTINGS_HEADER_TABLE_SIZE of the peer, in bytes.
// Call it between blocks, when acknowledging: the next block begins with what
// must be said of it (RFC 7541, 4.2). The table is never above 4096 bytes.
func (e *Encoder) SetMaxTableSize(n uint32) {
	e.start()
	n = min(n, maxEncoderTable)
	if n == e.table.max && !e.changed {
		return
	}
	if !e.changed {
		e.lowest = n
	}
	e.changed = true
	e.lowest = min(e.lowest, n)
	e.table.resize(n)
}

// AppendField appends a field to the block in dst. Capital letters of the name
// become small ones, so that keys of http.Header will do. Name and value are not
// checked, and not kept.
//
// What changes with each message goes into no table, nor does what would fill
// more than half of it. Sensitive fields are encoded so that nobody on the way
// indexes them either (RFC 7541, 7.1.3), and so are Authorization,
// Proxy-Authorization, and a Cookie of less than 20 bytes.
func (e *Encoder) AppendField(dst []byte, name, value string, sensitive bool) []byte {
	e.start()
	if e.changed {
		dst = e.appendUpdates(dst)
	}

	var space [64]byte
	low := appendLower(space[:0], name)
	hash := maphash.Bytes(hashSeed, low)
	nameHash := uint32(hash >> 32)
	k := lookup(low, hash)
	rule := k.ruleFor(value)
	if sensitive {
		rule = neverIndex
	}

	nameIndex := uint32(0)
	if k != nil {
		nameIndex = uint32(k.static)
		if rule != neverIndex {
			for i := range uint32(k.values) {
				if staticTable[nameIndex+i-1].Value == value {
					return appendInteger(dst, 0x80, 0x7f, nameIndex+i)
				}
			}
		}
	}

	size := uint64(len(low)) + uint64(len(value)) + fieldOverhead
	if rule == index && size > uint64(e.table.max)/2 {
		rule = noIndex
	}
	var fieldHash uint32
	if rule == index {
		fieldHash = nameHash*31 + uint32(maphash.String(hashSeed, value)>>32)
		if age, ok := e.table.findField(fieldHash, low, value); ok {
			return appendInteger(dst, 0x80, 0x7f, staticLen+1+age)
		}
	}
	if nameIndex == 0 {
		if age, ok := e.table.findName(nameHash, low); ok {
			nameIndex = staticLen + 1 + age
		}
	}

	switch rule {
	case index:
		dst = appendInteger(dst, 0x40, 0x3f, nameIndex)
		e.table.add(nameHash, fieldHash, low, value)
	case noIndex:
		dst = appendInteger(dst, 0, 0x0f, nameIndex)
	case neverIndex:
		dst = appendInteger(dst, 0x10, 0x0f, nameIndex)
	}
	if nameIndex == 0 {
		dst = appendString(dst, low)
	}
	return appendString(dst, value)
}

// appendUpdates tells the smallest size that the table had since the last
// update, and the one that it has.
func (e *Encoder) appendUpdates(dst []byte) []byte {
	e.changed = false
	if e.lowest < e.table.max {
		dst = appendInteger(dst, 0x20, 0x1f, e.lowest)
	}
	return appendInteger(dst, 0x20, 0x1f, e.table.max)
}

// appendString appends a string in the shorter of its forms (RFC 7541, 5.2).
func appendString[S string | []byte](dst []byte, s S) []byte {
	if n := huffmanLen(s); n < len(s) {
		return appendHuffman(appendInteger(dst, 0x80, 0x7f, uint32(n)), s)
	}
	return append(appendInteger(dst, 0, 0x7f, uint32(len(s))), s...)
}

// appendLower appends a name in small letters.
func appendLower(dst []byte, name string) []byte {
	for i := range len(name) {
		b := name[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		dst = append(dst, b)
	}
	return dst
}
