package http1

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// pipe returns a codec and the peer's end of its connection.
func pipe() (*Conn, net.Conn) {
	a, b := net.Pipe()
	c := NewConn(a, a)
	c.exact = false // a pipe's writes can be resumed as TCP's
	return c, b
}

func wantTimeout(t *testing.T, err error, op httpsem.TimeoutOp, after time.Duration) {
	t.Helper()
	var te *httpsem.TimeoutError
	if !errors.As(err, &te) || te.Op != op || te.After != after {
		t.Errorf("got %v, want a %s timeout after %v", err, op, after)
	}
	var ne net.Error
	if !errors.As(err, &ne) || !ne.Timeout() || !errors.Is(err, os.ErrDeadlineExceeded) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not a timeout to the standard library", err)
	}
}

func wantElapsed(t *testing.T, start time.Time, want time.Duration) {
	t.Helper()
	if got := time.Since(start); got != want {
		t.Errorf("after %v, want %v", got, want)
	}
}

// send lets the peer say each piece after a pause.
func send(peer net.Conn, pause time.Duration, pieces ...string) {
	for _, p := range pieces {
		time.Sleep(pause)
		if _, err := io.WriteString(peer, p); err != nil {
			return
		}
	}
}

func TestReadTimeoutIsPerRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe()
		defer peer.Close()
		c.Begin(httpsem.ExchangeOptions{ReadTimeout: 300 * time.Millisecond})
		go send(peer, 200*time.Millisecond, bytewise("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")...)
		if err := c.ReadHead(get(t), newResponse()); err != nil {
			t.Fatal(err)
		}
		var buf [10]byte
		for range len("hello") {
			if _, err := c.ReadBody(buf[:]); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		_, err := c.ReadBody(buf[:])
		wantTimeout(t, err, httpsem.TimeoutRead, 300*time.Millisecond)
		wantElapsed(t, start, 300*time.Millisecond)
		if ok, _ := c.End(); ok {
			t.Error("reusable after a timeout")
		}
	})
}

func TestReadTimeoutInHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, raw := range []string{"", "HTTP/1.1 200 OK\r\nA: b\r\n"} {
			c, peer := pipe()
			c.Begin(httpsem.ExchangeOptions{ReadTimeout: time.Second})
			go send(peer, 0, raw)
			err := c.ReadHead(get(t), newResponse())
			wantTimeout(t, err, httpsem.TimeoutRead, time.Second)
			if c.Received() != (raw != "") {
				t.Error("Received is", c.Received())
			}
			c.End()
			peer.Close()
		}
	})
}

func TestHeldReadTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe()
		defer peer.Close()
		c.Begin(httpsem.ExchangeOptions{ReadTimeout: time.Second})
		c.HoldReadTimeout()
		go func() {
			time.Sleep(time.Hour) // the upload
			c.StartReadTimeout()
		}()
		start := time.Now()
		err := c.ReadHead(get(t), newResponse())
		wantTimeout(t, err, httpsem.TimeoutRead, time.Second)
		wantElapsed(t, start, time.Hour+time.Second)
		c.End()
	})
}

func TestWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, body := range bodies {
			c, peer := pipe()
			c.Begin(httpsem.ExchangeOptions{WriteTimeout: time.Second})
			if err := c.WriteHead(request(t, "POST", "http://a", nil), 500000); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if name == "one byte" {
				peer.Close()
				continue
			}
			_, err := c.WriteBody(body(strings.Repeat("x", 500000)), 500000, true, nil)
			wantTimeout(t, err, httpsem.TimeoutWrite, time.Second)
			wantElapsed(t, start, time.Second)
			if ok, _ := c.End(); ok {
				t.Error("reusable after a timeout")
			}
			peer.Close()
		}
	})
}

// A write that moves, if slowly, has the timeout anew for each piece.
func TestWriteTimeoutIsPerWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe()
		c.Begin(httpsem.ExchangeOptions{WriteTimeout: time.Second})
		if err := c.WriteHead(request(t, "POST", "http://a", nil), 20); err != nil {
			t.Fatal(err)
		}
		got := make(chan string)
		go func() {
			var b strings.Builder
			buf := make([]byte, 1000)
			for {
				time.Sleep(900 * time.Millisecond)
				n, err := peer.Read(buf)
				b.Write(buf[:n])
				if err != nil {
					got <- b.String()
					return
				}
			}
		}()
		if _, err := c.WriteBody(bodies["one byte"](strings.Repeat("x", 20)), 20, false, nil); err != nil {
			t.Error(err)
		}
		c.Cancel()
		if _, body, _ := strings.Cut(<-got, "\r\n\r\n"); body != strings.Repeat("x", 20) {
			t.Errorf("got %q", body)
		}
		c.End()
	})
}

