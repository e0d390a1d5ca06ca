package hpack

// DefaultTableSize is the size of a dynamic table that nobody has changed
// (RFC 9113, 6.5.2).
const DefaultTableSize = 4096

// Decoder decodes the header blocks of one direction of a connection, all of
// them and in the order received. The zero Decoder is ready; until a block fills
// its table it has no memory but its own.
type Decoder struct {
	// Canonical says that names are given in the canonical case of http.Header
	// rather than as sent. Set it before the first block.
	Canonical bool

	// MaxListSize limits the fields of a block, each counted as [Field.Size] does;
	// 0 is no limit. What comes after the limit takes no memory.
	MaxListSize uint32

	table   decodeTable
	allowed uint32 // what the table may be set to
	lowest  uint32 // of all that allowed was since the last block
	started bool
	err     error
}

func (d *Decoder) start() {
	if !d.started {
		d.started = true
		d.allowed, d.lowest, d.table.max = DefaultTableSize, DefaultTableSize, DefaultTableSize
	}
}

// SetMaxTableSize sets how large the dynamic table may be, in bytes, once the
// peer has acknowledged the SETTINGS_HEADER_TABLE_SIZE that says so. A table that
// is larger then must be made smaller by the peer at the start of its next block
// (RFC 7541, 4.2): it is an error if it is not, as others (nghttp2) see it too.
func (d *Decoder) SetMaxTableSize(n uint32) {
	d.start()
	d.allowed = n
	d.lowest = min(d.lowest, n)
}

// Decode decodes one whole header block, its fragments joined, into b.
//
// After [ErrHeaderListTooLarge] b has the fields that came before the limit, and
// the next block can be decoded. Any other error is an [*Error]: b is empty
// then, and so all further blocks fail. Text beyond the limit that is kept
// nowhere is skipped and not looked into.
func (d *Decoder) Decode(b *Block, block []byte) error {
	b.begin()
	if d.err != nil {
		return d.err
	}
	d.start()
	d.table.begin()
	r := reading{d: d, b: b, wire: block, spare: int64(d.MaxListSize)}
	if d.MaxListSize == 0 {
		r.spare = 1<<63 - 1
	}
	err := r.fields()
	b.used = len(b.Fields)
	if err != nil {
		d.err = err
		d.table = decodeTable{}
		b.begin()
		return err
	}
	b.resolve()
	d.table.own(b)
	if r.spare < 0 {
		return ErrHeaderListTooLarge
	}
	return nil
}

// reading is the decoding of one block.
type reading struct {
	d     *Decoder
	b     *Block
	wire  []byte
	i     int   // place in wire
	spare int64 // what is left of the list's limit; negative once it was exceeded
}

var (
	errIndex        = &Error{"index beyond the table"}
	errIndexZero    = &Error{"index 0"}
	errLateUpdate   = &Error{"table size update after a field"}
	errLargeUpdate  = &Error{"table size update above the limit"}
	errAbsentUpdate = &Error{"table not made smaller as its new limit asks"}
)

