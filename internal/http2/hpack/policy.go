package hpack

import "hash/maphash"

// indexing is what an encoder does with a field (RFC 7541, 6.2).
type indexing uint8

const (
	// index: the field goes into the table, to be a byte or two the next time.
	index indexing = iota
	// noIndex: the value is another each time, and would only push out others.
	noIndex
	// neverIndex: the value is a secret. A table would let who can add fields of
	// his own to the connection guess it by the length of the block (RFC 7541, 7.1).
	neverIndex
)

// knownNames holds the names with a place in the static table, and those with a
// rule of their own.
var knownNames = []struct {
	name string
	rule indexing
}{
	// Pseudo-headers but for the authority are another each time, or static.
	{":method", noIndex}, {":path", noIndex}, {":scheme", noIndex}, {":status", noIndex},

	{"authorization", neverIndex}, {"proxy-authorization", neverIndex},

	{"age", noIndex}, {"content-length", noIndex}, {"content-range", noIndex}, {"etag", noIndex},
	{"if-match", noIndex}, {"if-modified-since", noIndex}, {"if-none-match", noIndex},
	{"if-range", noIndex}, {"if-unmodified-since", noIndex}, {"last-modified", noIndex},
	{"location", noIndex}, {"range", noIndex}, {"set-cookie", noIndex},
	{"idempotency-key", noIndex}, {"traceparent", noIndex}, {"x-request-id", noIndex},
}

// shortCookie is the length below which a cookie could be guessed (RFC 7541,
// 7.1.3). Longer ones, sent again and again, are what compression is good for.
const shortCookie = 20

// knownName is what an encoder knows of a name.
type knownName struct {
	name   string
	static uint8 // index of the first entry of the static table, 0 for none
	values uint8 // entries of the static table with a value, from there on
	rule   indexing
	cookie bool
}

// ruleFor decides for a value of the name; k may be nil.
func (k *knownName) ruleFor(value string) indexing {
	switch {
	case k == nil:
		return index
	case k.cookie && len(value) < shortCookie:
		return neverIndex
	default:
		return k.rule
	}
}

// hashSeed makes hashes that nobody outside can foresee.
var hashSeed = maphash.MakeSeed()

// known finds a knownName by the hash of its name. Few places are taken, so
// that a name which is not known mostly ends at an empty one.
var known = func() (t [512]knownName) {
	get := func(name string) *knownName {
		i := maphash.String(hashSeed, name) % uint64(len(t))
		for t[i].name != "" && t[i].name != name {
			i = (i + 1) % uint64(len(t))
		}
		t[i].name = name
		return &t[i]
	}
	for i, f := range staticTable {
		k := get(f.Name)
		if k.static == 0 {
			k.static = uint8(i + 1)
		}
		if f.Value != "" {
			k.values++
		}
	}
	for _, r := range knownNames {
		get(r.name).rule = r.rule
	}
	get("cookie").cookie = true
	return t
}()

// lookup finds what is known of a name, given its hash; nil is nothing.
func lookup(name []byte, hash uint64) *knownName {
	for i := hash % uint64(len(known)); ; i = (i + 1) % uint64(len(known)) {
		switch k := &known[i]; k.name {
		case string(name):
			return k
		case "":
			return nil
		}
	}
}
