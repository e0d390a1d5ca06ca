package mockwebserver

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// handlerBuffer is how much of a body is kept back to find its length.
const handlerBuffer = 2048

// handlerHead is what an http.Handler has said of its response, on any protocol.
type handlerHead struct {
	header   http.Header // the handler's own
	status   int         // 0 until WriteHeader
	sent     http.Header // as of WriteHeader
	length   int64       // of the body as declared; -1 if it is not
	written  int64
	buffered []byte // the begin of the body, until the head is sent
}

func newHandlerHead() handlerHead {
	return handlerHead{header: make(http.Header), length: -1}
}

func (w *handlerHead) Header() http.Header { return w.header }

// decide takes the final status, and the header as it is now.
func (w *handlerHead) decide(status int) {
	w.status, w.sent = status, w.header.Clone()
	if n, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
		w.length = n
	}
}

// admit counts n more bytes of body, unless there must not be as many.
func (w *handlerHead) admit(n int) error {
	switch {
	case w.emptyStatus():
		return http.ErrBodyNotAllowed
	case w.length >= 0 && w.written+int64(n) > w.length:
		return http.ErrContentLength
	}
	w.written += int64(n)
	return nil
}

// emptyStatus reports whether the status has never a body.
func (w *handlerHead) emptyStatus() bool {
	return w.status == http.StatusNoContent || w.status == http.StatusNotModified || w.status < 200
}

// complete takes out of the header what belongs into the trailer, and guesses
// the Content-Type.
func (w *handlerHead) complete() {
	announced := w.announced()
	for name := range w.sent {
		if strings.HasPrefix(name, http.TrailerPrefix) || slices.Contains(announced, name) {
			delete(w.sent, name)
		}
	}
	if !hasField(w.sent, "Content-Type") && !hasField(w.sent, "Content-Encoding") && len(w.buffered) > 0 {
		w.sent.Set("Content-Type", http.DetectContentType(w.buffered))
	}
}

// trailer returns what the handler set for the trailer: the fields that it had
// announced, and those with http.TrailerPrefix.
func (w *handlerHead) trailer() []Field {
	fields := make(http.Header)
	for _, name := range w.announced() {
		if values := w.header[name]; len(values) > 0 {
			fields[name] = values
		}
	}
	for name, values := range w.header {
		if rest, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			fields[http.CanonicalHeaderKey(rest)] = slices.Clone(values)
		}
	}
	return headerOf(fields)
}

// announced returns the names in the Trailer header, as keys.
func (w *handlerHead) announced() []string {
	var names []string
	for _, list := range w.sent["Trailer"] {
		for name := range strings.SplitSeq(list, ",") {
			names = append(names, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	return names
}

func hasField(h http.Header, name string) bool {
	_, ok := h[name]
	return ok
}
