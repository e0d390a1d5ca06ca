package hpack

// decodeTable is the dynamic table of a decoder (RFC 7541, 2.3.2): a ring that
// grows with what is in it.
//
// What memory it holds is bounded, not only what RFC 7541 counts. An entry must
// not keep alive the text of the block that it came with, most of which may have
// no place in the table. So at the end of a block those of its entries that are
// still there get one string of their own, no longer than the table. Entries
// leave in the order in which they came, so of these strings only the oldest can
// have dead parts: in all they are at most twice as long as the table may be.
// An entry that took its name from another copies it, for the same reason.
type decodeTable struct {
	ring  []entry // a power of two long
	next  uint32  // number of the entry that comes next; its place is the low bits
	count uint32
	size  uint32 // as RFC 7541, 4.1, counts
	max   uint32

	// begun is next as it was when the current block began: entries from there on
	// have no string of their own yet.
	begun uint32
}

// entry is one field of the table.
type entry struct {
	name, value string
	size        uint32
	literal     uint32 // where both lie in the current block, see Block.literals, plus 1
	flaws       Flaws
	static      bool // the name is one of the static table
}

// at returns the entry i, counted from the newest, which is 0.
func (t *decodeTable) at(i uint32) *entry { return &t.ring[(t.next-1-i)&uint32(len(t.ring)-1)] }

// add inserts e, if it fits, after evicting what must go.
func (t *decodeTable) add(e entry) {
	if e.size > t.max {
		t.evictTo(0)
		return
	}
	t.evictTo(t.max - e.size)
	if int(t.count) == len(t.ring) {
		t.grow()
	}
	t.ring[t.next&uint32(len(t.ring)-1)] = e
	t.next++
	t.count++
	t.size += e.size
}

// resize sets how large the table may be.
func (t *decodeTable) resize(n uint32) {
	t.max = n
	t.evictTo(n)
	if n == 0 {
		t.ring = nil
	}
}

// evictTo removes the oldest entries until the size is at most n.
func (t *decodeTable) evictTo(n uint32) {
	for t.size > n {
		e := t.at(t.count - 1)
		t.size -= e.size
		*e = entry{}
		t.count--
	}
}

func (t *decodeTable) grow() {
	bigger := make([]entry, max(8, 2*len(t.ring)))
	for i := range t.count {
		bigger[(t.next-1-i)&uint32(len(bigger)-1)] = *t.at(i)
	}
	t.ring = bigger
}

// begin notes that a block begins.
func (t *decodeTable) begin() { t.begun = t.next }

// own gives the entries of the block that ends their string.
func (t *decodeTable) own(b *Block) {
	added := min(t.next-t.begun, t.count)
	if added == 0 {
		return
	}
	text := b.text
	start := len(text)
	for i := added; i > 0; i-- {
		e := t.at(i - 1)
		if e.literal == 0 {
			if !e.static {
				text = append(text, e.name...)
			}
			text = append(text, e.value...)
			continue
		}
		l := &b.literals[e.literal-1]
		switch {
		case e.static:
		case l.name != l.nameEnd:
			text = append(text, text[l.name:l.nameEnd]...)
		default:
			text = append(text, e.name...)
		}
		text = append(text, text[l.value:l.valueEnd]...)
	}
	b.text = text
	rest := string(text[start:])
	for i := added; i > 0; i-- {
		e := t.at(i - 1)
		if !e.static {
			n := len(e.name)
			if l := e.literal; l != 0 && b.literals[l-1].name != b.literals[l-1].nameEnd {
				n = int(b.literals[l-1].nameEnd - b.literals[l-1].name)
			}
			e.name, rest = rest[:n], rest[n:]
		}
		n := int(e.size) - fieldOverhead - len(e.name)
		e.value, rest = rest[:n], rest[n:]
		e.literal = 0
	}
}
