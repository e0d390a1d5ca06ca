package http2

import (
	"net/http"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// PushHandler takes what a server pushes on one connection (RFC 9113, 8.4). It is
// called by whoever reads the connection: in order, one call at a time, and it
// must not block. Each method that returns a bool says whether the push is still
// wanted; if not, it is reset and not heard of again.
type PushHandler interface {
	Promised(id uint32, method, url string, header http.Header) bool
	Headers(id uint32, status int, header http.Header, end bool) bool
	Data(id uint32, p []byte, end bool) bool

	// Reset ends a push that was wanted: the peer has reset it, or it was broken and
	// this side has.
	Reset(id uint32, err *httpsem.StreamError)

	// Lost ends all pushes, since the connection is over. It is called once, and
	// perhaps while, or after, another method is.
	Lost(err error)
}
