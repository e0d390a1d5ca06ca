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
	if x.length == 0 && !x.chunked {
		return x.newPace(AtRequestBody, rate{}, 0).middle()
	}
	limit := x.c.server.settings.headLimit
	body := io.LimitReader(x.c.br, x.length)
	pace := x.newPace(AtRequestBody, x.response.requestThrottle, x.length)
	var chunks *http1.ServerChunks
	if x.chunked {
		chunks = http1.NewServerChunks(x.c.br, limit)
		body = chunks
		pace = x.newPace(AtRequestBody, x.response.requestThrottle, -1)
		defer func() {
			x.request.ChunkSizes, x.request.Trailer = chunks.Sizes, recordedHeader(chunks.Trailer)
			if x.request.ChunkSizes == nil {
				x.request.ChunkSizes = []int64{}
			}
		}()
	}
	x.request.Body = []byte{}
	buf := make([]byte, min(32<<10, max(x.length, 4<<10)))
	for {
		if x.chunked {
			if err := chunks.Next(); err == io.EOF {
				return pace.middle() // if the body was empty
			} else if err != nil {
				return err
			}
		}
		n, err := pace.next(len(buf))
		if err != nil {
			return err
		}
		n, err = body.Read(buf[:n])
		pace.moved(n)
		x.keep(buf[:n])
		switch {
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case !x.chunked && x.request.BodySize == x.length:
			return nil
		case x.chunked && chunks.AtBoundary():
			if err := pace.middle(); err != nil {
				return err
			}
		}
	}
}

// keep adds to the recorded body what its limit allows.
func (x *exchange) keep(p []byte) {
	r := x.request
	r.BodySize += int64(len(p))
	if limit := x.c.server.settings.bodyLimit; limit >= 0 {
		p = p[:min(int64(len(p)), max(0, limit-int64(len(r.Body))))]
	}
	r.Body = append(r.Body, p...)
}
