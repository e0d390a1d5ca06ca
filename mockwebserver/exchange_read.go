package mockwebserver

import (
	"errors"
	"io"

	"github.com/okhttp-go/okhttp/internal/http1"
)

// readBody reads the request's body and records the request. It reports whether
// the exchange goes on.
func (x *exchange) readBody() bool {
	err := x.receive()
	if err != nil {
		if !errors.Is(err, errOver) {
			x.refuse(err)
		}
		return false
	}
	x.c.requestRead = true
	x.record(nil)
	return x.act(AtRequestEnd)
}

// receive reads the body into the request.
func (x *exchange) receive() error {
	switch {
	case x.chunked:
		return x.receiveChunks()
	case x.length > 0:
		return x.receiveLength()
	}
	return x.newPace(AtRequestBody, rate{}, 0).middle()
}

// readBuffer is the most that is read of a body at once.
const readBuffer = 32 << 10

func (x *exchange) receiveLength() error {
	p := x.newPace(AtRequestBody, x.response.requestThrottle, x.length)
	buf := make([]byte, min(readBuffer, x.length))
	x.request.Body = make([]byte, 0, len(buf))
	for x.request.BodySize < x.length {
		if err := x.receivePart(x.c.br, p, buf[:min(int64(len(buf)), x.length-x.request.BodySize)]); err != nil {
			return err
		}
	}
	return nil
}

func (x *exchange) receiveChunks() error {
	p := x.newPace(AtRequestBody, x.response.requestThrottle, -1)
	chunks := http1.NewServerChunks(x.c.br, x.c.server.settings.headLimit)
	chunks.Sizes = []int64{} // not nil: the body is chunked
	x.request.Body = []byte{}
	buf := make([]byte, readBuffer)
	for {
		err := chunks.Next()
		x.request.ChunkSizes = chunks.Sizes
		if err == io.EOF {
			x.request.Trailer = recordedHeader(chunks.Trailer)
			return p.middle() // if the body was empty
		}
		if err != nil {
			return err
		}
		if err := x.receivePart(chunks, p, buf); err != nil {
			return err
		}
		if chunks.AtBoundary() { // the first chunk was read
			if err := p.middle(); err != nil {
				return err
			}
		}
	}
}

// receivePart reads once, as much as the pace allows.
func (x *exchange) receivePart(body io.Reader, p *pace, buf []byte) error {
	n, err := p.next(len(buf))
	if err != nil {
		return err
	}
	n, err = body.Read(buf[:n])
	p.moved(n)
	x.request.keep(buf[:n], x.c.server.settings.bodyLimit)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
