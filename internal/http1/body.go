package http1

import (
	"errors"
	"io"
	"time"
)

// BodyLength returns how many bytes of the body are to come, -1 if that is
// unknown, and 0 once there is none or no more.
func (c *Conn) BodyLength() int64 {
	switch r := &c.response; r.state {
	case fixedLength:
		return r.left
	case inChunks, untilClose:
		return -1
	case beforeHead, complete, switched:
		return 0
	}
	panic("BUG: unknown response state")
}

// errNoHead is a mistake of the program, not of a peer.
var errNoHead = errors.New("http1: the body was read before the head")

// ReadBody reads the response body. It returns io.EOF together with the last
// bytes if it knows that they are.
func (c *Conn) ReadBody(p []byte) (int, error) {
	r := &c.response
	if r.err != nil {
		return 0, r.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	switch r.state {
	case complete, switched:
		return 0, io.EOF
	case beforeHead:
		return 0, errNoHead
	case inChunks:
		return c.readChunked(p)
	case untilClose:
		n, err := c.readData(p)
		if err == io.EOF {
			r.state, r.endedByClose = complete, true
			return n, err
		}
		if err != nil {
			return n, c.fail(err)
		}
		return n, nil
	case fixedLength:
		n, err := c.readData(p[:min(int64(len(p)), r.left)])
		r.left -= int64(n)
		if err != nil {
			return n, c.fail(noEOF(err))
		}
		if r.left == 0 {
			r.state = complete
			return n, io.EOF
		}
		return n, nil
	}
	panic("BUG: unknown response state")
}

// readData reads bytes that are known to be the body's. A large p is filled from
// the socket directly: that saves the way through the buffer.
func (c *Conn) readData(p []byte) (int, error) {
	if len(c.in.buffered()) == 0 {
		if len(p) >= readSize {
			return c.in.read(p)
		}
		if err := c.in.fill(); err != nil && len(c.in.buffered()) == 0 {
			return 0, err
		}
	}
	n := copy(p, c.in.buffered())
	c.in.r += n
	c.in.rest()
	return n, nil
}

// Drain reads and drops the rest of the body, at most limit bytes within d, and
// reports whether it reached the end. A body that ends with the connection is
// never drained, because nothing is saved by that.
func (c *Conn) Drain(limit int64, d time.Duration) bool {
	r := &c.response
	switch {
	case r.err != nil || r.state == beforeHead || r.state == switched || r.state == untilClose:
		return false
	case r.state == complete:
		return !r.endedByClose
	case r.state == fixedLength && r.left > limit:
		return false
	}
	c.limitReads(d)
	defer c.freeReads()
	buf := copies.Get().(*[copySize]byte)
	defer copies.Put(buf)
	for limit >= 0 {
		n, err := c.ReadBody(buf[:min(copySize, limit+1)])
		limit -= int64(n)
		if err == io.EOF {
			return true
		}
		if err != nil {
			return false
		}
	}
	return false
}
