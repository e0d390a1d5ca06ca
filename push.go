package okhttp

import (
	"net/http"

	"github.com/okhttp-go/okhttp/internal/connect"
)

// Push is one response that a server sends without being asked for it (RFC 9113
// section 8.4). It is identified by its pointer.
type Push struct {
	StreamID   uint32 // even, and new for each push of a connection
	Connection Connection

	// Request is what the server says it answers: a GET or HEAD, without body, to
	// the origin of the call that it belongs to. Others are refused unheard.
	Request *http.Request
}

// PushObserver takes what servers push over HTTP/2. Each method that returns a bool
// cancels the push with true; then no more is heard of it.
//
// The methods are called while a connection is read, so all that is on it waits
// for them: they must not block, nor wait for a call. Those of one connection come one after
// another, those of different connections at once. A push that was not cancelled
// ends with a last, or with OnPushReset.
type PushObserver interface {
	// OnPushRequest tells of a new push.
	OnPushRequest(p *Push) (cancel bool)

	// OnPushHeaders tells of a response head, which may be informational (1xx), or,
	// with status 0, of trailers. The header belongs to the observer.
	OnPushHeaders(p *Push, status int, header http.Header, last bool) (cancel bool)

	// OnPushData brings a part of the body, which is empty at most with last. The
	// bytes are only valid during the call. They are not decompressed.
	OnPushData(p *Push, data []byte, last bool) (cancel bool)

	// OnPushReset tells that no more will come: of one push, because the server has
	// reset it or has broken a rule with it (a [*StreamError]), or of all that were
	// open when their connection ended (its error).
	OnPushReset(p *Push, err error)
}

// WithPushObserver has servers push, and sets who takes it. At most 100 pushes
// may be open on a connection; more are refused. What arrives is not cached.
// Default nil: servers are told not to push.
func WithPushObserver(o PushObserver) Option {
	return howOption("WithPushObserver", func(c *connect.Config) error {
		c.Push = nil
		if o != nil {
			c.Push = func(c *connect.Conn) connect.PushHandler {
				return &pushes{observer: o, conn: Connection{c}, open: map[uint32]*Push{}}
			}
		}
		return nil
	})
}
