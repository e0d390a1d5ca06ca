package http1

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// deafConn ignores deadlines or, with an error, refuses them.
type deafConn struct {
	net.Conn
	refuse error
}

func (c deafConn) SetDeadline(time.Time) error      { return c.refuse }
func (c deafConn) SetReadDeadline(time.Time) error  { return c.refuse }
func (c deafConn) SetWriteDeadline(time.Time) error { return c.refuse }

func TestIdle(t *testing.T) {
	for name, wrap := range map[string]func(net.Conn) net.Conn{
		"knows deadlines":   func(c net.Conn) net.Conn { return c },
		"ignores deadlines": func(c net.Conn) net.Conn { return deafConn{c, nil} },
		"refuses deadlines": func(c net.Conn) net.Conn { return deafConn{c, errors.New("deadlines are not supported")} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := net.Pipe()
				w := wrap(client)
				c := NewConn(w, w)
				for range 3 {
					if n, err := c.Idle(); n != 0 || err != nil {
						t.Fatalf("quiet: got %d, %v", n, err)
					}
					go server.Write([]byte("hello"))
					buf := make([]byte, 5)
					for have := 0; have < 5; { // the byte that was read early comes first
						n, err := c.readSocket(buf[have:])
						if err != nil {
							t.Fatal(err)
						}
						have += n
					}
					if string(buf) != "hello" {
						t.Fatalf("got %q", buf)
					}
				}
				_, _ = c.Idle()
				server.Close()
				synctest.Wait()
				if n, err := c.Idle(); n != 0 || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("closed: got %d, %v", n, err)
				}
				client.Close()
			})
		})
	}
}

func TestIdleUnsolicited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		defer server.Close()
		w := deafConn{client, nil}
		c := NewConn(w, w)
		_, _ = c.Idle()
		go server.Write([]byte("x"))
		synctest.Wait()
		if n, err := c.Idle(); n != 1 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	})
}

// slowConn minds a deadline that has passed, but takes its time.
type slowConn struct{ net.Conn }

func (c slowConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		time.Sleep(2 * lateWait)
	}
	return n, err
}

// The deadline that asks whether anything has arrived is no timeout of the
// exchange that follows.
func TestIdleEndsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		defer server.Close()
		w := slowConn{client}
		c := NewConn(w, w)
		if n, err := c.Idle(); n != 0 || err != nil {
			t.Fatalf("quiet: got %d, %v", n, err)
		}
		go server.Write([]byte("HTTP/1.1 200 OK\r\n"))
		c.Begin(httpsem.ExchangeOptions{ReadTimeout: time.Minute})
		defer c.End()
		if _, err := c.readSocket(make([]byte, 100)); err != nil {
			t.Error(err)
		}
	})
}
