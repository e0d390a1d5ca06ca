package okhttp

import (
	"crypto/tls"
	"io"
	"net/http"
	"time"
)

// Info is what the client knows of how a response came about.
type Info struct {
	Protocol   string               // what was spoken, such as "http/1.1"
	TLS        *tls.ConnectionState // nil without TLS; shared: read only
	Connection Connection           // the connection that it came on, perhaps closed by now
	Route      Route                // the way that this connection took
	SentAt     time.Time            // when the request head was written
	ReceivedAt time.Time            // when the first response head arrived

	// Prior is the response that this one follows: the redirect, the challenge.
	// Its body is closed. Nil for the first of a call.
	Prior *http.Response

	// Network is the response as it came from the network, before it was
	// decompressed; its body must not be read.
	Network *http.Response
}

// InfoOf returns what is known of a response. It needs the response's own body,
// or a wrapper around it that has a method Unwrap() io.ReadCloser; it returns
// nil for others, such as those that an interceptor made up.
func InfoOf(resp *http.Response) *Info {
	if resp == nil {
		return nil
	}
	if past, ok := resp.Body.(closedBody); ok {
		return past.info
	}
	e := exchangeOf(resp)
	if e == nil {
		return nil
	}
	return &Info{
		Protocol: e.conn.Protocol(), TLS: e.conn.TLS(), Connection: Connection{e.conn},
		Route: Route(e.conn.Route()), SentAt: e.sent, ReceivedAt: e.sent.Add(e.received),
		Prior: e.prior, Network: e.networkResponse(),
	}
}

// exchangeOf finds the exchange that a response's body belongs to.
func exchangeOf(resp *http.Response) *exchange {
	var body any = resp.Body
	for range 32 { // a wrapper that unwraps to itself must not hold us
		switch b := body.(type) {
		case *responseBody:
			return b.exchange
		case *gzipBody:
			body = b.compressed
		case *upgradedBody:
			return b.exchange
		case interface{ Unwrap() io.ReadCloser }:
			body = b.Unwrap()
		default:
			return nil
		}
	}
	return nil
}

// networkResponse is the response as it came from the network.
func (e *exchange) networkResponse() *http.Response {
	if e.compressed != nil {
		return e.compressed
	}
	return &e.response
}
