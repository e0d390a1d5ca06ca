package http2

import "net/http"

// PushHandler takes what a server pushes on one connection (RFC 9113, 8.4). It is
// called by whoever reads the connection: in order, one call at a time, and it
// must not block. Each method but Reset returns whether the push is still wanted;
// if not, it is reset and not heard of again.
type PushHandler interface {
	Promised(id uint32, method, url string, header http.Header) bool
	Headers(id uint32, status int, header http.Header, end bool) bool
	Data(id uint32, p []byte, end bool) bool
	Reset(id uint32, code uint32)
}
