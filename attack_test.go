package okhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/cookiejar"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/certs"
	"github.com/okhttp-go/okhttp/dns"
	"github.com/okhttp-go/okhttp/internal/testkit"
)

// once serves one answer on the first connection and good ones on later ones.
func once(answer ...string) func(n int, c *rawConn) {
	return func(n int, c *rawConn) {
		if n > 0 {
			c.answerFine()
			return
		}
		c.request()
		c.send(answer...)
		c.answerFine()
	}
}

// TestOddAnswersAreTaken: odd, but harmless. Whether the connection is used
// again is a matter of doubt.
func TestOddAnswersAreTaken(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer string
		method string
		body   string
		conns  int
	}{
		{name: "no reason", answer: "HTTP/1.1 200\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 1},
		{name: "a huge reason", answer: "HTTP/1.1 200 " + strings.Repeat("so ", 60_000) + "\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 1},
		{name: "status 999", answer: "HTTP/1.1 999 Denied\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 1},
		{name: "20,000 headers", answer: "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 20_000) + "Content-Length: 4\r\n\r\nfine", body: "fine", conns: 1},
		{name: "line ends without CR", answer: "HTTP/1.1 200 OK\nContent-Length: 4\n\nfine", body: "fine", conns: 1},
		{name: "equal Content-Lengths", answer: "HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 1},
		{name: "Keep-Alive nonsense", answer: "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=-5, max=99999999999999999999, =,;\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 1},
		{name: "Connection nonsense", answer: "HTTP/1.1 200 OK\r\nConnection: ,, keep-alive;x, closed\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 1},
		{name: "close, but left open", answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 2},
		{name: "close among others", answer: "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: foo , CLOSE\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 2},
		{name: "HTTP/1.0", answer: "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 2},
		{name: "HTTP/1.0 that keeps alive", answer: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 1},
		{name: "HTTP/1.0 with chunked", answer: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 2},
		{name: "an interim head with a length", answer: "HTTP/1.1 102 Processing\r\nContent-Length: 4\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 2},
		{name: "31 interim heads", answer: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 31) + fineAnswer, body: "fine", conns: 1},
		{name: "204 that says chunked", answer: "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", body: "", conns: 2},
		{name: "a body for HEAD", method: "HEAD", answer: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine", body: "", conns: 2},
		{name: "chunk extensions", answer: chunkedHead + "4;a=b;c=\"d\"\r\nfine\r\n0;x\r\nX: y\r\n\r\n", body: "fine", conns: 1},
		{name: "one byte a chunk", answer: chunkedHead + strings.Repeat("1\r\nx\r\n", 100_000) + "0\r\n\r\n", body: strings.Repeat("x", 100_000), conns: 1},
		{name: "sizes with zeros", answer: chunkedHead + "0000000000000004\r\nfine\r\n000\r\n\r\n", body: "fine", conns: 1},
		{name: "gzip in two members", answer: gzipAnswer(gzipped("fi") + gzipped("ne")), body: "fine", conns: 1},
		{name: "gzip in many empty members", answer: gzipAnswer(strings.Repeat(gzipped(""), 10_000) + gzipped("fine")), body: "fine", conns: 1},
		{name: "gzip of nothing", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", body: "", conns: 1},
		{name: "gzip of nothing, chunked", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", body: "", conns: 1},
		{name: "gzip that HEAD announces", method: "HEAD", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n", body: "", conns: 1},
		{name: "two codings", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: 4\r\n\r\nfine", body: "fine", conns: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := serveRaw(t, once(test.answer))
			c := okhttp.New()
			defer c.Close()
			_, body, err := fetch(c, newRequest(t, test.method, server.URL("/"), nil))
			if err != nil || body != test.body {
				t.Fatalf("%.100q, %v", body, err)
			}
			wantFine(t, c, server.URL("/"))
			if n := server.Accepted(); n != test.conns {
				t.Errorf("%d connections, want %d", n, test.conns)
			}
		})
	}
}

// TestUnaskedUpgrade: a 101 that nobody asked for ends like any response. Its
// reader does not get a socket that has no timeouts.
func TestUnaskedUpgrade(t *testing.T) {
	for _, header := range []string{"", "Connection: Upgrade\r\nUpgrade: websocket\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(t)
			s := m.serve("a.test", once("HTTP/1.1 101 Switching Protocols\r\n"+header+"\r\n", "frames"))
			c := m.client(okhttp.WithCallTimeout(time.Minute))
			start := time.Now()
			resp, err := c.Get(context.Background(), "http://a.test/")
			if err != nil || resp.StatusCode != 101 {
				t.Fatal(resp, err)
			}
			if _, writes := resp.Body.(io.Writer); writes {
				t.Error("the body is a socket")
			}
			if b, err := io.ReadAll(resp.Body); err != nil || len(b) != 0 {
				t.Errorf("%q, %v", b, err)
			}
			resp.Body.Close()
			if took := time.Since(start); took != 0 {
				t.Errorf("took %v", took)
			}
			s.WaitOpen(0)
			wantFine(t, c, "http://a.test/")
			if s.Accepted() != 2 {
				t.Errorf("%d connections", s.Accepted())
			}
		})
	}
}

// TestDrippingHead: the read timeout is for each wait, so a head that comes byte
// by byte passes it; what bounds it is its size, the call timeout and the context.
func TestDrippingHead(t *testing.T) {
	drip := func(n int, c *rawConn) {
		if n > 0 {
			c.answerFine()
			return
		}
		c.head()
		c.send("HTTP/1.1 200 OK\r\nX: ")
		for {
			time.Sleep(5 * time.Second)
			if _, err := io.WriteString(c, "y"); err != nil {
				return
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.serve("a.test", drip)
		c := m.client()
		start := time.Now()
		_, _, err := fetch(c, newRequest(t, "GET", "http://a.test/", nil), okhttp.WithCallTimeout(time.Minute))
		if took := time.Since(start); !errors.Is(err, okhttp.ErrCallTimeout) || took != time.Minute {
			t.Errorf("after %v: %v", took, err)
		}
		wantFine(t, c, "http://a.test/")
	})
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.serve("a.test", drip)
		c := m.client(okhttp.WithMaxResponseHead(1000))
		start := time.Now()
		_, _, err := fetch(c, newRequest(t, "GET", "http://a.test/", nil))
		if took := time.Since(start); !isProtocolError(err) || took > 5000*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		wantFine(t, c, "http://a.test/")
	})
}

// TestAnswerBeforeTheRequest: a server that speaks first has its answer taken,
// and the connection is not used again, since the next bytes may be anything.
func TestAnswerBeforeTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		m.serve("a.test", func(n int, c *rawConn) {
			if n == 0 {
				c.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst")
				c.request()
				c.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL")
				return
			}
			c.answerFine()
		})
		c := m.client()
		if _, body, err := fetch(c, newRequest(t, "GET", "http://a.test/", nil)); err != nil || body != "first" {
			t.Errorf("%q, %v", body, err)
		}
		synctest.Wait()
		wantFine(t, c, "http://a.test/")
	})
}

// TestGzipBomb: a response is decompressed as it is read, in little memory.
func TestGzipBomb(t *testing.T) {
	const size = 4 << 20 // of one member
	bomb := []byte(gzipAnswer(strings.Repeat(gzipped(strings.Repeat("\x00", size)), 1000)))
	server := serveRaw(t, func(_ int, c *rawConn) {
		for head := c.head(); head != ""; head = c.head() {
			if strings.HasPrefix(head, "GET /bomb ") {
				c.Write(bomb) // the client will have gone; a string would be copied, and count
			} else {
				c.send(fineAnswer)
			}
		}
	})
	c := okhttp.New()
	defer c.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	resp, err := c.Get(context.Background(), server.URL("/bomb"))
	if err != nil {
		t.Fatal(err)
	}
	const read = 32 * size
	if _, err := io.CopyN(io.Discard, resp.Body, read); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	resp.Body.Close()
	if took := time.Since(start); took > time.Second {
		t.Errorf("Close took %v", took)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated for %d", n, read)
	}
	wantFine(t, c, server.URL("/"))
}

// TestRedirects that lead nowhere, or somewhere else than it seems.
func TestRedirectLoops(t *testing.T) {
	var seen atomic.Int32
	server := serveRaw(t, func(_ int, c *rawConn) {
		for head := c.head(); head != ""; head = c.head() {
			if strings.HasPrefix(head, "GET /next ") {
				c.send(fineAnswer)
				continue
			}
			seen.Add(1)
			c.send("HTTP/1.1 302 Found\r\nLocation: /again?" + secretQuery + "\r\nContent-Length: 4\r\n\r\nloop")
		}
	})
	c := okhttp.New()
	defer c.Close()
	req := newRequest(t, "GET", "http://user:"+secretUser+"@"+server.Addr()+"/?key="+secretQuery, nil)
	_, _, err := fetch(c, req)
	checkBadInputError(t, &withAddr{err}, okhttp.PhaseFollowUp, server.Addr(), badInput{is: okhttp.ErrTooManyFollowUps})
	if n := seen.Load(); n != 21 || server.Accepted() != 1 {
		t.Errorf("%d requests on %d connections", n, server.Accepted())
	}
	wantFine(t, c, server.URL("/next"))
}

// withAddr lends an address to an error that ended no exchange.
type withAddr struct{ error }

func (w *withAddr) As(target any) bool {
	if p, ok := target.(**okhttp.Error); ok {
		var e *okhttp.Error
		if errors.As(w.error, &e) {
			lent := *e
			lent.Addr = "lent"
			*p = &lent
			return true
		}
	}
	return false
}

func (w *withAddr) Unwrap() error { return w.error }

// TestLocationTricks: where a Location may lead, and what the next request says.
func TestLocationTricks(t *testing.T) {
	for _, test := range []struct {
		name, location string
		target         string // of the next request; "" if it is not followed
		fails          bool   // the call
	}{
		{name: "relative", location: "there", target: "/dir/there"},
		{name: "dots", location: "../../../../etc/passwd", target: "/etc/passwd"},
		{name: "a space", location: "/a b", target: "/a%20b"},
		{name: "a space in the query", location: "/a?b c", target: "/a?b%20c"},
		{name: "bytes above ASCII", location: "/caf\xc3\xa9?\xff", target: "/caf%C3%A9?%FF"},
		{name: "escaped CRLF", location: "/a%0d%0aX:%20y?%0d%0a", target: "/a%0d%0aX:%20y?%0d%0a"},
		{name: "a fragment", location: "/a#b", target: "/a"},
		{name: "userinfo", location: "http://eve:pw@ADDR/a", target: "/a"},
		{name: "userinfo that looks like a host", location: "http://example.com@ADDR/a", target: "/a"},
		{name: "backslashes", location: `\\elsewhere.test\a`, target: "/dir/%5C%5Celsewhere.test%5Ca"},
		{name: "empty", location: ""},
		{name: "TAB", location: "/a\tb"},
		{name: "another scheme", location: "file:///etc/passwd"},
		{name: "javascript", location: "javascript:alert(1)"},
		{name: "data", location: "data:text/html,hello"},
		{name: "opaque", location: "http:there"},
		{name: "no host", location: "http:///there"},
		{name: "port 0", location: "http://127.0.0.1:0/"},
		{name: "port 65536", location: "http://127.0.0.1:65536/"},
		{name: "port that is no number", location: "http://127.0.0.1:http/"},
		{name: "escaped CRLF in the host", location: "http://127.0.0.1%0d%0aX: y/"},
		{name: "space in the host", location: "http://127.0.0.1 /"},
		{name: "bad escape", location: "/%zz"},
		{name: "huge", location: "/" + strings.Repeat("a", 200_000), target: "/" + strings.Repeat("a", 200_000)},
		{name: "slash escaped in the host", location: "http://127.0.0.1%2fa/"},
		{name: "quotes in the host", location: `http://a"b.test/`, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			heads := make(chan string, 2)
			var server *rawServer
			server = serveRaw(t, func(_ int, c *rawConn) {
				head, _ := c.request()
				heads <- head
				c.send("HTTP/1.1 302 Found\r\nLocation: " + strings.ReplaceAll(test.location, "ADDR", server.Addr()) + "\r\nContent-Length: 0\r\n\r\n")
				if head, _ = c.request(); head != "" {
					heads <- head
					c.send(fineAnswer)
				}
			})
			c := okhttp.New()
			defer c.Close()
			resp, _, err := fetch(c, newRequest(t, "GET", server.URL("/dir/"), nil))
			<-heads
			if test.fails {
				var e *okhttp.Error
				if !errors.As(err, &e) {
					t.Errorf("%v, %v", resp, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if test.target == "" {
				if resp.StatusCode != 302 {
					t.Errorf("followed to %v", resp.Request.URL)
				}
				return
			}
			want := "GET " + test.target + " HTTP/1.1\r\nHost: " + server.Addr() + "\r\n"
			if head := <-heads; !strings.HasPrefix(head, want) || strings.Contains(head, "eve") || strings.Contains(head, "Authorization") {
				t.Errorf("got %.200q", head)
			}
		})
	}
}

// TestCookieFlood: a server that sets thousands of cookies harms no later call.
func TestCookieFlood(t *testing.T) {
	var set strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&set, "Set-Cookie: c%d=%s\r\n", i, strings.Repeat("v", 30))
	}
	set.WriteString("Set-Cookie: bad=a\x01b\r\n")
	answer := "HTTP/1.1 200 OK\r\n" + set.String() + "Content-Length: 4\r\n\r\nfine"
	for _, withControl := range []bool{false, true} {
		if !withControl {
			answer = strings.Replace(answer, "\x01", "", 1)
		} else {
			answer = "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\"c;,\\\r\nSet-Cookie: =x\r\nSet-Cookie: ;;;\r\nSet-Cookie: a b=c\r\nContent-Length: 4\r\n\r\nfine"
		}
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		server := serveRaw(t, once(answer))
		c := okhttp.New(okhttp.WithCookieJar(jar))
		wantFine(t, c, server.URL("/"))
		wantFine(t, c, server.URL("/"))
		c.Close()
	}
}

// TestServerThatAlwaysHangsUp: a call is not sent for ever, whoever lends it
// connections.
func TestServerThatAlwaysHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		var evil atomic.Int32
		m.serve("a.test", func(_ int, c *rawConn) {
			for head := c.head(); head != ""; head = c.head() {
				if strings.HasPrefix(head, "GET /evil") {
					evil.Add(1)
					c.Close()
					return
				}
				time.Sleep(time.Millisecond)
				c.send(fineAnswer)
			}
		})
		c := m.client(okhttp.WithMaxConnectionsPerHost(2))
		stop := make(chan struct{})
		var others sync.WaitGroup
		for range 8 { // who use the connections meanwhile
			others.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					wantFine(t, c, "http://a.test/")
				}
			})
		}
		time.Sleep(10 * time.Millisecond)
		_, _, err := fetch(c, newRequest(t, "GET", "http://a.test/evil", nil))
		if err == nil {
			t.Error("no error")
		}
		if n := evil.Load(); n > 3 {
			t.Errorf("sent %d times", n)
		}
		close(stop)
		others.Wait()
	})
}

