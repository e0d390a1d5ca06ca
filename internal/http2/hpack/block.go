package hpack

// Block is the memory that a header block is decoded into. Use one again for the
// next block: it is no part of a decoder, so that idle connections need none.
// The zero Block is ready.
type Block struct {
	// Fields are those of the block, in the order sent. The slice is valid until
	// the next Decode or Reset and may be changed freely. The strings stay valid:
	// all literal text of a block is one string, and what came from the table
	// belongs to the decoder's strings of at most the table's size each.
	Fields []Field

	used     int       // length of Fields as decoded, whatever has become of it
	text     []byte    // all literals, one after the other
	literals []literal // those fields whose text has not become a string yet
}

// A literal says where in the text a field's parts lie.
type literal struct {
	field           uint32 // index in Fields
	name, nameEnd   uint32 // equal where the name is in the field already
	value, valueEnd uint32
}

// A block much larger than usual must not stay in a pool for good.
const (
	keptFields = 256
	keptText   = 16 << 10
)

// Reset lets go of all strings, and of more memory than usual blocks need.
func (b *Block) Reset() {
	b.begin()
	if cap(b.Fields) > keptFields {
		b.Fields = nil
	}
	if cap(b.literals) > keptFields {
		b.literals = nil
	}
	if cap(b.text) > keptText {
		b.text = nil
	}
}

// begin empties b.
func (b *Block) begin() {
	clear(b.Fields[:min(b.used, cap(b.Fields))])
	b.Fields, b.literals, b.text = b.Fields[:0], b.literals[:0], b.text[:0]
}

// resolve turns the text into one string and gives the fields their parts of it.
func (b *Block) resolve() {
	if len(b.literals) == 0 {
		return
	}
	text := string(b.text)
	for i := range b.literals {
		l := &b.literals[i]
		f := &b.Fields[l.field]
		if l.name != l.nameEnd {
			f.Name = text[l.name:l.nameEnd]
		}
		f.Value = text[l.value:l.valueEnd]
	}
}
