package httpsem

import "time"

// ExchangeOptions are what one exchange asks of a codec. The zero value means
// no timeouts and the default bounds. They live here because the codecs and
// those that drive them may not import each other.
type ExchangeOptions struct {
	ReadTimeout  time.Duration // bounds each wait for bytes of the response
	WriteTimeout time.Duration // bounds each write of the request
	MaxHead      int64         // bytes of all response heads and trailers together; 0 means DefaultMaxHead
	HeaderOrder  []string      // names in the order and case in which they go out; others follow sorted
	Extra        [3]Field      // headers that go out with the request's own, which have none of these names; unused ones are zero
	Checked      bool          // the request has passed CheckRequest and nobody has changed it since
}

// Field is one header. Its name is in canonical case.
type Field struct{ Name, Value string }

// Bounds that hold unless an option says otherwise.
const (
	DefaultMaxHead = 256 << 10 // bytes of all heads and trailers of one exchange
	MaxInterim     = 32        // 1xx responses of one exchange
)
