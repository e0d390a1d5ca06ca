package frame

// The limits of a [Blocks] whose fields are 0.
const (
	// DefaultMaxBlock is for the frames of one header block, in bytes of payload.
	// It is twice the largest header list that a client takes, since a list that is
	// too large must be read all the same to keep the tables in step.
	DefaultMaxBlock = 512 << 10
	// DefaultMaxContinuations is for the CONTINUATION frames of one header block,
	// which may be empty: a block of the largest size takes half as many.
	DefaultMaxContinuations = 64
)

// Blocks watches over the frames of one direction of a connection: from HEADERS
// or PUSH_PROMISE to the frame with END_HEADERS nothing but CONTINUATION of the
// same stream may come (RFC 9113, 4.3 and 6.10). It bounds what such a sequence
// may take, and joins the fragments. The zero Blocks is ready.
type Blocks struct {
	MaxBytes         int // 0: DefaultMaxBlock
	MaxContinuations int // 0: DefaultMaxContinuations

	stream        uint32 // of the open block; 0: none is open
	bytes         int    // of payload so far
	continuations int
	joined        []byte
}

// Next takes note of a frame, whose header has passed [Header.Check]. Call it for
// every frame, of unknown type too, before its payload is read. An error is one
// of the connection, of type [*Error]: PROTOCOL_ERROR for a frame out of order,
// ENHANCE_YOUR_CALM for more than the limits.
func (b *Blocks) Next(h Header) error {
	switch {
	case h.Type == Continuation && b.stream == 0:
		return connError(ProtocolError, h, "continues no header block")
	case b.stream != 0 && (h.Type != Continuation || h.StreamID != b.stream):
		return connError(ProtocolError, h, "within a header block of another frame")
	case h.Type == Headers || h.Type == PushPromise:
		b.stream, b.bytes, b.continuations = h.StreamID, int(h.Length), 0
	case h.Type == Continuation:
		b.bytes += int(h.Length)
		b.continuations++
	default:
		return nil
	}
	if b.bytes > orDefault(b.MaxBytes, DefaultMaxBlock) {
		return connError(EnhanceYourCalm, h, "makes the header block too large")
	}
	if b.continuations > orDefault(b.MaxContinuations, DefaultMaxContinuations) {
		return connError(EnhanceYourCalm, h, "is one of too many")
	}
	if h.Flags.Has(EndHeaders) {
		b.stream = 0
	}
	return nil
}

// Open reports whether the next frame must be a CONTINUATION.
func (b *Blocks) Open() bool { return b.stream != 0 }

// Join takes the fragment of a HEADERS, PUSH_PROMISE or CONTINUATION frame that
// passed Next. With the last one it returns the whole block, which is valid until
// the next Join; a block of one frame is the fragment itself, not a copy.
func (b *Blocks) Join(h Header, fragment []byte) (block []byte, complete bool) {
	if h.Flags.Has(EndHeaders) && len(b.joined) == 0 {
		return fragment, true
	}
	b.joined = append(b.joined, fragment...)
	if !h.Flags.Has(EndHeaders) {
		return nil, false
	}
	block, b.joined = b.joined, nil // rare, and nothing for an idle connection to keep
	return block, true
}

func orDefault(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}
