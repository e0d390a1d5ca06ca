package logging

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
)

// tellResponse tells a response: at once, or when its body has passed by.
func (i *Interceptor) tellResponse(level Level, req *http.Request, resp *http.Response, took time.Duration) {
	var b strings.Builder
	fmt.Fprintf(&b, "<-- %s ", statusText(resp))
	if resp.Request != nil {
		req = resp.Request
	}
	b.WriteString(requestURL(req, i.query))
	if level == LevelBasic {
		fmt.Fprintf(&b, " (%s, %s body)", millis(took), size(responseLength(req, resp)))
		i.log(b.String())
		return
	}
	fmt.Fprintf(&b, " (%s)", millis(took))
	i.headers(&b, resp.Header)
	if level == LevelHeaders {
		b.WriteString("\n<-- END HTTP")
		i.log(b.String())
		return
	}
	switch length := responseLength(req, resp); {
	case resp.StatusCode == http.StatusSwitchingProtocols:
		i.log(b.String() + "\n<-- END HTTP (upgraded)")
	case length == 0:
		i.log(b.String() + "\n<-- END HTTP (0-byte body)")
	case mediaType(resp.Header) == "text/event-stream":
		i.log(b.String() + "\n<-- END HTTP (streaming)")
	default:
		resp.Body = &passingBody{ReadCloser: resp.Body, limit: i.limit, ended: i.bodyTeller(b.String(), resp.Header.Clone())}
	}
}

// bodyTeller returns what tells a response when its body has ended.
func (i *Interceptor) bodyTeller(head string, h http.Header) func(*passingBody, error) {
	began := time.Now()
	return func(body *passingBody, err error) {
		p := piece{bytes: body.kept, total: body.passed, whole: body.passed == int64(len(body.kept))}
		shown, end := p.show(h, i.limit)
		switch {
		case err == errClosedEarly:
			end += ", closed before its end"
		case err != nil:
			end += ", then failed: " + errorText(err)
		}
		if shown != "" {
			head += "\n\n" + shown
		}
		i.log(fmt.Sprintf("%s\n<-- END HTTP (%s, %s)", head, millis(time.Since(began)), end))
	}
}

func statusText(resp *http.Response) string {
	if resp.Status != "" {
		return resp.Status
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}

// responseLength is the length of the body that follows, -1 where it is not known.
func responseLength(req *http.Request, resp *http.Response) int64 {
	switch {
	case req != nil && req.Method == http.MethodHead,
		resp.StatusCode == http.StatusNoContent, resp.StatusCode == http.StatusNotModified,
		resp.Body == nil, resp.Body == http.NoBody:
		return 0
	}
	return resp.ContentLength
}

func mediaType(h http.Header) string {
	t, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return t
}

// errClosedEarly says that a body was closed with bytes left.
var errClosedEarly = errors.New("closed")

// passingBody keeps the first bytes of a body that is being read.
type passingBody struct {
	io.ReadCloser
	limit int64

	mu     sync.Mutex // a read and a close may come at the same time
	kept   []byte
	passed int64
	ended  func(*passingBody, error) // nil once it was told
}

// Unwrap gives the body below, so that okhttp.InfoOf finds it.
func (b *passingBody) Unwrap() io.ReadCloser { return b.ReadCloser }

// Read reads from the body below.
func (b *passingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	b.keep(p[:n])
	b.passed += int64(n)
	b.mu.Unlock()
	if err != nil {
		b.tell(err)
	}
	return n, err
}

// WriteTo reads what is kept, then lets the body below copy the rest, which may
// not have to pass through this process at all.
func (b *passingBody) WriteTo(w io.Writer) (total int64, err error) {
	buf := make([]byte, 4<<10)
	for b.room() > 0 {
		n, readErr := b.Read(buf[:min(int64(len(buf)), b.room())])
		m, err := w.Write(buf[:n])
		total += int64(m)
		if err != nil {
			return total, err
		}
		if readErr == io.EOF {
			return total, nil
		}
		if readErr != nil {
			return total, readErr
		}
	}
	n, err := io.Copy(w, b.ReadCloser)
	b.mu.Lock()
	b.passed += n
	b.mu.Unlock()
	if err == nil {
		b.tell(io.EOF)
	} // else it may be w's fault: what happens next, a read or a close, tells
	return total + n, err
}

func (b *passingBody) room() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit - int64(len(b.kept))
}

func (b *passingBody) keep(p []byte) {
	if room := b.limit - int64(len(b.kept)); room > 0 {
		b.kept = append(b.kept, p[:min(int64(len(p)), room)]...)
	}
}

// Close closes the body below.
func (b *passingBody) Close() error {
	err := b.ReadCloser.Close()
	b.tell(errClosedEarly)
	return err
}

// tell tells the response, once.
func (b *passingBody) tell(err error) {
	b.mu.Lock()
	ended := b.ended
	b.ended = nil
	b.mu.Unlock()
	if ended == nil {
		return
	}
	if err == io.EOF {
		err = nil
	}
	ended(b, err)
}