// Deadlines of one exchange must not reach into the next.
func TestTimeoutsDoNotLeakIntoTheNextExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe()
		defer peer.Close()
		for i, timeout := range []time.Duration{time.Second, 0, time.Second} {
			wait := time.Duration(0)
			if timeout == 0 {
				wait = time.Hour
			}
			go func() {
				buf := make([]byte, 1000)
				time.Sleep(wait)
				if _, err := peer.Read(buf); err == nil {
					send(peer, wait, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "hello")
				}
			}()
			a := exchange(c, get(t), httpsem.ExchangeOptions{ReadTimeout: timeout, WriteTimeout: timeout})
			if a.err != nil || a.body != "hello" || !a.reusable {
				t.Errorf("exchange %d: %v, %s", i, a.err, a.reason)
			}
			time.Sleep(time.Minute) // the deadlines pass while the connection is idle
		}
	})
}

func TestAwaitHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe()
		c.Begin(httpsem.ExchangeOptions{ReadTimeout: time.Minute})
		start := time.Now()
		if ok, err := c.AwaitHead(time.Second); ok || err != nil {
			t.Errorf("silence: %v, %v", ok, err)
		}
		wantElapsed(t, start, time.Second)
		go send(peer, 500*time.Millisecond, "HTTP/1.1 100 Continue\r\n\r\n")
		if ok, err := c.AwaitHead(time.Second); !ok || err != nil {
			t.Errorf("100: %v, %v", ok, err)
		}
		wantElapsed(t, start, 1500*time.Millisecond)
		if ok, err := c.AwaitHead(0); !ok || err != nil {
			t.Errorf("again: %v, %v", ok, err)
		}
		resp := newResponse()
		if err := c.ReadHead(get(t), resp); err != nil || resp.StatusCode != 100 {
			t.Error(resp.StatusCode, err)
		}
		start = time.Now()
		wantTimeout(t, c.ReadHead(get(t), resp), httpsem.TimeoutRead, time.Minute)
		wantElapsed(t, start, time.Minute)
		c.End()

		c.Begin(httpsem.ExchangeOptions{})
		peer.Close()
		if ok, err := c.AwaitHead(time.Second); ok || !errors.Is(err, io.EOF) {
			t.Errorf("closed: %v, %v", ok, err)
		}
		c.End()
	})
}

func TestDrain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		raw   string
		limit int64
		want  bool
	}{
		{"fixed", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 5, true},
		{"fixed, too long", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 4, false},
		{"fixed, stalls", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", 100, false},
		{"chunked", chunkedHead + "5\r\nhello\r\n0\r\nA: b\r\n\r\n", 5, true},
		{"chunked, too long", chunkedHead + "5\r\nhello\r\n2\r\nxy\r\n0\r\n\r\n", 5, false},
		{"chunked, stalls", chunkedHead + "5\r\nhello\r\n", 100, false},
		{"chunked, broken", chunkedHead + "x\r\n", 100, false},
		{"until close", "HTTP/1.1 200 OK\r\n\r\nhello", 100, false},
		{"none", "HTTP/1.1 204 No Content\r\n\r\n", 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, peer := pipe()
			defer peer.Close()
			go func() {
				buf := make([]byte, 1000)
				if _, err := peer.Read(buf); err == nil {
					send(peer, 0, tt.raw)
				}
			}()
			c.Begin(httpsem.ExchangeOptions{ReadTimeout: time.Minute})
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
			start := time.Now()
			got := c.Drain(tt.limit, 100*time.Millisecond)
			if elapsed := time.Since(start); elapsed > 100*time.Millisecond {
				t.Errorf("%s: took %v", tt.name, elapsed)
			}
			if ok, reason := c.End(); got != tt.want || ok != tt.want {
				t.Errorf("%s: got %v, reusable %v (%s)", tt.name, got, ok, reason)
			}
			c.Cancel()
		})
	}
}

func TestAbortWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, timeout := range []time.Duration{0, time.Hour} {
			c, peer := pipe()
			c.Begin(httpsem.ExchangeOptions{WriteTimeout: timeout})
			req := request(t, "POST", "http://a", nil)
			if err := c.WriteHead(req, 500000); err != nil {
				t.Fatal(err)
			}
			go func() {
				time.Sleep(time.Second)
				c.AbortWrite()
			}()
			start := time.Now()
			_, err := c.WriteBody(bodies["reader"](strings.Repeat("x", 500000)), 500000, true, nil)
			if err != httpsem.ErrWriteAborted {
				t.Errorf("got %v", err)
			}
			wantElapsed(t, start, time.Second)
			if err := c.Flush(); err != httpsem.ErrWriteAborted {
				t.Errorf("later: got %v", err)
			}
			// The response can be read all the same.
			go send(peer, 0, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
			resp := newResponse()
			if err := c.ReadHead(req, resp); err != nil || resp.StatusCode != 413 {
				t.Errorf("got %d, %v", resp.StatusCode, err)
			}
			if ok, _ := c.End(); ok {
				t.Error("reusable though the request is incomplete")
			}
			peer.Close()
		}
	})
}

// An abort that comes when the request is already complete does no harm.
func TestAbortWriteTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe()
		defer peer.Close()
		for range 2 {
			go func() {
				buf := make([]byte, 1000)
				if _, err := peer.Read(buf); err == nil {
					send(peer, 0, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
			}()
			c.Begin(httpsem.ExchangeOptions{})
			req := get(t)
			if err := c.WriteHead(req, 0); err != nil {
				t.Fatal(err)
			}
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
			c.AbortWrite()
			if err := c.ReadHead(req, newResponse()); err != nil {
				t.Fatal(err)
			}
			if ok, reason := c.End(); !ok {
				t.Fatal(reason)
			}
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe()
		defer peer.Close()
		c.Begin(httpsem.ExchangeOptions{ReadTimeout: time.Hour})
		go func() {
			time.Sleep(time.Second)
			c.Cancel()
		}()
		start := time.Now()
		if err := c.ReadHead(get(t), newResponse()); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
		wantElapsed(t, start, time.Second)
		if ok, reason := c.End(); ok || reason != "canceled" {
			t.Error(ok, reason)
		}
	})
}

// The two halves work at once: the response comes while the body goes out.
func TestBothHalvesAtOnce(t *testing.T) {
	client, server := tcpPair(t)
	go func() {
		io.WriteString(server, chunkedHead)
		for range 100 {
			io.WriteString(server, "5\r\nhello\r\n")
		}
		io.WriteString(server, "0\r\n\r\n")
		io.Copy(io.Discard, server)
	}()
	c := NewConn(client, client)
	c.Begin(httpsem.ExchangeOptions{ReadTimeout: time.Minute, WriteTimeout: time.Minute})
	c.HoldReadTimeout()
	req := request(t, "POST", "http://a", nil)
	if err := c.WriteHead(req, -1); err != nil {
		t.Fatal(err)
	}
	sent := make(chan error)
	go func() {
		_, err := c.WriteBody(bodies["reader"](strings.Repeat("x", 1<<20)), -1, true, nil)
		c.StartReadTimeout()
		sent <- err
	}()
	var resp http.Response
	if err := c.ReadHead(req, &resp); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if _, err := copyTo(c, &b); err != nil || b.Len() != 500 {
		t.Error(b.Len(), err)
	}
	_ = c.Sent()
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if ok, reason := c.End(); !ok {
		t.Error(reason)
	}
}

// Between exchanges others set the socket's deadlines: the pool's look at an idle
// TLS connection does. The next exchange must not rely on what it once set.
func TestDeadlineChangedWhileIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe()
		defer peer.Close()
		go func() {
			buf := make([]byte, 1000)
			for i := range 2 {
				if _, err := peer.Read(buf); err == nil && i == 0 {
					send(peer, 0, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
			}
		}()
		o := httpsem.ExchangeOptions{ReadTimeout: time.Second, WriteTimeout: time.Second}
		if a := exchange(c, get(t), o); !a.reusable {
			t.Fatal(a.reason)
		}
		c.conn.SetDeadline(time.Time{})
		start := time.Now()
		time.AfterFunc(time.Minute, c.Cancel)
		a := exchange(c, get(t), o)
		wantTimeout(t, a.err, httpsem.TimeoutRead, time.Second)
		wantElapsed(t, start, time.Second)
	})
}
