package hpack

import "net/http"

// knownDuplicates is how many repeated names are handled by looking through the
// fields, which is quicker for a few. A peer that sends thousands must not make
// it thousands times thousands.
const knownDuplicates = 16

// Header makes an http.Header of the fields of a decoder that is
// [Decoder.Canonical], pseudo-headers left out. All values share one slice.
func Header(fields []Field) http.Header {
	h := make(http.Header, len(fields))
	values := make([]string, len(fields))
	repeated := 0
	for i := range fields {
		f := &fields[i]
		if f.IsPseudo() {
			continue
		}
		if repeated >= knownDuplicates {
			h[f.Name] = append(h[f.Name], f.Value)
			continue
		}
		// Asking the map whether the name is there costs as much as storing. So
		// store, and mend the rare case that it was there.
		values[i] = f.Value
		before := len(h)
		h[f.Name] = values[i : i+1 : i+1] // an append must not touch the neighbour
		if len(h) == before {
			h[f.Name] = valuesOf(fields[:i+1], f.Name)
			repeated++
		}
	}
	return h
}

// valuesOf collects the values of all fields of that name.
func valuesOf(fields []Field, name string) []string {
	var all []string
	for i := range fields {
		if fields[i].Name == name {
			all = append(all, fields[i].Value)
		}
	}
	return all
}
