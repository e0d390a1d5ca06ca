package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
)

// httpClient is any client that takes an *http.Request and returns an
// *http.Response: this library, net/http, and both under http.Client.
type httpClient struct {
	env  environment
	send func(*http.Request) (*http.Response, error)
	// once makes one request for all calls of a worker instead of one each.
	once bool
	done func()
}

func (c *httpClient) close() { c.done() }

func (c *httpClient) worker(x exchange) (worker, error) {
	w := &httpWorker{client: c, x: x, url: c.env.url(), payload: newPayload(x)}
	if c.once {
		var err error
		if w.request, err = w.newRequest(context.Background()); err != nil {
			return worker{}, err
		}
	}
	if x.toFile {
		return worker{call: w.callToFile, after: w.removeFile}, nil
	}
	return worker{call: w.callOnce}, nil
}

// httpWorker makes calls one after another and keeps between them only what a
// program would keep.
type httpWorker struct {
	client  *httpClient
	x       exchange
	url     string
	payload payload
	request *http.Request // reused where the client says so
	small   [4 * kib]byte // what small answers are read into
	file    *os.File      // what the last answer was copied into
}

func (w *httpWorker) newRequest(ctx context.Context) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, w.x.method, w.url, w.payload.reader())
	if err != nil {
		return nil, err
	}
	request.Close = w.x.fresh
	return request, nil
}

// do sends the worker's request and returns an answer that was checked to be a
// good one.
func (w *httpWorker) do(ctx context.Context) (*http.Response, error) {
	request := w.request
	if request == nil {
		var err error
		if request, err = w.newRequest(ctx); err != nil {
			return nil, err
		}
	} else if request.Body != nil {
		request.Body = w.payload.rewound()
	}
	response, err := w.client.send(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("status %s", response.Status)
	}
	if (response.ProtoMajor == 2) != w.x.listener.http2() {
		response.Body.Close()
		return nil, fmt.Errorf("answer in %s", response.Proto)
	}
	return response, nil
}

func (w *httpWorker) callOnce() error {
	ctx := context.Background()
	if w.x.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.x.timeout)
		defer cancel()
	}
	response, err := w.do(ctx)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	n, err := w.read(response.Body)
	return checkLength(n, w.x.want, err)
}

// read reads a whole body and returns its length. Large ones are read by
// io.Copy into a writer that only counts: io.Discard brings its own buffer of
// 8 KiB, and with io.Copy's of 32 KiB net/http is faster.
func (w *httpWorker) read(body io.Reader) (int64, error) {
	if w.x.want <= int64(len(w.small)) {
		return readSmall(body, w.small[:])
	}
	if w.x.discard {
		return io.Copy(io.Discard, body)
	}
	var count counter
	return io.Copy(&count, body)
}

// callToFile copies the answer into a new file.
func (w *httpWorker) callToFile() error {
	file, err := os.CreateTemp("", "okhttp-bench-")
	if err != nil {
		return err
	}
	w.file = file
	response, err := w.do(context.Background())
	if err != nil {
		return err
	}
	defer response.Body.Close()
	n, err := io.Copy(file, response.Body)
	return checkLength(n, w.x.want, err)
}

func (w *httpWorker) removeFile() error { return removeFile(w.file) }

func (c *httpClient) hold(_ exchange, i int) (func() error, error) {
	request, err := http.NewRequest(c.env.x.method, c.env.urlOf(i), nil)
	if err != nil {
		return nil, err
	}
	response, err := c.send(request)
	if err != nil {
		return nil, err
	}
	return func() error {
		defer response.Body.Close()
		var small [64]byte
		n, err := readSmall(response.Body, small[:])
		return checkLength(n, c.env.x.want, err)
	}, nil
}

// payload gives a request its body, anew for each call.
type payload struct {
	kind bodyKind
	data []byte
	kept *bytes.Reader // the body of a request that is reused
}

func newPayload(x exchange) payload {
	if x.body == noBody {
		return payload{}
	}
	data := make([]byte, x.size)
	return payload{x.body, data, bytes.NewReader(data)}
}

// reader returns a new body, nil for none.
func (p *payload) reader() io.Reader {
	switch p.kind {
	case noBody:
		return nil
	case bytesBody:
		return bytes.NewReader(p.data)
	case streamBody:
		return onlyReader{bytes.NewReader(p.data)}
	}
	panic("BUG: unknown kind of body")
}

// rewound returns one body again and again, at its start.
func (p *payload) rewound() io.ReadCloser {
	p.kept.Reset(p.data)
	return io.NopCloser(p.kept)
}

// onlyReader hides all methods of a reader but Read.
type onlyReader struct{ io.Reader }
