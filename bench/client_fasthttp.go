package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/valyala/fasthttp"
)

// fastClient is valyala/fasthttp as its documentation says to use it: requests
// and responses are kept and reused. It has its own types and no http.Header, so
// it shows what a drop-in cannot reach.
type fastClient struct {
	env    environment
	client *fasthttp.Client
}

func newFastHTTP(env environment) (client, error) {
	config, err := env.tlsConfig()
	if err != nil {
		return nil, err
	}
	return &fastClient{env, &fasthttp.Client{
		TLSConfig:           config,
		MaxConnsPerHost:     1 << 16,
		MaxIdleConnDuration: time.Hour,
		ReadBufferSize:      8 * kib, // a head must fit
	}}, nil
}

func (c *fastClient) close() { c.client.CloseIdleConnections() }

func (c *fastClient) worker(x exchange) (worker, error) {
	w := &fastWorker{client: c, x: x, payload: newPayload(x)}
	w.prepare(&w.request)
	// A body of 64 MiB is streamed; smaller ones are left to its own buffer.
	w.response.StreamBody = x.want > mib
	if x.toFile {
		return worker{call: w.callToFile, after: func() error { return removeFile(w.file) }}, nil
	}
	return worker{call: w.call}, nil
}

type fastWorker struct {
	client   *fastClient
	x        exchange
	payload  payload
	request  fasthttp.Request
	response fasthttp.Response
	file     *os.File
}

func (w *fastWorker) prepare(request *fasthttp.Request) {
	request.Header.SetMethod(w.x.method)
	request.SetRequestURI(w.client.env.url())
	if w.x.fresh {
		request.SetConnectionClose()
	}
	if w.x.gzip {
		request.Header.Set("Accept-Encoding", "gzip")
	}
	if w.x.body == bytesBody {
		request.SetBodyRaw(w.payload.data)
	}
}

func (w *fastWorker) do() error {
	if w.x.body == streamBody {
		w.request.SetBodyStream(w.payload.reader(), -1)
	}
	var err error
	if w.x.timeout > 0 {
		err = w.client.client.DoTimeout(&w.request, &w.response, w.x.timeout)
	} else {
		err = w.client.client.Do(&w.request, &w.response)
	}
	if err == nil && w.response.StatusCode() != fasthttp.StatusOK {
		err = fmt.Errorf("status %d", w.response.StatusCode())
	}
	return err
}

func (w *fastWorker) call() error {
	if err := w.do(); err != nil {
		return err
	}
	var n int64
	var err error
	switch {
	case w.response.StreamBody:
		var count counter
		n, err = io.Copy(&count, w.response.BodyStream())
		if closing := w.response.CloseBodyStream(); err == nil {
			err = closing
		}
	case w.x.gzip:
		var plain []byte
		plain, err = w.response.BodyGunzip()
		n = int64(len(plain))
	default:
		n = int64(len(w.response.Body()))
	}
	return checkLength(n, w.x.want, err)
}

func (w *fastWorker) callToFile() error {
	file, err := os.CreateTemp("", "okhttp-bench-")
	if err != nil {
		return err
	}
	w.file = file
	if err := w.do(); err != nil {
		return err
	}
	n, err := io.Copy(file, w.response.BodyStream())
	if closing := w.response.CloseBodyStream(); err == nil {
		err = closing
	}
	return checkLength(n, w.x.want, err)
}

func (c *fastClient) hold(x exchange, _ int) (func() error, error) {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	(&fastWorker{client: c, x: x}).prepare(request)
	response.StreamBody = true
	if err := c.client.Do(request, response); err != nil {
		return nil, err
	}
	return func() error {
		var small [64]byte
		n, err := readSmall(response.BodyStream(), small[:])
		if closing := response.CloseBodyStream(); err == nil {
			err = closing
		}
		fasthttp.ReleaseRequest(request)
		fasthttp.ReleaseResponse(response)
		return checkLength(n, x.want, err)
	}, nil
}