// TestURLErrorsHoldNoSecret: a URL that cannot be parsed is not repeated.
func TestURLErrorsHoldNoSecret(t *testing.T) {
	c := okhttp.New()
	defer c.Close()
	for _, url := range []string{
		"http://user:hunter2#@a.test/", "http://user:hun%zzter2@a.test/", "http://user:hunter2 @a.test/",
		"http://a.test:hunter2/", "http://[hunter2/", "http://a.test/%hunter2", "hunter2://%hunter2", "http://hun ter2/",
		"http://user:hunter2@/", "\x7fhunter2", ":hunter2", "http://a.test/?hunter2\x00",
	} {
		_, err := c.Get(context.Background(), url)
		var e *okhttp.Error
		if !errors.As(err, &e) || e.Phase != okhttp.PhaseRequest || !strings.HasPrefix(err.Error(), "okhttp: request: ") {
			t.Errorf("%q: %v", url, err)
			continue
		}
		for _, part := range []string{"hunter", "%zz", "%hu"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v", url, err)
			}
		}
	}
}

// TestServerThatDoesNotRead: the write timeout bounds an upload to it, and the
// connection is given up.
func TestServerThatDoesNotRead(t *testing.T) {
	for _, length := range []int64{-1, 1 << 30} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(t)
			s := m.serve("a.test", func(n int, c *rawConn) {
				if n == 0 {
					c.head()
					time.Sleep(time.Minute)
					return
				}
				c.answerFine()
			})
			c := m.client()
			body := &trackedBody{Reader: zeros{}}
			req := newRequest(t, "POST", "http://a.test/", body)
			req.ContentLength = length
			start := time.Now()
			_, _, err := fetch(c, req, okhttp.WithWriteTimeout(3*time.Second))
			took := time.Since(start)
			checkBadInputError(t, err, okhttp.PhaseSend, "a.test:80", badInput{timeout: true, is: okhttp.ErrWriteTimeout})
			if took != 3*time.Second || body.closes.Load() != 1 {
				t.Errorf("took %v, closed %d times", took, body.closes.Load())
			}
			wantFine(t, c, "http://a.test/")
			time.Sleep(2 * time.Minute)
			if s.Open() != 1 {
				t.Errorf("%d are open", s.Open())
			}
		})
	}
}

