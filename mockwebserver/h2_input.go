package mockwebserver

import (
	"errors"
	"io"
	"os"
	"sync"
)

// h2Input reads the body of a request at its pace, and keeps what it read for
// the record. It is safe for concurrent use.
type h2Input struct {
	x *h2Exchange

	mu   sync.Mutex
	pace *pace
	err  error // of all further reads
}

// openInput makes the reader of the body, once.
func (x *h2Exchange) openInput() {
	if x.input != nil {
		return
	}
	length := x.s.declared
	throttle := x.response.requestThrottle
	if !x.hasBody {
		length, throttle = 0, rate{}
	} else {
		x.request.Body = []byte{}
	}
	x.input = &h2Input{x: x, pace: newPace(x, x.response, AtRequestBody, throttle, length)}
}

// Read implements io.Reader.
func (in *h2Input) Read(p []byte) (int, error) { return in.read(p, nil) }

func (in *h2Input) read(p []byte, stop <-chan struct{}) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err != nil || len(p) == 0 {
		return 0, in.err
	}
	n, err := in.pace.next(len(p))
	if err == nil {
		n, err = in.x.s.read(p[:n], stop)
		in.pace.moved(n)
		in.x.request.keep(p[:n], in.x.c.server.settings.bodyLimit)
		if err == io.EOF || in.pace.half == halfUnknown { // the end, also of an empty body; or the first bytes
			if middle := in.pace.middle(); middle != nil {
				err = middle
			}
		}
	} else {
		n = 0
	}
	if err == io.EOF {
		in.x.request.Trailer = in.x.s.trailer
		in.x.record(nil)
	}
	if err != os.ErrDeadlineExceeded { // after that, reading can go on
		in.err = err
	}
	return n, err
}

// readBody reads what is left of the request's body and records the request. It
// reports whether the exchange goes on.
func (x *h2Exchange) readBody() bool {
	x.openInput()
	switch _, err := io.Copy(io.Discard, onlyReader{x.input}); {
	case err == nil:
		return x.act(AtRequestEnd)
	case !errors.Is(err, errOver):
		x.refuse(err)
	}
	return false
}

// onlyReader hides all other methods.
type onlyReader struct{ io.Reader }

// keep adds to the recorded body what its limit allows.
func (r *RecordedRequest) keep(p []byte, limit int64) {
	r.BodySize += int64(len(p))
	if limit >= 0 {
		p = p[:min(int64(len(p)), max(0, limit-int64(len(r.Body))))]
	}
	r.Body = append(r.Body, p...)
}
