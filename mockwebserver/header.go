package mockwebserver

import (
	"net/http"
	"slices"
	"strings"
)

// Field is one header line: a name in the case in which it is on the wire, and
// a value.
type Field struct {
	Name, Value string
}

// Header is a list of header lines in their order on the wire. Names are
// compared without regard to case.
type Header []Field

// Get returns the first value of name, or "".
func (h Header) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Has reports whether there is a line with that name.
func (h Header) Has(name string) bool {
	return slices.ContainsFunc(h, func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// Values returns all values of name, in order, or nil.
func (h Header) Values(name string) []string {
	var values []string
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// hasToken reports whether a line called name holds token in its
// comma-separated list.
func (h Header) hasToken(name, token string) bool {
	for _, f := range h {
		if !strings.EqualFold(f.Name, name) {
			continue
		}
		for part := range strings.SplitSeq(f.Value, ",") {
			if strings.EqualFold(strings.Trim(part, " \t"), token) {
				return true
			}
		}
	}
	return false
}

// HTTP returns the lines as a new http.Header, which knows neither order nor
// case.
func (h Header) HTTP() http.Header {
	m := make(http.Header, len(h))
	for _, f := range h {
		m.Add(f.Name, f.Value)
	}
	return m
}

// headerOf returns the lines of m sorted by name.
func headerOf(m http.Header) Header {
	h := make(Header, 0, len(m))
	for name, values := range m {
		for _, value := range values {
			h = append(h, Field{name, value})
		}
	}
	slices.SortStableFunc(h, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return h
}
