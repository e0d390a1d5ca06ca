package mockwebserver

import "context"

// Dispatcher chooses the response to a request. It is called by many
// connections at once.
type Dispatcher interface {
	// Dispatch answers a request, which is complete and recorded, and is not
	// to be changed. It may block; the context ends when the server is closed.
	Dispatch(ctx context.Context, r *RecordedRequest) Response
}

// DispatcherFunc is a function that is a Dispatcher. It can choose by anything
// in the request: its target, or its ConnectionIndex and ExchangeIndex.
type DispatcherFunc func(ctx context.Context, r *RecordedRequest) Response

// Dispatch calls f.
func (f DispatcherFunc) Dispatch(ctx context.Context, r *RecordedRequest) Response {
	return f(ctx, r)
}

// Peeker is a Dispatcher that can know a response before the request is
// complete. Without it, what a response says about earlier moments (effects
// before AtRequestEnd, request throttle, reading) has no effect.
type Peeker interface {
	Dispatcher

	// Peek is asked when a connection is accepted, when a TLS handshake begins
	// on it or in a tunnel, and when the head of a request was read. It must
	// not block; it returns false if it knows nothing.
	//
	// At AtAccept and AtTLSHandshake, only the response's effects at that
	// trigger count. At AtRequestStart the response is the answer to the
	// request, and Dispatch is not called for it.
	Peek(Moment) (Response, bool)
}

// Moment is what is known when a Peeker is asked.
type Moment struct {
	At              Trigger // AtAccept, AtTLSHandshake or AtRequestStart
	ConnectionIndex int     // counted from 0
	ExchangeIndex   int     // of the request, or the next one, on that connection, counted from 0

	// Request has the head of the request at AtRequestStart, and is nil
	// before. It is not to be changed, nor kept: the server still fills it.
	Request *RecordedRequest
}
