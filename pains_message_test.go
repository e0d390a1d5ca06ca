package okhttp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
)

// TestP13: closing a body early keeps the connection where that is cheap, and
// never takes long.
func TestP13(t *testing.T) {
	t.Run("a newline is left", func(t *testing.T) {
		server := serveRaw(t, func(_ int, c *rawConn) {
			for head := c.head(); head != ""; head = c.head() {
				c.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"a\":1}\n")
			}
		})
		c := okhttp.New()
		defer c.Close()
		for range 20 {
			resp, err := c.Get(context.Background(), server.URL("/"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(resp.Body, make([]byte, 7)); err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
		if n := server.Accepted(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
	for _, test := range []struct {
		name string
		head string
		body func(c *rawConn)
		took time.Duration // at most
	}{
		{"1 GiB is left", "Content-Length: 1073741824\r\n", func(c *rawConn) { c.flood("x") }, 0},
		{"chunks without end are left", "Transfer-Encoding: chunked\r\n", func(c *rawConn) { c.flood("1000\r\n" + strings.Repeat("x", 0x1000) + "\r\n") }, 0},
		{"no end is known", "", func(c *rawConn) { c.flood("x") }, 0},
		{"the rest does not come", "Content-Length: 100\r\n", func(*rawConn) {}, 100 * time.Millisecond},
		{"the rest dribbles", "Content-Length: 100\r\n", func(c *rawConn) {
			for range 100 {
				time.Sleep(30 * time.Millisecond)
				c.send("x")
			}
		}, 100 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(t)
				s := m.serve("a.test", func(n int, c *rawConn) {
					if n > 0 {
						c.answerFine()
						return
					}
					c.head()
					c.send("HTTP/1.1 200 OK\r\n" + test.head + "\r\n")
					test.body(c)
				})
				c := m.client()
				resp, err := c.Get(context.Background(), "http://a.test/")
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				resp.Body.Close()
				if took := time.Since(start); took > test.took {
					t.Errorf("Close took %v", took)
				}
				synctest.Wait()
				time.Sleep(10 * time.Second)
				if s.Open() != 0 {
					t.Error("the connection was kept")
				}
				wantFine(t, c, "http://a.test/")
			})
		})
	}
}

// TestP20: Expect: 100-continue.
func TestP20(t *testing.T) {
	const size = 1 << 20
	expecting := func(t *testing.T, url string) (*http.Request, *trackedBody) {
		body := &trackedBody{Reader: io.LimitReader(zeros{}, size)}
		req := newRequest(t, "PUT", url, body)
		req.ContentLength = size
		req.Header.Set("Expect", "100-continue")
		return req, body
	}
	t.Run("401 at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(t)
			rest := make(chan int64, 1)
			s := m.serve("a.test", func(n int, c *rawConn) {
				if n > 0 {
					c.answerFine()
					return
				}
				c.head()
				c.send("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 2\r\n\r\nno")
				n64, _ := io.Copy(io.Discard, c.br)
				rest <- n64
			})
			c := m.client()
			req, body := expecting(t, "http://a.test/")
			resp, text, err := fetch(c, req)
			if err != nil || resp.StatusCode != 401 || text != "no" {
				t.Fatalf("%v %q %v", resp, text, err)
			}
			if n := <-rest; n != 0 || body.reads.Load() != 0 {
				t.Errorf("%d bytes of the body were sent, %d reads", n, body.reads.Load())
			}
			if body.closes.Load() != 1 {
				t.Errorf("closed %d times", body.closes.Load())
			}
			wantFine(t, c, "http://a.test/")
			if s.Accepted() != 2 {
				t.Errorf("%d connections", s.Accepted())
			}
		})
	})
	t.Run("417", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(t)
			var heads []string
			m.serve("a.test", func(_ int, c *rawConn) {
				for {
					head := c.head()
					if head == "" {
						return
					}
					heads = append(heads, head)
					if strings.Contains(head, "Expect:") {
						c.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
						return
					}
					io.CopyN(io.Discard, c.br, size)
					c.send(fineAnswer)
				}
			})
			c := m.client()
			req, body := expecting(t, "http://a.test/")
			resp, text, err := fetch(c, req)
			if err != nil || resp.StatusCode != 200 || text != "fine" {
				t.Fatalf("%v %q %v", resp, text, err)
			}
			if len(heads) != 2 || strings.Contains(heads[1], "Expect") || !strings.Contains(heads[1], "Content-Length: 1048576\r\n") {
				t.Errorf("%q", heads)
			}
			if body.closes.Load() != 1 {
				t.Errorf("closed %d times", body.closes.Load())
			}
		})
	})
	t.Run("silence, then 200", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(t)
			m.serve("a.test", func(_ int, c *rawConn) {
				c.head()
				start := time.Now()
				io.ReadFull(c.br, make([]byte, 1))
				if took := time.Since(start); took != time.Second {
					t.Errorf("the body came after %v", took)
				}
				io.CopyN(io.Discard, c.br, size-1)
				c.send(fineAnswer)
				c.answerFine()
			})
			c := m.client()
			req, _ := expecting(t, "http://a.test/")
			if resp, text, err := fetch(c, req); err != nil || resp.StatusCode != 200 || text != "fine" {
				t.Fatalf("%v %q %v", resp, text, err)
			}
			wantFine(t, c, "http://a.test/")
			if s := c.Pool().Stats(); s.Opened != 1 {
				t.Errorf("%+v", s)
			}
		})
	})
	t.Run("not a byte is eaten", func(t *testing.T) {
		got := make(chan []byte, 1)
		server := serveRaw(t, func(_ int, c *rawConn) {
			c.head()
			c.send("HTTP/1.1 100 Continue\r\n\r\n")
			b := make([]byte, 1000)
			io.ReadFull(c.br, b)
			got <- b
			c.send(fineAnswer)
		})
		c := okhttp.New()
		defer c.Close()
		sent := make([]byte, 1000)
		for i := range sent {
			sent[i] = byte(i)
		}
		req := newRequest(t, "PUT", server.URL("/"), bytes.NewReader(sent))
		req.Header.Set("Expect", "100-continue")
		if _, text, err := fetch(c, req); err != nil || text != "fine" || !bytes.Equal(<-got, sent) {
			t.Errorf("%q %v", text, err)
		}
	})
}