// fields reads all representations of the block (RFC 7541, 6).
func (r *reading) fields() error {
	if err := r.updates(); err != nil {
		return err
	}
	for r.i < len(r.wire) {
		var err error
		switch first := r.wire[r.i]; {
		case first&0x80 != 0:
			err = r.indexed()
		case first&0x40 != 0:
			err = r.literal(0x3f, true, false)
		case first&0x20 != 0:
			err = errLateUpdate
		default:
			err = r.literal(0x0f, false, first&0x10 != 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// updates reads the table size updates that a block may begin with (RFC 7541,
// 4.2 and 6.3).
func (r *reading) updates() error {
	d := r.d
	for r.i < len(r.wire) && r.wire[r.i]&0xe0 == 0x20 {
		n, next, err := readInteger(r.wire, r.i, 0x1f)
		if err != nil {
			return err
		}
		if n > d.allowed {
			return errLargeUpdate
		}
		if d.table.max > d.lowest && n > d.lowest {
			return errAbsentUpdate
		}
		d.table.resize(n)
		d.lowest = d.allowed
		r.i = next
	}
	if r.i < len(r.wire) {
		if d.table.max > d.lowest {
			return errAbsentUpdate
		}
		d.lowest = d.allowed
	}
	return nil
}

// indexed reads a field that is in a table (RFC 7541, 6.1).
func (r *reading) indexed() error {
	index := uint32(r.wire[r.i] & 0x7f)
	if index < 0x7f {
		r.i++
	} else {
		var err error
		if index, r.i, err = readInteger(r.wire, r.i, 0x7f); err != nil {
			return err
		}
	}
	if index-1 < staticLen {
		f := &staticTable[index-1]
		if r.d.Canonical {
			f = &canonicalTable[index-1]
		}
		if r.count(f.Size()) {
			r.b.Fields = append(r.b.Fields, *f)
		}
		return nil
	}
	e, err := r.entry(index)
	if err != nil {
		return err
	}
	if !r.count(int(e.size)) {
		return nil
	}
	if e.literal != 0 {
		l := r.b.literals[e.literal-1]
		l.field = uint32(len(r.b.Fields))
		r.b.literals = append(r.b.literals, l)
	}
	r.b.Fields = append(r.b.Fields, Field{Name: e.name, Value: e.value, Flaws: e.flaws})
	return nil
}

// entry finds an entry of the dynamic table, whose indices follow those of the
// static one.
func (r *reading) entry(index uint32) (*entry, error) {
	switch {
	case index == 0:
		return nil, errIndexZero
	case index-staticLen-1 >= r.d.table.count:
		return nil, errIndex
	}
	return r.d.table.at(index - staticLen - 1), nil
}

// count takes a field's size off what is left of the limit, and reports whether
// the field is still within it.
func (r *reading) count(size int) bool {
	if r.spare < 0 {
		return false
	}
	r.spare -= int64(size)
	return r.spare >= 0
}

// literal reads a field whose value, and maybe name, is in the block (RFC 7541,
// 6.2). The bits of prefix in the first byte are the name's index or its begin.
func (r *reading) literal(prefix byte, indexing, sensitive bool) error {
	index := uint32(r.wire[r.i] & prefix)
	if index < uint32(prefix) {
		r.i++
	} else {
		var err error
		if index, r.i, err = readInteger(r.wire, r.i, prefix); err != nil {
			return err
		}
	}

	// A string longer than this is kept neither in the list nor in the table.
	useful := max(r.spare, -1)
	if indexing {
		useful = max(useful, int64(r.d.table.max))
	}

	b := r.b
	start := len(b.text)
	l := literal{name: uint32(start), nameEnd: uint32(start)}
	e := entry{}
	kept := true
	switch {
	case index == 0:
		var err error
		if kept, err = r.text(useful); err != nil {
			return err
		}
		if kept {
			l.nameEnd = uint32(len(b.text))
			name := b.text[start:]
			e.flaws = checkName(name)
			if r.d.Canonical {
				canonicalize(name, e.flaws)
			}
			e.size = uint32(len(name))
		}
	case index <= staticLen:
		e.static = true
		e.name = staticTable[index-1].Name
		if r.d.Canonical {
			e.name = canonicalTable[index-1].Name
		}
		e.size = uint32(len(e.name))
	default:
		other, err := r.entry(index)
		if err != nil {
			return err
		}
		e.name, e.static = other.name, other.static
		e.flaws = other.flaws &^ (ValueBytes | ValueSpace)
		e.size = uint32(len(e.name))
		if other.literal != 0 {
			if o := &b.literals[other.literal-1]; o.name != o.nameEnd {
				l.name, l.nameEnd = o.name, o.nameEnd
				e.size = o.nameEnd - o.name
			}
		}
	}

	valueStart := len(b.text)
	valueKept, err := r.text(useful)
	if err != nil {
		return err
	}
	if !kept || !valueKept {
		b.text = b.text[:start]
		r.spare = -1
		if indexing {
			r.d.table.evictTo(0) // it does not fit (RFC 7541, 4.4)
		}
		return nil
	}
	value := b.text[valueStart:]
	e.flaws |= checkValue(value)
	e.size += uint32(len(value)) + fieldOverhead
	l.value, l.valueEnd = uint32(valueStart), uint32(len(b.text))

	if r.count(int(e.size)) {
		l.field = uint32(len(b.Fields))
		b.Fields = append(b.Fields, Field{Name: e.name, Sensitive: sensitive, Flaws: e.flaws})
		b.literals = append(b.literals, l)
		e.literal = uint32(len(b.literals))
	} else {
		// Beyond the limit only the table wants the text.
		if indexing && e.size <= r.d.table.max {
			if l.name != l.nameEnd {
				e.name = string(b.text[l.name:l.nameEnd])
			}
			e.value = string(value)
		}
		b.text = b.text[:start]
	}
	if indexing {
		r.d.table.add(e)
	}
	return nil
}

// text reads a string (RFC 7541, 5.2) and appends it to the block's text. One
// that is surely longer than useful is skipped, and kept is false.
func (r *reading) text(useful int64) (kept bool, err error) {
	if r.i >= len(r.wire) {
		return false, errTruncated
	}
	first := r.wire[r.i]
	n := uint32(first & 0x7f)
	if n < 0x7f {
		r.i++
	} else if n, r.i, err = readInteger(r.wire, r.i, 0x7f); err != nil {
		return false, err
	}
	if uint64(n) > uint64(len(r.wire)-r.i) {
		return false, errTruncated
	}
	raw := r.wire[r.i : r.i+int(n)]
	r.i += int(n)
	if first&0x80 == 0 {
		if int64(n) > useful {
			return false, nil
		}
		r.b.text = append(r.b.text, raw...)
		return true, nil
	}
	if int64(leastDecoded(n)) > useful {
		return false, nil
	}
	r.b.text, err = appendHuffmanDecoded(r.b.text, raw)
	return err == nil, err
}
