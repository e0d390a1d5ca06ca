package mockwebserver

import (
	"context"
	"sync/atomic"
)

// Queue is a Dispatcher that gives its responses in the order in which they
// were added, one to each request. It is safe for concurrent use.
//
// A response that ends a connection at AtAccept or AtTLSHandshake is used up by
// a connection, not by a request. A response whose request never became
// complete, by the client's doing, goes back to the front.
type Queue struct {
	responses fifo[Response]
	fallback  atomic.Pointer[Response]
}

// NewQueue returns a queue of these responses.
func NewQueue(responses ...Response) *Queue {
	q := new(Queue)
	q.Enqueue(responses...)
	return q
}

// Enqueue adds responses at the end.
func (q *Queue) Enqueue(responses ...Response) {
	for _, r := range responses {
		q.responses.push(r)
	}
}

// SetFallback sets the response to requests that find the queue empty:
// Status(404), or Response{}.WithEffect(AtResponseStart, Stall()). By default
// such a request waits until a response is added. It gives up when the client
// closes the connection, or its writing half.
func (q *Queue) SetFallback(r Response) { q.fallback.Store(&r) }

// Len returns the number of responses not used yet.
func (q *Queue) Len() int { return q.responses.len() }

// Clear removes all responses not used yet.
func (q *Queue) Clear() { q.responses.clear() }

// PeekResponse returns the next response without using it up.
func (q *Queue) PeekResponse() (Response, bool) { return q.responses.peek() }

// Peek implements Peeker.
func (q *Queue) Peek(m Moment) (Response, bool) {
	r, ok := q.responses.popIf(func(r Response) bool { return m.At == AtRequestStart || r.endsAt(m.At) })
	if !ok && m.At == AtRequestStart {
		if fallback := q.fallback.Load(); fallback != nil {
			return *fallback, true
		}
	}
	return r, ok
}

// Dispatch implements Dispatcher.
func (q *Queue) Dispatch(ctx context.Context, _ *RecordedRequest) Response {
	if r, ok := q.next(); ok {
		return r
	}
	if r, ok := q.responses.wait(ctx, nil); ok {
		if ctx.Err() != nil { // nobody will see it
			q.responses.putBack(r)
		}
		return r
	}
	return closing
}

// closing is the answer to a request that is not going to be answered.
var closing = Response{}.WithEffect(AtResponseStart, CloseConnection())

// next returns a response if that is possible without waiting.
func (q *Queue) next() (Response, bool) {
	if r, ok := q.responses.pop(); ok {
		return r, true
	}
	if fallback := q.fallback.Load(); fallback != nil {
		return *fallback, true
	}
	return Response{}, false
}