// TestP21: an early error response is had although the server closes while the
// request is being sent.
func TestP21(t *testing.T) {
	const rounds, size = 200, 16 << 20
	server := serveRaw(t, func(_ int, c *rawConn) {
		c.br.ReadString('\n')
		c.send("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 9\r\n\r\ntoo large")
		c.Close() // with unread bytes, so the kernel sends a reset
	})
	c := okhttp.New()
	defer c.Close()
	had := 0
	for range rounds {
		body := &trackedBody{Reader: io.LimitReader(zeros{}, size)}
		req := newRequest(t, "PUT", server.URL("/"), body)
		req.ContentLength = size
		resp, text, err := fetch(c, req)
		switch {
		case err == nil && resp.StatusCode == 413 && text == "too large":
			had++
		case err == nil:
			t.Errorf("%v %q", resp, text)
		default:
			t.Log(err)
		}
		if n := body.closes.Load(); n != 1 {
			t.Errorf("the body was closed %d times", n)
		}
	}
	if had < rounds*99/100 {
		t.Errorf("%d of %d calls had the response", had, rounds)
	}
	if n := server.Accepted(); n != rounds {
		t.Errorf("%d connections: something was sent again", n)
	}
}

// TestP22: informational responses are told of, and are not the response.
func TestP22(t *testing.T) {
	server := serveRaw(t, func(_ int, c *rawConn) {
		c.head()
		c.send("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\nX-Early: 1\r\n\r\n")
		c.send("HTTP/1.1 102 Processing\r\n\r\n", fineAnswer)
		c.answerFine()
	})
	var codes []int
	var links []string
	c := okhttp.New(okhttp.WithEventListener(okhttp.EventListenerFunc(func(_ *okhttp.Call, e okhttp.Event) {
		if e, ok := e.(okhttp.InformationalResponse); ok {
			codes = append(codes, e.Code)
			links = append(links, e.Header.Get("Link"))
		}
	})))
	defer c.Close()
	resp, text, err := fetch(c, newRequest(t, "GET", server.URL("/"), nil))
	if err != nil || resp.StatusCode != 200 || text != "fine" {
		t.Fatalf("%v %q %v", resp, text, err)
	}
	if !slices.Equal(codes, []int{103, 102}) || links[0] != "</style.css>; rel=preload" {
		t.Errorf("%v %q", codes, links)
	}
	if resp.Header.Get("Link") != "" || resp.Header.Get("X-Early") != "" {
		t.Errorf("merged: %v", resp.Header)
	}
	wantFine(t, c, server.URL("/"))
	if n := server.Accepted(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// TestP23: when a call has returned, nobody reads or closes its body any more,
// so that its buffer can be used for something else.
func TestP23(t *testing.T) {
	server := serveRaw(t, func(_ int, c *rawConn) {
		c.br.ReadString('\n')
		c.send("HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbad")
	})
	c := okhttp.New()
	defer c.Close()
	buffer := make([]byte, 256<<10)
	for i := range 1000 {
		var returned atomic.Bool
		late := func(what string) {
			if returned.Load() {
				t.Errorf("round %d: %s after the call returned", i, what)
			}
		}
		reader := bytes.NewReader(buffer)
		body := &trackedBody{Reader: readerFunc(func(p []byte) (int, error) {
			late("Read")
			return reader.Read(p)
		})}
		req := newRequest(t, "POST", server.URL("/"), body)
		if i%2 == 0 {
			req.ContentLength = int64(len(buffer))
		}
		resp, err := c.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		closes := body.closes.Load()
		returned.Store(true)
		clear(buffer) // the race detector sees it if somebody still reads
		if resp.StatusCode != 502 || closes != 1 {
			t.Errorf("status %d, closed %d times", resp.StatusCode, closes)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if body.closes.Load() != 1 {
			t.Error("closed again")
		}
	}
}

// TestP24: nothing that a caller puts into a request changes how it is framed.
func TestP24(t *testing.T) {
	server := serveRaw(t, func(_ int, c *rawConn) { c.answerFine() })
	c := okhttp.New()
	defer c.Close()
	header := func(name string, values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[name] = values }
	}
	for name, spoil := range map[string]func(*http.Request){
		"transfer-encoding":              header("transfer-encoding", "chunked"),
		"Transfer-Encoding":              header("Transfer-Encoding", "chunked"),
		"tRANSFER-eNCODING":              header("tRANSFER-eNCODING", "identity"),
		"content-length":                 header("content-length", "3"),
		"two content-lengths":            header("Content-Length", "4", "5"),
		"CONTENT-LENGTH":                 header("CONTENT-LENGTH", "0"),
		"host":                           header("host", "elsewhere.test"),
		"two hosts":                      header("Host", "elsewhere.test", "127.0.0.1"),
		"CR in a value":                  header("X", "a\rb"),
		"LF in a value":                  header("X", "a\nTransfer-Encoding: chunked"),
		"CRLF at the end of a value":     header("X", "a\r\n"),
		"NUL in a value":                 header("X", "a\x00b"),
		"CRLF in a name":                 header("X: y\r\nTransfer-Encoding", "chunked"),
		"colon in a name":                header("X:", "y"),
		"space in a name":                header("Transfer-Encoding ", "chunked"),
		"NUL in a name":                  header("X\x00", "y"),
		"empty name":                     header("", "y"),
		"CRLF in the method":             func(r *http.Request) { r.Method = "GET / HTTP/1.1\r\nX: y\r\n\r\nPOST" },
		"space in the method":            func(r *http.Request) { r.Method = "PO ST" },
		"CRLF in the host":               func(r *http.Request) { r.Host = "a\r\nX: y" },
		"space in the host":              func(r *http.Request) { r.Host = "a b" },
		"slash in the host":              func(r *http.Request) { r.Host = "a/b" },
		"CRLF in an opaque URL":          func(r *http.Request) { r.URL.Opaque = "/ HTTP/1.1\r\nX: y" },
		"CRLF in the query":              func(r *http.Request) { r.URL.RawQuery = "a=b HTTP/1.1\r\nX: y" },
		"transfer coding":                func(r *http.Request) { r.TransferEncoding = []string{"gzip", "chunked"} },
		"trailer that frames":            func(r *http.Request) { r.Trailer = http.Header{"Content-Length": {"5"}} },
		"CRLF in a trailer's name":       func(r *http.Request) { r.Trailer = http.Header{"X\r\nY": {"5"}} },
		"trailer of another announcment": header("Trailer", "X-Sum"),
	} {
		t.Run(name, func(t *testing.T) {
			body := &trackedBody{Reader: strings.NewReader("body")}
			req := newRequest(t, "POST", server.URL("/"), body)
			req.ContentLength = 4
			spoil(req)
			_, _, err := fetch(c, req)
			var refusal *okhttp.RequestError
			var e *okhttp.Error
			if !errors.As(err, &refusal) || !errors.As(err, &e) || e.Phase != okhttp.PhaseRequest {
				t.Errorf("%v", err)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\r\n\x00") {
				t.Errorf("the error is not one line: %q", err)
			}
			if body.reads.Load() != 0 || body.closes.Load() != 1 {
				t.Errorf("%d reads, %d closes", body.reads.Load(), body.closes.Load())
			}
		})
	}
	if n := server.Accepted(); n != 0 {
		t.Errorf("%d connections were opened for nothing", n)
	}
	wantFine(t, c, server.URL("/"))
}

// TestP25: order and case of the request's headers, to the byte.
func TestP25(t *testing.T) {
	heads := make(chan string, 1)
	server := serveRaw(t, func(_ int, c *rawConn) {
		for {
			head, _ := c.request()
			if head == "" {
				return
			}
			heads <- head
			c.send(fineAnswer)
		}
	})
	c := okhttp.New(okhttp.WithUserAgent("agent/1"))
	defer c.Close()
	for _, test := range []struct {
		name  string
		order []string
		want  string
	}{
		{"by default", nil, "POST /p?q=1 HTTP/1.1\r\nHost: %s\r\nUser-Agent: agent/1\r\nContent-Length: 4\r\nAccept: */*\r\nAccept-Encoding: gzip\r\nConnection: Keep-Alive\r\nX-One: 1\r\nX-Two: 2\r\nX-Two: 3\r\n\r\n"},
		{"as asked", []string{"x-two", "CONTENT-LENGTH", "host", "aCCept", "connection"}, "POST /p?q=1 HTTP/1.1\r\nx-two: 2\r\nx-two: 3\r\nCONTENT-LENGTH: 4\r\nhost: %s\r\naCCept: */*\r\nconnection: Keep-Alive\r\nAccept-Encoding: gzip\r\nUser-Agent: agent/1\r\nX-One: 1\r\n\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := newRequest(t, "POST", server.URL("/p?q=1"), strings.NewReader("body"))
			req.Header = http.Header{"X-Two": {"2", "3"}, "Accept": {"*/*"}, "X-One": {"1"}}
			if _, _, err := fetch(c, req, okhttp.WithHeaderOrder(test.order...)); err != nil {
				t.Fatal(err)
			}
			if got, want := <-heads, fmt.Sprintf(test.want, server.Addr()); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestP26: bytes on an idle connection are an event, not a line of a global log
// and not an answer.
func TestP26(t *testing.T) {
	sent := make(chan struct{})
	server := serveRaw(t, func(n int, c *rawConn) {
		if n > 0 {
			c.answerFine()
			return
		}
		c.head()
		c.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
		<-sent
		c.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL")
		sent <- struct{}{}
	})
	var reasons []string
	c := okhttp.New(okhttp.WithEventListener(okhttp.EventListenerFunc(func(_ *okhttp.Call, e okhttp.Event) {
		if e, ok := e.(okhttp.ConnectionDiscarded); ok {
			reasons = append(reasons, e.Reason.Error())
		}
	})))
	defer c.Close()
	resp, err := c.Head(context.Background(), server.URL("/"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	sent <- struct{}{}
	<-sent
	awaitDelivery(t, server)
	wantFine(t, c, server.URL("/"))
	if len(reasons) != 1 || !strings.Contains(reasons[0], "nobody asked for") {
		t.Errorf("discarded because %q", reasons)
	}
}

// TestP27: a Content-Length beside chunked. A bad one is in the list of bad input.
func TestP27(t *testing.T) {
	server := serveRaw(t, func(n int, c *rawConn) {
		if n > 0 {
			c.answerFine()
			return
		}
		c.head()
		c.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n")
	})
	c := okhttp.New()
	defer c.Close()
	resp, text, err := fetch(c, newRequest(t, "GET", server.URL("/"), nil))
	if err != nil || text != "fine" || resp.ContentLength != -1 || resp.Header.Get("Content-Length") != "" {
		t.Errorf("%q %v %+v", text, err, resp)
	}
	server.WaitOpen(0)
	wantFine(t, c, server.URL("/"))
}

// TestP30: trailers, both ways.
func TestP30(t *testing.T) {
	const trailed = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, X-Late\r\n\r\n4\r\nfine\r\n0\r\nX-Sum: abc\r\nX-Unannounced: 1\r\nContent-Length: 9\r\n\r\n"
	t.Run("read to the end", func(t *testing.T) {
		server := serveRaw(t, func(_ int, c *rawConn) {
			for head := c.head(); head != ""; head = c.head() {
				c.send(trailed)
			}
		})
		c := okhttp.New()
		defer c.Close()
		for range 2 {
			resp, err := c.Get(context.Background(), server.URL("/"))
			if err != nil {
				t.Fatal(err)
			}
			if v, announced := resp.Trailer["X-Sum"]; !announced || v != nil {
				t.Errorf("before the end: %v", resp.Trailer)
			}
			if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "fine" {
				t.Errorf("%q, %v", b, err)
			}
			resp.Body.Close()
			if resp.Trailer.Get("X-Sum") != "abc" || resp.Trailer.Get("X-Unannounced") != "1" || resp.Trailer.Get("X-Late") != "" {
				t.Errorf("at the end: %v", resp.Trailer)
			}
			if _, there := resp.Trailer["Content-Length"]; there || resp.Header.Get("X-Sum") != "" {
				t.Errorf("trailer %v, header %v", resp.Trailer, resp.Header)
			}
		}
		if n := server.Accepted(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
	t.Run("closed early, while somebody looks", func(t *testing.T) {
		server := serveRaw(t, func(_ int, c *rawConn) {
			for head := c.head(); head != ""; head = c.head() {
				c.send(trailed)
			}
		})
		c := okhttp.New()
		defer c.Close()
		for range 100 {
			resp, err := c.Get(context.Background(), server.URL("/"))
			if err != nil {
				t.Fatal(err)
			}
			trailer := resp.Trailer
			var looking sync.WaitGroup
			looking.Go(func() {
				for name := range trailer {
					_ = trailer.Get(name)
				}
				_ = resp.Trailer
			})
			resp.Body.Close()
			if _, err := resp.Body.Read(make([]byte, 1)); err == nil || err == io.EOF {
				t.Errorf("a read after Close: %v", err)
			}
			looking.Wait()
		}
	})
	t.Run("of a request", func(t *testing.T) {
		got := make(chan *http.Request, 1)
		server := serveRaw(t, func(_ int, c *rawConn) {
			req, err := http.ReadRequest(c.br)
			if err != nil {
				return
			}
			io.Copy(io.Discard, req.Body)
			got <- req
			c.send(fineAnswer)
		})
		c := okhttp.New()
		defer c.Close()
		req := newRequest(t, "POST", server.URL("/"), nil)
		req.Trailer = http.Header{"X-Sum": nil}
		req.Header.Set("TE", "trailers")
		req.Body = io.NopCloser(io.MultiReader(strings.NewReader("body"), readerFunc(func([]byte) (int, error) {
			req.Trailer.Set("X-Sum", "known only now")
			return 0, io.EOF
		})))
		if _, text, err := fetch(c, req); err != nil || text != "fine" {
			t.Fatal(text, err)
		}
		seen := <-got
		if seen.Trailer.Get("X-Sum") != "known only now" || seen.Header.Get("Te") != "trailers" {
			t.Errorf("trailer %v, header %v", seen.Trailer, seen.Header)
		}
	})
}