// TestServerThatAnswersAndDoesNotRead: a response is had at once although the
// request cannot be sent to its end, and closing it ends both.
func TestServerThatAnswersAndDoesNotRead(t *testing.T) {
	for _, status := range []string{"200 OK", "413 Content Too Large"} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(t)
			m.serve("a.test", func(n int, c *rawConn) {
				if n == 0 {
					c.head()
					c.send("HTTP/1.1 " + status + "\r\nContent-Length: 4\r\n\r\nfine")
					time.Sleep(time.Minute)
					return
				}
				c.answerFine()
			})
			c := m.client()
			body := &trackedBody{Reader: zeros{}}
			req := newRequest(t, "POST", "http://a.test/", body)
			start := time.Now()
			resp, text, err := fetch(c, req)
			if err != nil || resp.Status != status || text != "fine" {
				t.Errorf("%v %q %v", resp, text, err)
			}
			if took := time.Since(start); took > time.Second || body.closes.Load() != 1 {
				t.Errorf("took %v, closed %d times", took, body.closes.Load())
			}
			wantFine(t, c, "http://a.test/")
			time.Sleep(2 * time.Minute)
		})
	}
}

// TestNonsenseFromDNS is an error like any other.
func TestNonsenseFromDNS(t *testing.T) {
	for name, addrs := range map[string][]netip.Addr{
		"nothing":           nil,
		"no address at all": {{}},
		"unspecified":       {netip.MustParseAddr("0.0.0.0")},
		"multicast":         {netip.MustParseAddr("ff02::1")},
		"a thousand":        make([]netip.Addr, 1000),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(t)
				c := m.client(okhttp.WithDNS(dns.ResolverFunc(func(context.Context, string) ([]netip.Addr, error) { return addrs, nil })))
				_, err := c.Get(context.Background(), "http://a.test/")
				var e *okhttp.Error
				if !errors.As(err, &e) || !okhttp.SafeToRetry(err) || len(err.Error()) > 1000 || strings.Count(err.Error(), "okhttp") != 1 {
					t.Errorf("%v", err)
				}
				t.Log(err)
			})
		})
	}
}

