package okhttp

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// cannedConn answers each write with the same response, without a socket: what
// is left is the client's own work.
type cannedConn struct {
	answer []byte
	left   []byte
}

func (c *cannedConn) Write(p []byte) (int, error) { c.left = c.answer; return len(p), nil }
func (c *cannedConn) Read(p []byte) (int, error) {
	n := copy(p, c.left)
	c.left = c.left[n:]
	if n == 0 {
		return 0, context.DeadlineExceeded
	}
	return n, nil
}
func (c *cannedConn) Readable() (int, error)           { return 0, nil }
func (c *cannedConn) Close() error                     { return nil }
func (c *cannedConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *cannedConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *cannedConn) SetDeadline(time.Time) error      { return nil }
func (c *cannedConn) SetReadDeadline(time.Time) error  { return nil }
func (c *cannedConn) SetWriteDeadline(time.Time) error { return nil }

const cannedAnswer = "HTTP/1.1 200 OK\r\nDate: Tue, 01 Dec 2026 05:06:53 GMT\r\n" +
	"Content-Type: text/plain; charset=utf-8\r\nContent-Length: 13\r\n\r\nHello, World!"

// BenchmarkOverhead measures a GET on a reused connection but for the system
// calls, beside net/http on the same connection.
func BenchmarkOverhead(b *testing.B) {
	dial := func(context.Context, string, string) (net.Conn, error) {
		return &cannedConn{answer: []byte(cannedAnswer)}, nil
	}
	run := func(name string, rt http.RoundTripper) {
		b.Run(name, func(b *testing.B) {
			req, _ := http.NewRequest("GET", "http://example.com/hello", nil)
			buf := make([]byte, 1024)
			b.ReportAllocs()
			for b.Loop() {
				resp, err := rt.RoundTrip(req)
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = resp.Body.Read(buf)
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				resp.Body.Close()
			}
		})
	}
	c := New(WithDialer(dial))
	defer c.Close()
	run("okhttp", c)
	listened := New(WithDialer(dial), WithEventListener(EventListenerFunc(func(*Call, Event) {})))
	defer listened.Close()
	run("okhttp-listener", listened)
	unbounded := New(WithDialer(dial), WithReadTimeout(0), WithWriteTimeout(0))
	defer unbounded.Close()
	run("okhttp-no-timeouts", unbounded)
}
