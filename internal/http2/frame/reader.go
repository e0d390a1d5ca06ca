package frame

import (
	"errors"
	"fmt"
	"io"
)

// Reader reads frames one after the other, for tests and the mock server: it is
// made to be plain, not quick. It is for one goroutine.
type Reader struct {
	// MaxFrameSize is the SETTINGS_MAX_FRAME_SIZE announced to the peer; 0 is
	// MinMaxFrameSize.
	MaxFrameSize uint32
	// Blocks holds the limits for header blocks, and joins their fragments.
	Blocks Blocks

	r       io.Reader
	payload []byte
}

// NewReader makes a Reader of what comes after the client's preface. It reads no
// further than the frame asked for.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// ReadFrame reads the next frame, which has passed [Header.Check] and
// [Blocks.Next]: what remains is to parse its payload, which is valid until the
// next call. After an [*Error] of a stream the frame has been read and reading
// may go on; after any other error it may not. The end between two frames is io.EOF,
// within one io.ErrUnexpectedEOF.
func (r *Reader) ReadFrame() (h Header, payload []byte, err error) {
	var head [HeaderLen]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return h, nil, ended(err, "header")
	}
	h = ParseHeader(head)
	checked := h.Check(uint32(frameLimit(r.MaxFrameSize)))
	if e := (*Error)(nil); errors.As(checked, &e) && e.StreamID == 0 {
		return h, nil, checked
	}
	if err := r.Blocks.Next(h); err != nil {
		return h, nil, err
	}
	if n := int(h.Length); n > cap(r.payload) {
		r.payload = make([]byte, n)
	}
	payload = r.payload[:h.Length]
	if _, err := io.ReadFull(r.r, payload); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return h, nil, ended(err, h.Type.String())
	}
	return h, payload, checked
}

// ended gives an error of the connection its place; io.EOF stays as it is.
func ended(err error, what string) error {
	if err == io.EOF {
		return err
	}
	return fmt.Errorf("http2: reading a frame's %s: %w", what, err)
}
