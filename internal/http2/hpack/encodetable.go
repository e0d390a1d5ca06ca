package hpack

// encodeTable is the dynamic table of an encoder: a ring of entries whose text
// lies in one slice, with a hash table over names and over whole fields. All of
// it grows with what is in it, and makes no garbage.
type encodeTable struct {
	ring  []encodeEntry // a power of two long
	heads []heads       // twice as long
	next  uint32        // number of the entry that comes next, from 1 on
	count uint32
	size  uint32
	max   uint32

	text []byte // of all entries, oldest first; what lies before the oldest is dead
}

// heads are the newest entries whose hash ends in the heads' index. Numbers of
// entries that are no longer there may stay: their age tells.
type heads struct{ field, name uint32 }

type encodeEntry struct {
	at                      uint32 // name and value in the text
	name, value             uint16 // their lengths
	fieldHash, nameHash     uint32
	olderField, olderByName uint32 // the next older entries of the same heads
}

// age is how many entries are newer than entry n. What is at least count is gone.
func (t *encodeTable) age(n uint32) uint32 { return t.next - 1 - n }

func (t *encodeTable) entry(n uint32) *encodeEntry { return &t.ring[n&uint32(len(t.ring)-1)] }

func (t *encodeTable) headsOf(hash uint32) *heads { return &t.heads[hash&uint32(len(t.heads)-1)] }

// findField returns the age of the newest entry with that name and value.
func (t *encodeTable) findField(hash uint32, name []byte, value string) (age uint32, ok bool) {
	if t.count == 0 {
		return 0, false
	}
	n := t.headsOf(hash).field
	for age = t.age(n); age < t.count; {
		e := t.entry(n)
		if e.fieldHash == hash && int(e.name) == len(name) && int(e.value) == len(value) &&
			string(t.text[e.at:e.at+uint32(e.name)]) == string(name) &&
			string(t.text[e.at+uint32(e.name):e.at+uint32(e.name)+uint32(e.value)]) == value {
			return age, true
		}
		n = e.olderField
		older := t.age(n)
		if older <= age {
			break // numbers have wrapped
		}
		age = older
	}
	return 0, false
}

// findName returns the age of the newest entry with that name.
func (t *encodeTable) findName(hash uint32, name []byte) (age uint32, ok bool) {
	if t.count == 0 {
		return 0, false
	}
	n := t.headsOf(hash).name
	for age = t.age(n); age < t.count; {
		e := t.entry(n)
		if e.nameHash == hash && string(t.text[e.at:e.at+uint32(e.name)]) == string(name) {
			return age, true
		}
		n = e.olderByName
		older := t.age(n)
		if older <= age {
			break
		}
		age = older
	}
	return 0, false
}

// add inserts a field that is no larger than the table.
func (t *encodeTable) add(nameHash, fieldHash uint32, name []byte, value string) {
	size := uint32(len(name)+len(value)) + fieldOverhead
	t.evictTo(t.max - size)
	if int(t.count) == len(t.ring) {
		t.grow()
	}
	t.makeRoom(len(name) + len(value))
	e := t.entry(t.next)
	*e = encodeEntry{
		at: uint32(len(t.text)), name: uint16(len(name)), value: uint16(len(value)),
		fieldHash: fieldHash, nameHash: nameHash,
	}
	t.text = append(append(t.text, name...), value...)
	t.link(t.next, e)
	t.next++
	t.count++
	t.size += size
}

// link makes entry n the newest of its hashes.
func (t *encodeTable) link(n uint32, e *encodeEntry) {
	h := t.headsOf(e.fieldHash)
	e.olderField, h.field = h.field, n
	h = t.headsOf(e.nameHash)
	e.olderByName, h.name = h.name, n
}

// makeRoom moves the text to the front where that saves growing.
func (t *encodeTable) makeRoom(n int) {
	if len(t.text)+n <= cap(t.text) {
		return
	}
	dead := len(t.text)
	if t.count > 0 {
		dead = int(t.entry(t.next - t.count).at)
	}
	if dead < len(t.text)/2 {
		return
	}
	t.text = t.text[:copy(t.text, t.text[dead:])]
	for i := range t.count {
		t.entry(t.next - 1 - i).at -= uint32(dead)
	}
}

func (t *encodeTable) grow() {
	old := *t
	t.ring = make([]encodeEntry, max(8, 2*len(old.ring)))
	t.heads = make([]heads, 2*len(t.ring))
	for i := t.count; i > 0; i-- {
		n := t.next - i
		e := t.entry(n)
		*e = *old.entry(n)
		t.link(n, e)
	}
}

// resize sets how large the table may be.
func (t *encodeTable) resize(n uint32) {
	t.max = n
	t.evictTo(n)
	if n == 0 {
		t.ring, t.heads, t.text = nil, nil, nil
	}
}

// evictTo removes the oldest entries until the size is at most n.
func (t *encodeTable) evictTo(n uint32) {
	for t.size > n {
		e := t.entry(t.next - t.count)
		t.size -= uint32(e.name) + uint32(e.value) + fieldOverhead
		t.count--
	}
}
