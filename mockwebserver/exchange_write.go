package mockwebserver

import (
	"errors"
	"fmt"
	"net"
	"net/http"
)

// respond has a response chosen and sends it, with its effects. It reports
// whether the connection goes on.
func (x *exchange) respond() bool {
	x.dispatch()
	r := x.response
	if x.c.ctx.Err() != nil || !x.inform() || !x.c.sleep(r.headDelay) || !x.act(AtResponseStart) {
		return false
	}
	if err := x.send(r); err != nil {
		if !x.over && !errors.Is(err, errOver) {
			x.fail(err)
		}
		return false
	}
	return !x.over && x.flush() && x.act(AtResponseEnd)
}

// fail ends a response in its midst, so that the client can see that it is
// incomplete.
func (x *exchange) fail(err error) {
	x.c.err = err
	x.record(err)
	if !x.c.aborted.Load() {
		x.c.server.settings.logf("mockwebserver: response to %s %s: %v", x.request.Method, x.request.Target, err)
	}
	x.c.closeInOrder()
}

// send writes head and body.
func (x *exchange) send(r Response) error {
	switch r.mode {
	case bodyRaw:
		return x.write(x.newPace(AtResponseBody, r.throttle, int64(len(r.body))), r.body)
	case bodyHandler:
		return x.serveHandler(r)
	case bodyFixed, bodyChunked, bodyUntilClose, bodyStreamed, bodySocket:
	}
	if x.opensTunnel() {
		r = r.unframed()
	}
	x.writeHead(r)
	if r.bodyDelay > 0 && !x.c.sleep(r.bodyDelay) {
		return errOver
	}
	if x.request.Method == http.MethodHead {
		return x.newPace(AtResponseBody, rate{}, 0).middle()
	}
	switch r.mode {
	case bodySocket:
		return x.handOver(r.socket)
	case bodyStreamed:
		return x.stream(r)
	case bodyChunked:
		return x.writeChunks(r)
	case bodyFixed, bodyUntilClose, bodyRaw, bodyHandler:
	}
	return x.write(x.newPace(AtResponseBody, r.throttle, int64(len(r.body))), r.body)
}

// writeHead writes the head into the buffer.
func (x *exchange) writeHead(r Response) {
	bw := x.c.bw
	_, _ = bw.WriteString(r.StatusLine()) // the buffer keeps its error for Flush
	_, _ = bw.WriteString("\r\n")
	x.writeFields(r.Header())
	_, _ = bw.WriteString("\r\n")
}

func (x *exchange) writeFields(fields []Field) {
	bw := x.c.bw
	for _, f := range fields {
		if f.Name != rawLine {
			_, _ = bw.WriteString(f.Name)
			_, _ = bw.WriteString(": ")
		}
		_, _ = bw.WriteString(f.Value)
		_, _ = bw.WriteString("\r\n")
	}
}

// write writes body bytes at the given pace.
func (x *exchange) write(p *pace, body []byte) error {
	for {
		n, err := p.next(len(body))
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		if _, err := x.c.bw.Write(body[:n]); err != nil {
			return err
		}
		p.moved(n)
		body = body[n:]
	}
}

// writeChunks writes a body that is known in the chunked coding.
func (x *exchange) writeChunks(r Response) error {
	p := x.newPace(AtResponseBody, r.throttle, int64(len(r.body)))
	for i, body := 0, r.body; len(body) > 0; i++ {
		size := len(body)
		if len(r.chunkSizes) > 0 {
			size = min(size, r.chunkSizes[min(i, len(r.chunkSizes)-1)])
		}
		if err := x.writeChunk(p, body[:size]); err != nil {
			return err
		}
		body = body[size:]
	}
	return x.endChunks(p, r)
}

func (x *exchange) writeChunk(p *pace, data []byte) error {
	fmt.Fprintf(x.c.bw, "%x\r\n", len(data))
	if err := x.write(p, data); err != nil {
		return err
	}
	_, err := x.c.bw.WriteString("\r\n")
	return err
}

func (x *exchange) endChunks(p *pace, r Response) error {
	if err := p.middle(); err != nil { // of an empty body
		return err
	}
	if r.trailerDelay > 0 && !x.c.sleep(r.trailerDelay) {
		return errOver
	}
	_, _ = x.c.bw.WriteString("0\r\n")
	x.writeFields(r.trailer)
	_, err := x.c.bw.WriteString("\r\n")
	return err
}

// stream has the script write the body.
func (x *exchange) stream(r Response) error {
	p := x.newPace(AtResponseBody, r.throttle, r.bodyLength)
	if err := x.c.bw.Flush(); err != nil {
		return err
	}
	if err := r.bodyFunc(x.c.ctx, &streamWriter{x: x, pace: p, chunked: r.chunked()}); err != nil {
		return err
	}
	switch {
	case x.over:
		return errOver
	case r.chunked():
		return x.endChunks(p, r)
	}
	return p.middle()
}

// streamWriter sends each write at once.
type streamWriter struct {
	x       *exchange
	pace    *pace
	chunked bool
}

func (w *streamWriter) Write(p []byte) (int, error) {
	if len(p) == 0 || w.x.over {
		return 0, w.end()
	}
	write := w.x.write
	if w.chunked {
		write = w.x.writeChunk
	}
	if err := write(w.pace, p); err != nil {
		return 0, err
	}
	if err := w.x.c.bw.Flush(); err != nil {
		return 0, err
	}
	if w.pace.half == halfUnknown {
		if err := w.pace.middle(); err != nil {
			return len(p), err
		}
	}
	return len(p), nil
}

func (w *streamWriter) end() error {
	if w.x.over {
		return errOver
	}
	return nil
}

// handOver gives the connection to the script until that is done with it.
func (x *exchange) handOver(handle SocketHandler) error {
	if err := x.c.bw.Flush(); err != nil {
		return err
	}
	if err := handle(x.c.ctx, &handedConn{Conn: x.c.net, c: x.c}); err != nil {
		return err
	}
	x.c.closeInOrder()
	return errOver
}

// handedConn reads through the connection's buffer and can close half.
type handedConn struct {
	net.Conn
	c *conn
}

func (h *handedConn) Read(p []byte) (int, error) { return h.c.br.Read(p) }

// CloseWrite lets the client read io.EOF after what was written so far.
func (h *handedConn) CloseWrite() error {
	h.c.shutdownOutput()
	return nil
}