// TestUpgradedPeerThatDoesNotRead: closing takes no time over TLS either, whose
// own Close would wait five seconds to say goodbye.
func TestUpgradedPeerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := certs.New(certs.WithNames("a.test"))
		network := testkit.NewNet()
		deaf := make(chan struct{})
		serveRawOn(t, network.Host("192.0.2.1").Listen(443), held.ServerConfig(), func(_ int, c *rawConn) {
			c.request()
			c.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello")
			<-deaf
		})
		c := okhttp.New(okhttp.WithAddressDialer(network.DialContext), okhttp.WithTLSConfig(certs.ClientConfig(held)),
			okhttp.WithDNS(dns.Static(map[string][]netip.Addr{"a.test": {netip.MustParseAddr("192.0.2.1")}})))
		defer c.Close()
		req := newRequest(t, "GET", "https://a.test/", nil)
		req.Header.Set("Connection", "Upgrade")
		req.Header.Set("Upgrade", "x")
		resp, err := c.Do(req)
		if err != nil || resp.StatusCode != 101 {
			t.Fatal(resp, err)
		}
		socket := resp.Body.(io.ReadWriteCloser)
		if b := make([]byte, 5); true {
			if _, err := io.ReadFull(socket, b); err != nil || string(b) != "hello" {
				t.Errorf("%q %v", b, err)
			}
		}
		// Fill what lies between, 64 KiB, without a Write that blocks: each is a
		// record of 23 bytes, and the goodbye would be one of 24.
		for range 64 << 10 / 23 {
			if _, err := socket.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		socket.Close()
		if took := time.Since(start); took > 10*time.Millisecond {
			t.Errorf("Close took %v", took)
		}
		close(deaf)
		synctest.Wait()
		if n := network.OpenSockets(); n != 0 {
			t.Errorf("%d sockets", n)
		}
	})
}
