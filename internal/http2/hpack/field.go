// Package hpack is the header compression of HTTP/2 (RFC 7541), in both
// directions: a [Decoder] turns a whole header block into the fields of a
// [Block], and an [Encoder] appends fields to a block.
//
// It knows no frames and no connection, and nothing here may be used by two
// goroutines at once: a decoder belongs to whoever reads the connection, an
// encoder to whoever may write it.
package hpack

import "errors"

// Field is one field of a header block.
type Field struct {
	// Name is as sent, or in the canonical case of http.Header where
	// [Decoder.Canonical] is set. That of a pseudo-header begins with a colon.
	Name, Value string

	// Sensitive is set for the never-indexed form (RFC 7541, 6.2.3): whoever
	// sends the field on must keep it out of every table as well.
	Sensitive bool

	// Flaws says what is wrong with the name or the value. Decoding does not
	// fail for it, since it is the message that is malformed, not the block.
	Flaws Flaws
}

// fieldOverhead is what a field counts beside its text, in a table and in a
// header list (RFC 7541, 4.1; RFC 9113, 6.5.2).
const fieldOverhead = 32

// Size is what the field counts in a header list (RFC 9113, 6.5.2), in bytes.
func (f *Field) Size() int { return len(f.Name) + len(f.Value) + fieldOverhead }

// IsPseudo reports whether f is a pseudo-header (RFC 9113, 8.3).
func (f *Field) IsPseudo() bool { return len(f.Name) > 0 && f.Name[0] == ':' }

// ErrHeaderListTooLarge says that a block held more than
// [Decoder.MaxListSize]. The block was read to its end all the same, so that
// the connection may live on: it is a matter of the stream.
var ErrHeaderListTooLarge = errors.New("hpack: header list too large")

// Error is a block that does not follow RFC 7541. The tables of the two sides
// no longer agree, so the connection must end with COMPRESSION_ERROR
// (RFC 9113, 4.3).
type Error struct{ Reason string }

func (e *Error) Error() string { return "hpack: " + e.Reason }
