package mockwebserver

import (
	"net"
	"time"
)

// handOver gives the stream to the script until that is done with it.
func (x *h2Exchange) handOver(handle SocketHandler) error {
	x.openInput()
	socket := &h2Socket{x: x}
	if err := handle(x.s.ctx, socket); err != nil {
		return err
	}
	return socket.Close()
}

// h2Socket is a stream as a connection: it reads what the client sends behind
// the head of its request, and writes DATA.
type h2Socket struct {
	x                           *h2Exchange
	readDeadline, writeDeadline deadline
}

func (c *h2Socket) Read(p []byte) (int, error) {
	return c.x.input.read(p, c.readDeadline.passed())
}

func (c *h2Socket) Write(p []byte) (int, error) {
	return c.x.s.write(p, false, c.writeDeadline.passed())
}

// CloseWrite ends the stream on the server's side.
func (c *h2Socket) CloseWrite() error {
	if c.x.s.isSent() {
		return nil
	}
	return c.x.endStream()
}

func (c *h2Socket) Close() error { return c.CloseWrite() }

func (c *h2Socket) LocalAddr() net.Addr  { return c.x.c.raw.LocalAddr() }
func (c *h2Socket) RemoteAddr() net.Addr { return c.x.c.raw.RemoteAddr() }

func (c *h2Socket) SetDeadline(t time.Time) error {
	c.readDeadline.set(t)
	c.writeDeadline.set(t)
	return nil
}

func (c *h2Socket) SetReadDeadline(t time.Time) error {
	c.readDeadline.set(t)
	return nil
}

func (c *h2Socket) SetWriteDeadline(t time.Time) error {
	c.writeDeadline.set(t)
	return nil
}
