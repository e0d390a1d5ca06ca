package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"golang.org/x/net/http2/hpack"
)

// statusOK begins the header block of a good answer: the static table's
// ":status: 200".
const statusOK = 0x88

// rawH2Client is the limit of HTTP/2: one goroutine keeps all streams open, sends
// the same bytes each time, all it has in one write, and of the answers looks at
// the lengths and the first byte of the header blocks.
type rawH2Client struct{ *rawClient }

func newRawH2(env environment) (client, error) {
	c, err := newRaw(env)
	if err != nil {
		return nil, err
	}
	if c.config != nil {
		c.config.NextProtos = []string{"h2"}
	}
	return rawH2Client{c}, nil
}

func (c rawH2Client) worker(x exchange) (worker, error) { return c.multiplex(x, 1) }

func (c rawH2Client) multiplex(x exchange, parallel int) (worker, error) {
	w, err := c.open(x, 64*kib)
	if err != nil {
		return worker{}, err
	}
	w.parallel = parallel
	return worker{loop: w.loop}, nil
}

// open dials a connection that lasts as long as the client. What greets the
// server goes with the first request.
func (c rawH2Client) open(x exchange, buffer int) (*rawH2Worker, error) {
	conn, err := c.dialKept()
	if err != nil {
		return nil, err
	}
	w := &rawH2Worker{conn: conn, in: frameReader{conn: conn, buf: make([]byte, buffer)}, want: x.want, next: 1}
	w.handle = w.take
	w.first, w.later = rawH2Requests(c.env, x)
	w.out = append(w.out, preface...)
	w.out = appendSettings(w.out, setting{settingEnablePush, 0},
		setting{settingInitialWindow, largestWindow}, setting{settingMaxFrame, h2MaxFrame})
	w.out = appendWindowUpdate(w.out, 0, largestWindow-defaultWindow)
	return w, nil
}

// rawH2Requests returns the frames of the first request on a connection, and
// those of all later ones, which find its header fields in the dynamic table. All
// are on stream 0 as yet.
func rawH2Requests(env environment, x exchange) (first, later []byte) {
	scheme := "http"
	if x.listener.secure() {
		scheme = "https"
	}
	fields := []hpack.HeaderField{
		{Name: ":method", Value: x.method},
		{Name: ":scheme", Value: scheme},
		{Name: ":authority", Value: env.address()},
		{Name: ":path", Value: x.path},
		{Name: "user-agent", Value: "raw"},
	}
	if x.body == bytesBody {
		fields = append(fields, hpack.HeaderField{Name: "content-length", Value: fmt.Sprint(x.size)})
	}
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	request := func() []byte {
		block.Reset()
		for _, f := range fields {
			encoder.WriteField(f) // a bytes.Buffer does not fail
		}
		flags := byte(flagEndHeaders)
		if x.body == noBody {
			flags |= flagEndStream
		}
		b := appendFrameHeader(nil, frameHeaders, flags, 0, block.Len())
		b = append(b, block.Bytes()...)
		if x.body == bytesBody {
			b = appendFrameHeader(b, frameData, flagEndStream, 0, x.size)
			b = append(b, make([]byte, x.size)...)
		}
		return b
	}
	return request(), request()
}

// rawH2Worker is one connection and the calls on it.
type rawH2Worker struct {
	conn         net.Conn
	in           frameReader
	handle       func(frame) error // take
	first, later []byte            // frames of a request
	want         int64
	parallel     int

	out      []byte // what the next write sends
	next     uint32 // the next stream
	left     int    // calls to begin
	open     int    // calls that have begun and not ended
	received int64  // bytes of bodies
	refund   int64  // of them, those that the server's window lacks
}

func (w *rawH2Worker) loop(calls int) error {
	w.left, w.received = calls, 0
	for range min(w.parallel, calls) {
		w.begin()
	}
	for w.open > 0 {
		if err := w.exchange(); err != nil {
			return err
		}
	}
	return checkLength(w.received, int64(calls)*w.want, nil)
}

// exchange sends what there is to send and takes what comes.
func (w *rawH2Worker) exchange() error {
	if w.refund > largestWindow/2 {
		w.out = appendWindowUpdate(w.out, 0, w.refund)
		w.refund = 0
	}
	if len(w.out) > 0 {
		if _, err := w.conn.Write(w.out); err != nil {
			return err
		}
		w.out = w.out[:0]
	}
	if err := w.in.fill(); err != nil {
		return err
	}
	return w.in.each(w.handle)
}

// begin appends a request.
func (w *rawH2Worker) begin() {
	at := len(w.out)
	if w.next == 1 {
		w.out = append(w.out, w.first...)
	} else {
		w.out = append(w.out, w.later...)
	}
	for rest := w.out[at:]; len(rest) > 0; {
		binary.BigEndian.PutUint32(rest[5:], w.next)
		rest = rest[frameHeaderLength+binary.BigEndian.Uint32(rest)>>8:]
	}
	w.next += 2
	w.left--
	w.open++
}

func (w *rawH2Worker) take(f frame) error {
	switch f.kind {
	case frameHeaders:
		if len(f.payload) == 0 || f.payload[0] != statusOK {
			return fmt.Errorf("header block %x", f.payload)
		}
	case frameData:
		w.received += int64(len(f.payload))
		w.refund += int64(len(f.payload))
	case frameReset:
		return errors.New("stream reset by the server")
	case frameSettings, framePing:
		w.out = f.appendReply(w.out)
	}
	if f.endsStream() {
		w.open--
		if w.left > 0 {
			w.begin()
		}
	}
	return nil
}

func (c rawH2Client) hold(x exchange, _ int) (func() error, error) {
	w, err := c.open(x, kib)
	if err != nil {
		return nil, err
	}
	w.begin()
	for w.received == 0 {
		if err := w.exchange(); err != nil {
			return nil, err
		}
	}
	return func() error {
		for w.open > 0 {
			if err := w.exchange(); err != nil {
				return err
			}
		}
		return checkLength(w.received, w.want, nil)
	}, nil
}
