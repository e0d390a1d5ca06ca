package okhttp

import (
	"errors"
	"sync"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// How long an upload that is to stop may take: first for its reader to come
// back by itself, then after the reader was closed.
const (
	uploadGrace      = 100 * time.Millisecond
	uploadCloseGrace = time.Second
	uploadTail       = 5 * time.Millisecond // for an upload whose last write is just returning
)

// errUploadStopped is the fate of a request body that the server's early answer
// made pointless.
var errUploadStopped = errors.New("the server answered before the request body was sent")

// upload is a request body on its way, on a goroutine of its own, so that an
// early response is seen at once. Whoever runs the chain reports its end, if it
// ends before the response head; afterwards the upload does so itself.
type upload struct {
	done chan struct{} // closed when nobody reads the body any more

	// Written before done is closed.
	n   int64
	err error

	mu        sync.Mutex
	ended     bool
	onItsOwn  bool // reports its end itself
	abandoned bool // nobody wants to hear
}

// startUpload sends the body on a goroutine. Meanwhile the read timeout does not run.
func (e *exchange) startUpload(length int64) {
	u := &upload{done: make(chan struct{})}
	e.upload = u
	e.codec.HoldReadTimeout()
	body := &e.call.body
	reader, turn := body.reader()
	trailer := e.request.Trailer
	go func() {
		n, err := e.codec.WriteBody(reader, length, false, trailer)
		var fault *httpsem.BodyError
		switch {
		case errors.As(err, &fault), isTimeout(err):
			e.codec.Cancel() // there is no response to wait for
		case err != nil && err != httpsem.ErrWriteAborted:
			time.AfterFunc(afterFailedSend, func() {
				if !e.codec.Received() {
					e.codec.Cancel()
				}
			})
		}
		e.codec.StartReadTimeout()
		body.closeIf(turn)
		u.n, u.err = n, err
		u.mu.Lock()
		u.ended = true
		report := u.onItsOwn && !u.abandoned
		u.mu.Unlock()
		if report {
			e.reportUpload()
		}
		close(u.done)
	}()
}

// reportUpload emits the upload's end and ends the request half.
func (e *exchange) reportUpload() {
	u := e.upload
	if u.err != nil {
		emit(e.call, RequestFailed{translate(u.err)})
	} else {
		emit(e.call, RequestBodyEnd{u.n})
	}
	e.endSend(u.err)
}

// letRun leaves the upload to itself, unless it has ended: then it reports false
// and the caller must report its end.
func (u *upload) letRun() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.onItsOwn = !u.ended
	return u.onItsOwn
}

// awaitUpload gives an upload whose connection was closed the time to notice.
func (e *exchange) awaitUpload() {
	if e.upload != nil {
		waitFor(e.upload.done, uploadTail)
	}
}

// stopUpload makes a running upload stop, and waits until nobody reads the body.
// It reports false if that cannot be had, because the body's reader stays in
// Read although it was closed.
func (e *exchange) stopUpload() bool {
	u := e.upload
	if u == nil || waitFor(u.done, 0) {
		return true
	}
	e.codec.AbortWrite()
	if waitFor(u.done, uploadGrace) {
		return true
	}
	e.call.body.close() // a pipe or socket comes back from Read now
	if waitFor(u.done, uploadCloseGrace) {
		return true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.abandoned = true
	return u.ended
}

// stuck reports whether the upload was given up while it was in the codec, from
// where it may come back at any time.
func (u *upload) stuck() bool {
	if u == nil {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.abandoned && !u.ended
}

// waitFor reports whether done was closed within d.
func waitFor(done <-chan struct{}, d time.Duration) bool {
	select {
	case <-done:
		return true
	default:
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
