package okhttp_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
)

// stubbornBody stays in Read until it is released, whoever closes it.
type stubbornBody struct {
	release chan struct{}
	rest    io.Reader
	closed  atomic.Bool
}

func (b *stubbornBody) Read(p []byte) (int, error) {
	<-b.release
	return b.rest.Read(p)
}

func (b *stubbornBody) Close() error { b.closed.Store(true); return nil }

func stubborn(text string) *stubbornBody {
	return &stubbornBody{release: make(chan struct{}), rest: strings.NewReader(text)}
}

// An answer that comes before the body can be read to its end although the body's
// reader does not come back. When it does, at last, nothing breaks.
func TestEarlyAnswerToStubbornBody(t *testing.T) {
	for _, length := range []int64{-1, 6} {
		synctest.Test(t, func(t *testing.T) {
			log := newEventLog(t)
			m := newMemory(t)
			s := m.serve("server.test", func(n int, c *rawConn) {
				if n == 0 {
					c.head()
					c.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\n\r\nnope")
					return
				}
				c.answerFine()
			})
			c := m.client(okhttp.WithEventListener(log))
			body := stubborn("little")
			req := newRequest(t, "POST", "http://server.test/", body)
			req.ContentLength = length
			resp, err := c.Do(req)
			wantBody(t, resp, err, "nope")
			log.want(`CallStart dial Acquired ReqHdrStart ReqHdrEnd ReqBodyStart ReqFailed RespHdrStart RespHdrEnd(400)
				FollowUp(none) RespBodyStart RespBodyEnd(4) Released CallEnd`)
			s.WaitOpen(0)
			wantFine(t, c, "http://server.test/")
			close(body.release)
			synctest.Wait()
			wantFine(t, c, "http://server.test/")
		})
	}
}

// A body whose reader comes back when the next hop is under way does not close
// that hop's body.
func TestStubbornBodyBeforeRedirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		got := make(chan string, 1)
		m.serve("server.test", func(n int, c *rawConn) {
			if n == 0 {
				c.head()
				c.send("HTTP/1.1 307 Temporary Redirect\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n")
				return
			}
			_, body := c.request()
			got <- body
			c.send(fineAnswer)
		})
		first, second := stubborn("first"), stubborn("second")
		req := newRequest(t, "POST", "http://server.test/", first)
		req.GetBody = func() (io.ReadCloser, error) { return second, nil }
		go func() {
			time.Sleep(time.Minute) // the second is being read
			close(first.release)
			time.Sleep(time.Minute)
			if second.closed.Load() {
				t.Error("the second body was closed by the end of the first")
			}
			close(second.release)
		}()
		resp, err := m.client().Do(req)
		wantBody(t, resp, err, "fine")
		if body := <-got; body != "second" {
			t.Errorf("%q", body)
		}
	})
}

// halfBroken is a connection that takes the head of a request and no more.
type halfBroken struct {
	net.Conn
	writes atomic.Int32
}

func (c *halfBroken) Write(p []byte) (int, error) {
	if c.writes.Add(1) > 1 {
		return 0, syscall.EPIPE
	}
	return c.Conn.Write(p)
}

// The read timeout holds although the request could not be sent.
func TestReadTimeoutAfterFailedUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		go func() {
			c := &rawConn{Conn: server}
			c.Read(make([]byte, 1000))
			c.send("HTTP/1.1 200 O")
		}()
		c := okhttp.New(okhttp.WithDialer(func(context.Context, string, string) (net.Conn, error) {
			return &halfBroken{Conn: client}, nil
		}))
		defer c.Close()
		start := time.Now()
		req := newRequest(t, "POST", "http://server.test/", io.MultiReader(strings.NewReader("one")))
		resp, err := c.Do(req)
		if err == nil {
			resp.Body.Close()
			t.Fatal(resp.Status)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%v after %v", err, took)
		}
		server.Close()
	})
}
