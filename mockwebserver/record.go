package mockwebserver

import (
	"context"
	"fmt"
	"net"
	"time"
)

// record counts a request and keeps it for TakeRequest.
func (s *Server) record(r *RecordedRequest) {
	s.requestCount.Add(1)
	if !s.settings.noRecording {
		s.requests.push(r)
	}
}

// RequestCount returns how many requests were recorded, failed ones included.
func (s *Server) RequestCount() int { return int(s.requestCount.Load()) }

// TakeRequest returns the oldest recorded request that was not taken yet. It
// waits for one until the context ends or the server is closed. Requests are
// recorded once they were read in full, or failed.
func (s *Server) TakeRequest(ctx context.Context) (*RecordedRequest, error) {
	r, ok := s.requests.wait(ctx, s.ctx.Done())
	switch {
	case ok:
		return r, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("mockwebserver: no request: %w", context.Cause(ctx))
	default:
		return nil, fmt.Errorf("mockwebserver: no request: %w", net.ErrClosed)
	}
}

// TakeRequestWithin is TakeRequest with a time limit. With zero it does not
// wait.
func (s *Server) TakeRequestWithin(d time.Duration) (*RecordedRequest, error) {
	if r, ok := s.requests.pop(); ok {
		return r, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return s.TakeRequest(ctx)
}

// RequireRequest is TakeRequest for tests: if no request comes within five
// seconds it ends the test by t.Fatalf. It must be called on the test's
// goroutine.
func (s *Server) RequireRequest(t TB) *RecordedRequest {
	t.Helper()
	r, err := s.TakeRequestWithin(5 * time.Second)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}
