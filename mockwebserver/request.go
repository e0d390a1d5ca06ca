package mockwebserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/url"
)

// RecordedRequest is a request as the server got it. It is plain data, and not
// changed once it can be seen.
type RecordedRequest struct {
	Method  string
	Target  string // as sent: a path with query, an absolute URL, an authority, or "*"
	Version string // "HTTP/1.1", "HTTP/1.0", "HTTP/2.0"

	// Header has the header lines in order, verbatim. On HTTP/2 it begins with
	// the pseudo-headers, but for ":method" and ":path", which are Method and
	// Target.
	Header Header

	// Body is the body, without the chunked coding, up to the server's body
	// limit. It is nil if there was none.
	Body []byte

	// BodySize is the whole size of the body, also of what Body leaves out.
	BodySize int64

	// ChunkSizes are the sizes of the chunks of a chunked body, without the
	// last, empty one; at most 65536 of them. It is nil if the body was not
	// chunked.
	ChunkSizes []int64

	// Trailer has the trailer lines of a chunked body.
	Trailer Header

	// ConnectionIndex and ExchangeIndex count from 0: connections of the
	// server, and requests on one connection. A request with ExchangeIndex 0
	// came on a new connection, any other on a reused one.
	ConnectionIndex int
	ExchangeIndex   int

	// StreamID is the HTTP/2 stream; 0 on HTTP/1. It is even for what the server
	// has promised by Response.WithPush.
	StreamID uint32

	// RemoteAddr is the client's address.
	RemoteAddr string

	// Tunnel is the target of the CONNECT request that opened the tunnel
	// through which the request came, such as "example.com:443"; "" if it came
	// through none.
	Tunnel string

	// TLS is the state of the connection's TLS; nil without TLS.
	TLS *tls.ConnectionState

	// SNI is the server name that the client sent in its TLS hello.
	SNI string

	// Failure says why the request is incomplete: the client hung up
	// (io.ErrUnexpectedEOF or an error of the socket), broke the rules of
	// HTTP (*BadRequestError), or reset its HTTP/2 stream (*HTTP2Error), or the
	// request was cut short on purpose (ErrScripted). What came before is in
	// the other fields. Nil for a complete request.
	Failure error
}

// BadRequestError is the Failure of a request that broke the rules of HTTP.
type BadRequestError struct {
	Status int    // of the answer the server gave: 400, 431 or 505; 0 if it reset an HTTP/2 stream
	Reason string // what was wrong
}

func (e *BadRequestError) Error() string { return "mockwebserver: bad request: " + e.Reason }

// Text returns the body as a string.
func (r *RecordedRequest) Text() string { return string(r.Body) }

// URL returns the URL the client asked for, put together from the target, the
// Host header and whether the connection has TLS. It is nil if that does not
// make a URL.
func (r *RecordedRequest) URL() *url.URL {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	text := r.Target
	switch {
	case r.Method == http.MethodConnect:
		text = scheme + r.Target + "/"
	case r.Target == "*":
		text = scheme + r.authority() + "/"
	case len(r.Target) > 0 && r.Target[0] == '/':
		text = scheme + r.authority() + r.Target
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil
	}
	return u
}

// authority returns the host, with a port if it was sent.
func (r *RecordedRequest) authority() string {
	if authority := r.Header.Get(":authority"); authority != "" {
		return authority
	}
	return r.Header.Get("Host")
}

// HTTP returns the request as a server of net/http would hand it to a handler,
// with a body that can be read once.
func (r *RecordedRequest) HTTP(ctx context.Context) (*http.Request, error) {
	u, err := url.ParseRequestURI(r.Target)
	if r.Method == http.MethodConnect {
		u, err = url.ParseRequestURI("http://" + r.Target)
	}
	if err != nil {
		return nil, err
	}
	if r.Method == http.MethodConnect {
		u.Scheme = ""
	}
	req := (&http.Request{
		Method:        r.Method,
		URL:           u,
		Proto:         r.Version,
		Header:        r.Header.HTTP(),
		Host:          r.authority(),
		Body:          http.NoBody,
		ContentLength: r.BodySize,
		RemoteAddr:    r.RemoteAddr,
		RequestURI:    r.Target,
		TLS:           r.TLS,
		Close:         r.wantsClose(),
	}).WithContext(ctx)
	req.ProtoMajor, req.ProtoMinor, _ = http.ParseHTTPVersion(r.Version)
	if u.Host != "" {
		req.Host = u.Host
	}
	req.Header.Del("Host")
	if r.StreamID != 0 {
		mendHTTP2Header(req.Header)
	}
	if r.Body != nil {
		req.Body = io.NopCloser(bytes.NewReader(r.Body))
	}
	if r.ChunkSizes != nil {
		req.ContentLength, req.TransferEncoding = -1, []string{"chunked"}
		req.Header.Del("Transfer-Encoding")
		req.Trailer = r.Trailer.HTTP()
	}
	return req, nil
}

// wantsClose reports whether the client asks for the connection to be closed
// after the response.
func (r *RecordedRequest) wantsClose() bool {
	if r.Header.hasToken("Connection", "close") {
		return true
	}
	return r.Version == "HTTP/1.0" && !r.Header.hasToken("Connection", "keep-alive")
}
