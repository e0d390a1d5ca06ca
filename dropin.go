package okhttp

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// plain is the error that RoundTrip and the bodies of its responses return for
// err. Three values are net/http's own, bare, because programs compare them with
// == (httputil.ReverseProxy does, too): that of a context which had ended before
// the call, context.Canceled, and the io.ErrUnexpectedEOF of a body that was cut
// off. What is lost by that, the place, is in the events. All other errors, those
// of deadlines among them, say where they happened.
func (c *Call) plain(err error) error {
	var e *Error
	if c.door != roundTripper || !errors.As(err, &e) {
		return err
	}
	switch cause := e.Err.(type) {
	case *ProtocolError:
		if e.Phase == PhaseBody && cause.cause.Err == io.ErrUnexpectedEOF {
			return io.ErrUnexpectedEOF
		}
	case *gzipError:
		if cause.err == io.ErrUnexpectedEOF {
			return io.ErrUnexpectedEOF
		}
	}
	if e.Err == context.Canceled {
		return context.Canceled
	}
	if e.Phase == PhaseRequest {
		if ended := c.ctx.parent.Err(); ended != nil {
			return ended
		}
	}
	return err
}

// hideClose takes Connection: close out of a response's header, as net/http does:
// programs hand headers on, and the word is meant for this connection alone.
func (c *Call) hideClose(resp *http.Response) {
	if !httpsem.HasToken(resp.Header["Connection"], "close") {
		return
	}
	if c.listener != nil { // it may look at the header as it came
		resp.Header = maps.Clone(resp.Header)
	}
	delete(resp.Header, "Connection")
}
