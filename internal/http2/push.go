package http2

import "net/http"

// PushHandler takes what a server sends unasked (RFC 9113, 8.4). Its methods are
// called one after the other on a goroutine of the connection. Those that return
// true cancel the stream, of which nothing is heard any more.
type PushHandler interface {
	// Promised is a request that the server will answer without being asked.
	Promised(id uint32, request *http.Request) (cancel bool)

	// Headers are those of the response, or its trailers: then status is 0. last
	// says that nothing follows.
	Headers(id uint32, status int, header http.Header, last bool) (cancel bool)

	// Data is a part of the response body, which is valid during the call.
	Data(id uint32, p []byte, last bool) (cancel bool)

	// Reset says that the server has given the stream up. code is that of RFC 9113,
	// 7.
	Reset(id uint32, code uint32)
}
