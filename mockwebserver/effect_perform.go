package mockwebserver

import (
	"crypto/tls"
	"io"
	"time"
)

// What a close waits for, and reads, so that bytes the client has sent do not
// make a reset of it.
const (
	lingerTime  = 100 * time.Millisecond
	lingerBytes = 256 << 10
)

// act performs the effects of a response at a trigger. It reports whether the
// connection goes on.
func (c *conn) act(at Trigger, r Response) bool {
	for _, e := range r.effects {
		if e.at == at && !c.perform(e.Effect) {
			return false
		}
	}
	return true
}

func (c *conn) perform(e Effect) bool {
	_ = c.bw.Flush() // if that fails, so does the next read or write
	switch e.kind {
	case effectNone:
	case effectPause:
		return c.sleep(e.wait)
	case effectCall:
		e.call(c.ctx)
		return c.ctx.Err() == nil
	case effectShutdownInput:
		if half, ok := c.raw.(interface{ CloseRead() error }); ok {
			_ = half.CloseRead()
		}
	case effectShutdownOutput:
		c.shutdownOutput()
	case effectClose:
		c.closeInOrder()
		return false
	case effectReset:
		c.reset()
		return false
	case effectStall:
		c.stall()
		return false
	case effectFailHandshake:
		if c.handshaking {
			c.failHandshake()
		}
		c.closeInOrder()
		return false
	}
	return true
}

// closeInOrder closes the connection such that the client reads all that was
// sent and then io.EOF.
func (c *conn) closeInOrder() {
	_ = c.bw.Flush()
	if !c.requestRead {
		c.shutdownOutput()
		_ = c.raw.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.CopyN(io.Discard, c.raw, lingerBytes)
	}
	_ = c.net.Close()
}

func (c *conn) shutdownOutput() {
	if secure, ok := c.net.(*tls.Conn); ok {
		_ = secure.CloseWrite()
	}
	if half, ok := c.raw.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

func (c *conn) reset() {
	if socket, ok := c.raw.(interface{ SetLinger(int) error }); ok {
		_ = socket.SetLinger(0)
	}
	_ = c.raw.Close()
}

func (c *conn) stall() {
	ctx, stop := c.watch()
	defer stop()
	<-ctx.Done()
}

// failHandshake reads the client's hello and answers it with an alert.
func (c *conn) failHandshake() {
	var header [5]byte // type, version, length
	if _, err := io.ReadFull(c.br, header[:]); err != nil {
		return
	}
	length := int64(header[3])<<8 | int64(header[4])
	if _, err := io.CopyN(io.Discard, c.br, length); err != nil {
		return
	}
	const alert, fatal, handshakeFailure = 21, 2, 40
	_, _ = c.net.Write([]byte{alert, 3, 3, 0, 2, fatal, handshakeFailure})
}
