package okhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// gzipped reports whether gzip is the one coding of a response.
func gzipped(resp *http.Response) bool {
	v := resp.Header["Content-Encoding"]
	return len(v) == 1 && strings.EqualFold(strings.TrimSpace(v[0]), "gzip")
}

// decompress makes resp what it was before the server compressed it.
func decompress(resp *http.Response) {
	if e := exchangeOf(resp); e != nil {
		network := *resp
		network.Header = resp.Header.Clone()
		e.compressed = &network
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	resp.Uncompressed = true
	resp.Body = &gzipBody{compressed: resp.Body}
}

var gzipReaders sync.Pool // of *gzip.Reader

// gzipError is why a response body could not be decompressed.
type gzipError struct{ err error }

func (e *gzipError) Error() string { return "response body is no valid gzip: " + e.err.Error() }
func (e *gzipError) Unwrap() error { return e.err }

// gzipBody decompresses a body while it is read. Nothing is read before the
// first Read, so that a stream's head is not held up by its body.
type gzipBody struct {
	compressed io.ReadCloser

	mu     sync.Mutex // not held while reading from compressed
	zr     *gzip.Reader
	inside bool  // a Read is in progress
	closed bool  // Close was called
	err    error // sticky
}

func (b *gzipBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return 0, errReadAfterClose
	}
	if b.err != nil {
		b.mu.Unlock()
		return 0, b.err
	}
	b.inside = true
	b.mu.Unlock()
	n, err := b.read(p)
	b.mu.Lock()
	b.inside = false
	if err != nil {
		b.err = err
	}
	if err != nil || b.closed {
		b.free()
	}
	b.mu.Unlock()
	return n, err
}

func (b *gzipBody) read(p []byte) (int, error) {
	if b.zr == nil {
		zr, _ := gzipReaders.Get().(*gzip.Reader)
		if zr == nil {
			zr = new(gzip.Reader)
		}
		if err := zr.Reset(b.compressed); err != nil {
			if err == io.EOF {
				return 0, io.EOF // an empty body is an empty body
			}
			return 0, b.fault(err)
		}
		b.zr = zr
	}
	n, err := b.zr.Read(p)
	if err != nil && err != io.EOF {
		err = b.fault(err)
	}
	return n, err
}

// fault tells faults of the coding from those of the connection, which keep
// their own types. What follows a complete stream and is no further member of
// it is a fault too: it may be the rest of another response.
func (b *gzipBody) fault(err error) error {
	var own *Error
	if errors.As(err, &own) || err == context.Canceled {
		return err
	}
	own = &Error{Phase: PhaseBody, Err: &gzipError{err}}
	if e := exchangeOf(&http.Response{Body: b.compressed}); e != nil {
		own.Host, own.Addr = hostPort(e.request), e.addr()
		return e.call.plain(own)
	}
	return own
}

func (b *gzipBody) free() {
	if b.zr != nil && !b.inside {
		gzipReaders.Put(b.zr)
		b.zr = nil
	}
}

func (b *gzipBody) Close() error {
	b.mu.Lock()
	b.closed = true
	b.free()
	b.mu.Unlock()
	return b.compressed.Close()
}
