package mockwebserver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

// halfCloser is what both a TCP connection and one over a pipe can do.
type halfCloser interface {
	net.Conn
	CloseRead() error
	CloseWrite() error
	SetLinger(int) error
}

// pair returns both ends of a connection over the listener.
func pair(t *testing.T, l net.Listener, dial func() (net.Conn, error)) (client, server halfCloser) {
	t.Helper()
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	}()
	conn, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	client, server = conn.(halfCloser), (<-accepted).(halfCloser)
	t.Cleanup(func() {
		client.Close()
		server.Close()
		l.Close()
	})
	return client, server
}

// TestPipeIsLikeTCP runs the same checks over TCP and over a pipe.
func TestPipeIsLikeTCP(t *testing.T) {
	checks := []struct {
		name string
		run  func(t *testing.T, a, b halfCloser)
	}{
		{"data", func(t *testing.T, a, b halfCloser) {
			mustWrite(t, a, "hello") // does not wait for the reader
			mustWrite(t, a, " there")
			buf := make([]byte, 11)
			if _, err := io.ReadFull(b, buf); err != nil || string(buf) != "hello there" {
				t.Errorf("got %q, %v", buf, err)
			}
		}},
		{"end after data", func(t *testing.T, a, b halfCloser) {
			mustWrite(t, a, "last words")
			a.Close()
			if got, err := io.ReadAll(b); err != nil || string(got) != "last words" {
				t.Errorf("got %q, %v", got, err)
			}
			if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("read after Close: %v", err)
			}
			if _, err := a.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
				t.Errorf("write after Close: %v", err)
			}
		}},
		{"half close", func(t *testing.T, a, b halfCloser) {
			if err := a.CloseWrite(); err != nil {
				t.Error(err)
			}
			if got, err := io.ReadAll(b); err != nil || len(got) > 0 {
				t.Errorf("got %q, %v", got, err)
			}
			mustWrite(t, b, "still open")
			b.Close()
			if got, err := io.ReadAll(a); err != nil || string(got) != "still open" {
				t.Errorf("got %q, %v", got, err)
			}
			if _, err := a.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
				t.Errorf("write after CloseWrite: %v", err)
			}
		}},
		{"close read", func(t *testing.T, a, b halfCloser) {
			if err := a.CloseRead(); err != nil {
				t.Error(err)
			}
			if n, err := a.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("got %d, %v", n, err)
			}
			mustWrite(t, a, "x")
			if n, err := b.Read(make([]byte, 1)); n != 1 || err != nil {
				t.Errorf("got %d, %v", n, err)
			}
		}},
		{"reset", func(t *testing.T, a, b halfCloser) {
			if err := a.SetLinger(0); err != nil {
				t.Error(err)
			}
			a.Close()
			if _, err := b.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("got %v", err)
			}
		}},
		{"deadline", func(t *testing.T, a, b halfCloser) {
			mustWrite(t, b, "x")
			_ = a.SetReadDeadline(time.Unix(1, 0))
			if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			_ = a.SetReadDeadline(time.Time{})
			if n, err := a.Read(make([]byte, 1)); n != 1 || err != nil {
				t.Errorf("got %d, %v", n, err)
			}
			time.AfterFunc(time.Millisecond, func() { _ = a.SetDeadline(time.Now()) })
			_, err := a.Read(make([]byte, 1))
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Errorf("got %v", err)
			}
		}},
		{"full", func(t *testing.T, a, b halfCloser) {
			data := bytes.Repeat([]byte("0123456789"), 1<<20)
			_ = a.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
			n, err := a.Write(data)
			if n == 0 || n == len(data) || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("wrote %d, %v", n, err)
			}
			a.Close()
			if got, err := io.ReadAll(b); err != nil || !bytes.Equal(got, data[:n]) {
				t.Errorf("got %d bytes of %d, %v", len(got), n, err)
			}
		}},
	}
	for _, check := range checks {
		t.Run(check.name+"/tcp", func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			a, b := pair(t, l, func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) })
			check.run(t, a, b)
		})
		t.Run(check.name+"/pipe", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := mockwebserver.Pipe()
				a, b := pair(t, l, func() (net.Conn, error) { return l.Dial(t.Context()) })
				check.run(t, a, b)
			})
		})
	}
}

func mustWrite(t *testing.T, w io.Writer, s string) {
	t.Helper()
	if n, err := io.WriteString(w, s); n != len(s) || err != nil {
		t.Fatalf("wrote %d, %v", n, err)
	}
}

// TestPipeStream sends much more than the pipe holds, in odd portions.
func TestPipeStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := mockwebserver.Pipe()
		a, b := pair(t, l, func() (net.Conn, error) { return l.Dial(t.Context()) })
		data := make([]byte, 1<<20)
		for i := range data {
			data[i] = byte(i * i >> 7)
		}
		go func() {
			for rest, i := data, 1; len(rest) > 0; i++ {
				n := min(len(rest), i*i%40000)
				if _, err := a.Write(rest[:n]); err != nil {
					t.Error(err)
				}
				rest = rest[n:]
			}
			a.Close()
		}()
		var got []byte
		for i := 1; ; i++ {
			buf := make([]byte, 1+i*7%5000)
			n, err := b.Read(buf)
			got = append(got, buf[:n]...)
			if err != nil {
				break
			}
		}
		if !bytes.Equal(got, data) {
			t.Errorf("got %d bytes, not the same", len(got))
		}
	})
}

func TestPipeDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := mockwebserver.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := l.Dial(ctx); !errors.Is(err, context.DeadlineExceeded) { // nobody accepts
			t.Errorf("got %v", err)
		}
		l.Close()
		l.Close()
		if _, err := l.Dial(t.Context()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("got %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}
