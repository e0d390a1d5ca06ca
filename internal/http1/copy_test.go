package http1

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// respond starts an exchange whose response head was read, over loopback. serve
// writes what comes after the request.
func respond(t testing.TB, o httpsem.ExchangeOptions, serve func(w io.Writer)) *Conn {
	t.Helper()
	client, server := tcpPair(t)
	done := make(chan struct{})
	t.Cleanup(func() { client.Close(); <-done })
	go func() {
		defer close(done)
		serve(server)
		server.CloseWrite()
	}()
	c := NewConn(client, client)
	c.Begin(o)
	req := get(t)
	if err := c.WriteHead(req, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := c.ReadHead(req, newResponse()); err != nil {
		t.Fatal(err)
	}
	return c
}

func fixedHead(n int) string {
	return "HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(n) + "\r\n\r\n"
}

type onlyWriter struct{ io.Writer }

// All ways in which a body may be copied give the same bytes.
func TestWriteBodyTo(t *testing.T) {
	for _, size := range []int{0, 1, 5000, 100000, 5 << 20} {
		data := strings.Repeat("0123456789", size/10+1)[:size]
		for framing, head := range map[string]string{
			"fixed":   fixedHead(size) + data,
			"chunked": chunkedHead + chunked(data),
			"close":   "HTTP/1.1 200 OK\r\n\r\n" + data,
		} {
			for _, dest := range []string{"buffer", "file", "tcp"} {
				c := respond(t, httpsem.ExchangeOptions{ReadTimeout: time.Minute}, func(w io.Writer) { io.WriteString(w, head) })
				var w io.Writer
				var result func() []byte
				switch dest {
				case "buffer":
					b := new(bytes.Buffer)
					w, result = onlyWriter{b}, b.Bytes
				case "file":
					f, err := os.Create(filepath.Join(t.TempDir(), "f"))
					if err != nil {
						t.Fatal(err)
					}
					defer f.Close()
					w = f
					result = func() []byte { b, _ := os.ReadFile(f.Name()); return b }
				case "tcp":
					near, far := tcpPair(t)
					got := make(chan []byte, 1)
					go func() { b, _ := io.ReadAll(far); got <- b }()
					w = near
					result = func() []byte { near.CloseWrite(); return <-got }
				}
				n, err := copyTo(c, w)
				if err != nil || n != int64(size) || string(result()) != data {
					t.Errorf("%s to %s, %d: copied %d, %v", framing, dest, size, n, err)
				}
				if n, err := copyTo(c, w); n != 0 || err != nil {
					t.Errorf("again: %d, %v", n, err)
				}
				if ok, reason := c.End(); ok != (framing != "close") {
					t.Errorf("%s to %s, %d: reusable %v, %s", framing, dest, size, ok, reason)
				}
			}
		}
	}
}

func chunked(data string) string {
	var b strings.Builder
	for len(data) > 0 {
		n := min(len(data), 40000)
		b.WriteString(strconv.FormatInt(int64(n), 16) + "\r\n" + data[:n] + "\r\n")
		data = data[n:]
	}
	return b.String() + "0\r\n\r\n"
}

// A slow peer that does move keeps the copy alive, a silent one ends it.
func TestSpliceTimeout(t *testing.T) {
	const timeout = 400 * time.Millisecond
	stall := make(chan struct{})
	c := respond(t, httpsem.ExchangeOptions{ReadTimeout: timeout}, func(w io.Writer) {
		io.WriteString(w, fixedHead(200000))
		for range 10 { // longer than the timeout in all, far from it each time
			time.Sleep(timeout / 8)
			w.Write(make([]byte, 6000))
		}
		<-stall
	})
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := copyTo(c, f)
	close(stall)
	var te *httpsem.TimeoutError
	if n != 60000 || !errors.As(err, &te) || te.Op != httpsem.TimeoutRead {
		t.Errorf("copied %d, %v", n, err)
	}
	if ok, _ := c.End(); ok {
		t.Error("reusable")
	}
}

func TestTruncatedCopy(t *testing.T) {
	for _, toFile := range []bool{false, true} {
		c := respond(t, httpsem.ExchangeOptions{}, func(w io.Writer) {
			io.WriteString(w, fixedHead(3<<20))
			w.Write(make([]byte, 2<<20))
		})
		var w io.Writer = onlyWriter{io.Discard}
		if toFile {
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			w = f
		}
		n, err := copyTo(c, w)
		var pe *httpsem.ProtocolError
		if n != 2<<20 || !errors.As(err, &pe) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("copied %d, %v", n, err)
		}
		if ok, _ := c.End(); ok {
			t.Error("reusable")
		}
	}
}

// A writer that fails is not the connection's fault: what is left can be drained.
func TestWriterFails(t *testing.T) {
	full := errors.New("disk full")
	for _, raw := range []string{fixedHead(100000) + strings.Repeat("x", 100000), chunkedHead + chunked(strings.Repeat("x", 100000))} {
		c := respond(t, httpsem.ExchangeOptions{}, func(w io.Writer) { io.WriteString(w, raw) })
		_, err := copyTo(c, writerFunc(func(p []byte) (int, error) { return len(p) / 2, full }))
		var sink *httpsem.SinkError
		if !errors.As(err, &sink) || sink.Err != full {
			t.Errorf("got %v", err)
		}
		if !c.Drain(1<<20, time.Minute) {
			t.Error("not drained")
		}
		if ok, reason := c.End(); !ok {
			t.Error(reason)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A file that fails while the kernel copies takes bytes with it: they are gone,
// so the body cannot be read on.
func TestFileFails(t *testing.T) {
	c := respond(t, httpsem.ExchangeOptions{}, func(w io.Writer) { io.WriteString(w, fixedHead(1<<20)); w.Write(make([]byte, 1<<20)) })
	f := tempFile(t, "opened for reading only")
	_, err := copyTo(c, f)
	var sink *httpsem.SinkError
	if !errors.As(err, &sink) {
		t.Errorf("got %v", err)
	}
	if c.Drain(2<<20, time.Minute) != (c.response.err == nil) {
		t.Error("drained after a loss")
	}
	c.End()
}
