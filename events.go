package okhttp

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"net/url"
)

// Event is one step of a call. The concrete types of this file are all events
// there are; a switch over them is how a listener reads its call. New types may
// be added, so a switch needs no default that fails.
//
// An event's fields are read only, and bodies of its requests and responses
// must not be touched.
type Event interface{ event() }

// CallStart is the first event of a call, unless it was canceled before.
type CallStart struct{}

// DispatcherQueueStart says that an enqueued call has to wait for a place.
type DispatcherQueueStart struct{ Dispatcher *Dispatcher }

// DispatcherQueueEnd says that a call that waited starts now.
type DispatcherQueueEnd struct{ Dispatcher *Dispatcher }

// ProxySelectStart says that the way to an origin is being chosen.
type ProxySelectStart struct{ URL *url.URL }

// ProxySelectEnd names the proxies to try in order; an empty list means the
// direct way only.
type ProxySelectEnd struct {
	URL     *url.URL
	Proxies []*url.URL
}

// DNSStart says that a name is being resolved. IP literals are not.
type DNSStart struct{ Host string }

// DNSEnd gives the addresses in the resolver's order. There is none after a failure.
type DNSEnd struct {
	Host      string
	Addresses []netip.Addr
}

// ConnectStart says that a socket is being opened. Several may be open at once
// when addresses are raced.
type ConnectStart struct{ Route Route }

// SecureConnectStart says that the TLS handshake begins.
type SecureConnectStart struct{ Route Route }

// SecureConnectEnd says that the handshake and all checks have passed.
type SecureConnectEnd struct {
	Route Route
	TLS   *tls.ConnectionState
}

// ConnectEnd says that a connection is ready.
type ConnectEnd struct {
	Route    Route
	Protocol string // "http/1.1"
}

// ConnectFailed says that one attempt to connect has failed; others may follow.
type ConnectFailed struct {
	Route Route
	Err   error
}

// ConnectionDiscarded says that an idle connection was found dead, or with
// bytes that nobody had asked for, when the call was about to reuse it.
type ConnectionDiscarded struct {
	Connection Connection
	Reason     error
}

// ConnectionAcquired says that the call holds a connection from now on.
type ConnectionAcquired struct {
	Connection Connection
	Reused     bool // it had been open before
}

// ConnectionReleased says that the call has let its connection go.
type ConnectionReleased struct{ Connection Connection }

// RequestHeadersStart says that the request head is being written.
type RequestHeadersStart struct{}

// RequestHeadersEnd says that the request head has been written.
type RequestHeadersEnd struct{ sent *sentRequest }

// NewRequestHeadersEnd makes the event, to test listeners with.
func NewRequestHeadersEnd(req *http.Request) RequestHeadersEnd {
	return RequestHeadersEnd{&sentRequest{user: req}}
}

// Request returns the request as it is on the wire, with the headers that the
// client added; it is the same each time. Most listeners do not ask, so it is
// made when one does, which must be before OnEvent returns.
func (e RequestHeadersEnd) Request() *http.Request {
	if e.sent == nil {
		return nil
	}
	return e.sent.request()
}

// RequestBodyStart says that the request body is being sent.
type RequestBodyStart struct{}

// RequestBodyEnd counts the body bytes sent, without framing.
type RequestBodyEnd struct{ Bytes int64 }

// RequestFailed says that sending has failed, once per exchange.
type RequestFailed struct{ Err error }

// ResponseHeadersStart says that a first response head has arrived, possibly
// that of a 1xx response.
type ResponseHeadersStart struct{}

// InformationalResponse is a 1xx response other than 101 (RFC 9110 section 15.2).
type InformationalResponse struct {
	Code   int
	Header http.Header
}

// ResponseHeadersEnd carries the final response head as it was on the wire.
type ResponseHeadersEnd struct{ Response *http.Response }

// ResponseBodyStart says that the first read of the body has returned, or that
// the body was closed unread.
type ResponseBodyStart struct{}

// ResponseBodyProgress tells how far the reading of a long body has come: it is
// reported each time another 256 KiB or more have been read, so never for a
// short one. Bytes counts as ResponseBodyEnd does. Total is the length that the
// server has announced, -1 if it has not.
type ResponseBodyProgress struct{ Bytes, Total int64 }

// ResponseBodyEnd counts the body bytes that were read, without framing and
// before decompression.
type ResponseBodyEnd struct{ Bytes int64 }

// ResponseFailed says that receiving has failed. Bytes counts what had been read
// of the body, as ResponseBodyEnd does.
type ResponseFailed struct {
	Err   error
	Bytes int64
}

// RetryDecision says whether a failed exchange is repeated, and why.
type RetryDecision struct {
	Err    error
	Retry  bool
	Reason string
}

// FollowUpDecision says whether another request follows from a response: Next
// is nil where none does.
type FollowUpDecision struct {
	Response *http.Response
	Next     *http.Request
	Reason   string
}

// CallEnd is the last event of a call that succeeded. It comes when the
// response body has been read to its end or closed.
type CallEnd struct{}

// CallFailed is the last event of a call that failed.
type CallFailed struct{ Err error }

// Canceled says that the call was canceled: by its method, its context, its
// call timeout, or the client's Close. It may come at any time, from any
// goroutine, at most once.
type Canceled struct{}

func (CallStart) event()             {}
func (DispatcherQueueStart) event()  {}
func (DispatcherQueueEnd) event()    {}
func (ProxySelectStart) event()      {}
func (ProxySelectEnd) event()        {}
func (DNSStart) event()              {}
func (DNSEnd) event()                {}
func (ConnectStart) event()          {}
func (SecureConnectStart) event()    {}
func (SecureConnectEnd) event()      {}
func (ConnectEnd) event()            {}
func (ConnectFailed) event()         {}
func (ConnectionDiscarded) event()   {}
func (ConnectionAcquired) event()    {}
func (ConnectionReleased) event()    {}
func (RequestHeadersStart) event()   {}
func (RequestHeadersEnd) event()     {}
func (RequestBodyStart) event()      {}
func (RequestBodyEnd) event()        {}
func (RequestFailed) event()         {}
func (ResponseHeadersStart) event()  {}
func (InformationalResponse) event() {}
func (ResponseHeadersEnd) event()    {}
func (ResponseBodyStart) event()     {}
func (ResponseBodyProgress) event()  {}
func (ResponseBodyEnd) event()       {}
func (ResponseFailed) event()        {}
func (RetryDecision) event()         {}
func (FollowUpDecision) event()      {}
func (CallEnd) event()               {}
func (CallFailed) event()            {}
func (Canceled) event()              {}
