package okhttp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// What a program may rely on when this client takes the place of an
// http.Transport.

func readAll(t *testing.T, resp *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func dropIn(t *testing.T, h http.HandlerFunc, opts ...Option) (*http.Client, *httptest.Server) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	c := New(opts...)
	t.Cleanup(func() { c.Close(); s.Close() })
	return &http.Client{Transport: c}, s
}

func TestRoundTripErrorsAreStd(t *testing.T) {
	c, s := dropIn(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/short":
			w.Header().Set("Content-Length", "100")
		case "/short-chunked":
			w.(http.Flusher).Flush()
			conn, _, _ := http.NewResponseController(w).Hijack()
			conn.Write([]byte("5\r\nhel"))
			conn.Close()
			return
		case "/short-gzip":
			w.Header().Set("Content-Encoding", "gzip")
			var b bytes.Buffer
			zw := gzip.NewWriter(&b)
			io.WriteString(zw, strings.Repeat("zipped ", 100))
			zw.Close()
			w.Write(b.Bytes()[:b.Len()-10])
			return
		case "/hang":
			<-r.Context().Done()
			return
		}
		io.WriteString(w, "hello")
		w.(http.Flusher).Flush()
		if r.URL.Path == "/stream" {
			<-r.Context().Done()
		}
	})
	for _, path := range []string{"/short", "/short-chunked", "/short-gzip"} {
		for _, copied := range []bool{false, true} {
			resp, err := c.Get(s.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			if copied {
				_, err = io.Copy(io.Discard, resp.Body)
			} else {
				_, err = io.ReadAll(resp.Body)
			}
			if err != io.ErrUnexpectedEOF {
				t.Errorf("%s: got %v", path, err)
			}
			resp.Body.Close()
		}
	}

	// Canceled before, while waiting for the head, and within the body.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	req, _ := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
	if _, err := c.Transport.RoundTrip(req); err != context.Canceled {
		t.Errorf("before: got %v", err)
	}
	ctx, cancel = context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := c.Transport.RoundTrip(req.WithContext(ctx)); err != context.DeadlineExceeded {
		t.Errorf("deadline before: got %v", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	req, _ = http.NewRequestWithContext(ctx, "GET", s.URL+"/hang", nil)
	if _, err := c.Transport.RoundTrip(req); err != context.Canceled {
		t.Errorf("head: got %v", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	req, _ = http.NewRequestWithContext(ctx, "GET", s.URL+"/stream", nil)
	resp, err := c.Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := io.ReadAll(resp.Body); err != context.Canceled {
		t.Errorf("body: got %v", err)
	}
	resp.Body.Close()

	// A deadline on the way says where it was.
	ctx, cancel = context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	req, _ = http.NewRequestWithContext(ctx, "GET", s.URL+"/hang", nil)
	_, err = c.Transport.RoundTrip(req)
	var e *Error
	if !errors.As(err, &e) || e.Phase != PhaseReceive || !errors.Is(err, context.DeadlineExceeded) || !e.Timeout() {
		t.Errorf("deadline: got %v", err)
	}
	// Do keeps all errors rich.
	if _, err := c.Transport.(*Client).Do(req.WithContext(ctx)); !errors.As(err, &e) {
		t.Errorf("Do: got %v", err)
	}
}

func TestHTTPClientTimeout(t *testing.T) {
	c, s := dropIn(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			io.WriteString(w, "hello")
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	})
	c.Timeout = 20 * time.Millisecond
	for range 20 {
		_, err := c.Get(s.URL)
		if err == nil || !strings.Contains(err.Error(), "context deadline exceeded (Client.Timeout exceeded while awaiting headers)") {
			t.Fatalf("head: got %v", err)
		}
		resp, err := c.Get(s.URL + "/body")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = io.ReadAll(resp.Body); err == nil || !strings.Contains(err.Error(), "(Client.Timeout or context cancellation while reading body)") {
			t.Fatalf("body: got %v", err)
		}
		resp.Body.Close()
	}
}

// closeCounter is a body of a type that cannot be compared, as programs make them.
type closeCounter struct {
	io.Reader
	io.Closer
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }

func TestBodyThatCannotBeCompared(t *testing.T) {
	c, s := dropIn(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	closes := 0
	body := closeCounter{strings.NewReader("hello"), closerFunc(func() error { closes++; return nil })}
	resp, err := c.Post(s.URL, "text/plain", body)
	if got := readAll(t, resp, err); got != "hello" || closes != 1 {
		t.Errorf("got %q, closed %d times", got, closes)
	}
}

// addrlessConn is a connection of a program's own: a struct, not a pointer, that
// cannot be compared, and knows neither addresses nor deadlines.
type addrlessConn struct {
	net.Conn
	_ func()
}

func (addrlessConn) LocalAddr() net.Addr              { return nil }
func (addrlessConn) RemoteAddr() net.Addr             { return nil }
func (addrlessConn) SetDeadline(time.Time) error      { return errors.New("not supported") }
func (addrlessConn) SetReadDeadline(time.Time) error  { return errors.New("not supported") }
func (addrlessConn) SetWriteDeadline(time.Time) error { return errors.New("not supported") }

func TestConnectionWithoutDeadlinesIsReused(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		if secure {
			s.StartTLS()
		} else {
			s.Start()
		}
		dials := 0
		opts := []Option{WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			return addrlessConn{Conn: conn}, err
		})}
		if secure {
			opts = append(opts, WithTLSConfig(s.Client().Transport.(*http.Transport).TLSClientConfig))
		}
		c := New(opts...)
		for range 5 {
			resp, err := c.Get(context.Background(), s.URL)
			if got := readAll(t, resp, err); got != "hello" {
				t.Errorf("got %q", got)
			}
		}
		if dials != 1 {
			t.Errorf("TLS %v: %d dials", secure, dials)
		}
		c.Close()
		s.Close()
	}
}

func TestFramingHeadersOfAnotherMessage(t *testing.T) {
	c, s := dropIn(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %d %v %q", r.Host, r.ContentLength, r.TransferEncoding, b)
	})
	host := strings.TrimPrefix(s.URL, "http://")
	header := http.Header{"Content-Length": {"77"}, "Transfer-Encoding": {"chunked"}, "Host": {"other"}, "Trailer": {"X"}}
	req, _ := http.NewRequest("POST", s.URL, strings.NewReader("hello"))
	req.Header = header.Clone()
	resp, err := c.Do(req)
	if got, want := readAll(t, resp, err), host+` 5 [] "hello"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(req.Header) != len(header) {
		t.Errorf("the request's header was changed: %v", req.Header)
	}
	req, _ = http.NewRequest("POST", s.URL, io.NopCloser(strings.NewReader("hello")))
	req.Header = header.Clone()
	resp, err = c.Do(req)
	if got, want := readAll(t, resp, err), host+` -1 [chunked] "hello"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// In another case they are no accident.
	req, _ = http.NewRequest("POST", s.URL, strings.NewReader("hello"))
	req.Header["transfer-encoding"] = []string{"chunked"}
	if _, err := c.Do(req); err == nil || !SafeToRetry(err) {
		t.Errorf("got %v", err)
	}
}

func TestHeadAsksForNoCoding(t *testing.T) {
	c, s := dropIn(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Got", r.Header.Get("Accept-Encoding"))
	})
	for method, want := range map[string]string{"HEAD": "", "GET": "gzip"} {
		req, _ := http.NewRequest(method, s.URL, nil)
		resp, err := c.Do(req)
		readAll(t, resp, err)
		if got := resp.Header.Get("Got"); got != want {
			t.Errorf("%s: got %q", method, got)
		}
	}
}

// A GET with a body that has nothing in it is sent without one.
func TestBlankBody(t *testing.T) {
	c, s := dropIn(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%d %v %q", r.ContentLength, r.TransferEncoding, b)
	})
	for _, test := range []struct{ method, body, want string }{
		{"GET", "", `0 [] ""`},
		{"GET", "hello", `-1 [chunked] "hello"`},
		{"DELETE", "", `0 [] ""`},
		{"POST", "", `-1 [chunked] ""`},
	} {
		closes := 0
		req, _ := http.NewRequest(test.method, s.URL, closeCounter{strings.NewReader(test.body), closerFunc(func() error { closes++; return nil })})
		resp, err := c.Do(req)
		if got := readAll(t, resp, err); got != test.want || closes != 1 {
			t.Errorf("%s %q: got %s, closed %d times", test.method, test.body, got, closes)
		}
	}
	// One that takes its time is sent as it comes.
	pr, pw := io.Pipe()
	req, _ := http.NewRequest("GET", s.URL, pr)
	time.AfterFunc(peekTime+50*time.Millisecond, func() { io.WriteString(pw, "late"); pw.Close() })
	resp, err := c.Do(req)
	if got := readAll(t, resp, err); got != `-1 [chunked] "late"` {
		t.Errorf("got %s", got)
	}
}

func TestHooksSeeAllHeaders(t *testing.T) {
	c, s := dropIn(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	var got []string
	trace := &httptrace.ClientTrace{WroteHeaderField: func(name string, values []string) {
		got = append(got, name+": "+strings.Join(values, ","))
	}}
	host := strings.TrimPrefix(s.URL, "http://")
	for _, test := range []struct {
		body io.Reader
		want string
	}{
		{strings.NewReader("hello"), "Content-Length: 5"},
		{io.MultiReader(strings.NewReader("hello")), "Transfer-Encoding: chunked"},
	} {
		got = nil
		req, _ := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), "POST", s.URL, test.body)
		req.Close = true
		req.Header.Set("X-A", "1")
		resp, err := c.Do(req)
		readAll(t, resp, err)
		want := []string{"Host: " + host, "User-Agent: okhttp-go/" + Version, "Connection: close", test.want, "Accept-Encoding: gzip", "X-A: 1"}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// A write that fails while the peer is silent does not make the call wait.
func TestFailedWriteToSilentPeer(t *testing.T) {
	for name, body := range map[string]io.Reader{"inline": strings.NewReader("hello"), "upload": io.MultiReader(strings.NewReader("hello"))} {
		t.Run(name, func(t *testing.T) {
			broken := errors.New("broken")
			client, server := net.Pipe()
			defer server.Close()
			c := New(WithReadTimeout(0), WithDialer(func(context.Context, string, string) (net.Conn, error) {
				return failingWriter{client, broken}, nil
			}))
			defer c.Close()
			began := time.Now()
			_, err := c.Post(context.Background(), "http://a.test/", "", body)
			if !errors.Is(err, broken) || time.Since(began) > 3*time.Second {
				t.Errorf("got %v after %v", err, time.Since(began))
			}
		})
	}
}

type failingWriter struct {
	net.Conn
	err error
}

func (f failingWriter) Write(p []byte) (int, error) { return len(p) / 2, f.err }

func TestReverseProxy(t *testing.T) {
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/upgrade":
			conn, brw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			line, _ := brw.ReadString('\n')
			io.WriteString(conn, strings.ToUpper(line))
		case "/stream":
			for i := range 3 {
				fmt.Fprintf(w, "part %d\n", i)
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		default:
			w.Header().Set("Trailer", "X-After")
			io.Copy(w, r.Body)
			w.Header().Set("X-After", "done")
		}
	}))
	defer back.Close()
	u, _ := url.Parse(back.URL)
	c := New()
	defer c.Close()
	var logged strings.Builder
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: c,
		FlushInterval: -1, ErrorLog: log.New(&logged, "", 0),
	}
	front := httptest.NewServer(proxy)
	defer front.Close()

	resp, err := http.Post(front.URL, "text/plain", strings.NewReader("hello"))
	if got := readAll(t, resp, err); got != "hello" || resp.Trailer.Get("X-After") != "done" {
		t.Errorf("got %q, trailer %v", got, resp.Trailer)
	}
	resp, err = http.Get(front.URL + "/stream")
	if got := readAll(t, resp, err); got != "part 0\npart 1\npart 2\n" {
		t.Errorf("got %q", got)
	}
	req, _ := http.NewRequest("GET", front.URL+"/upgrade", nil)
	req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"echo"}}
	resp, err = http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	rw := resp.Body.(io.ReadWriteCloser)
	io.WriteString(rw, "switched\n")
	if got, err := io.ReadAll(rw); string(got) != "SWITCHED\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	rw.Close()
	http.DefaultClient.CloseIdleConnections()
	front.Close()
	if logged.Len() > 0 {
		t.Errorf("the proxy complains: %s", logged.String())
	}
}

func TestCloseIsAField(t *testing.T) {
	var wire http.Header
	c, s := dropIn(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Connection", "close") },
		WithEventListener(EventListenerFunc(func(_ *Call, e Event) {
			if e, ok := e.(ResponseHeadersEnd); ok {
				wire = e.Response.Header
			}
		})))
	resp, err := c.Get(s.URL)
	readAll(t, resp, err)
	if !resp.Close || resp.Header.Get("Connection") != "" || wire.Get("Connection") != "close" {
		t.Errorf("got %v, %v, %v", resp.Close, resp.Header, wire)
	}
	resp, err = c.Transport.(*Client).Get(context.Background(), s.URL)
	readAll(t, resp, err)
	if resp.Header.Get("Connection") != "close" {
		t.Errorf("Do: got %v", resp.Header)
	}
}

func TestLengthWithoutBody(t *testing.T) {
	c, s := dropIn(t, func(http.ResponseWriter, *http.Request) {})
	req, _ := http.NewRequest("POST", s.URL, nil)
	req.ContentLength = 10
	var e *RequestError
	if _, err := c.Do(req); !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}

// A call that waits for its dial takes a connection that becomes free meanwhile,
// even if nothing could cancel it.
func TestWaitingCallTakesFreedConnection(t *testing.T) {
	release, dialing, gate := make(chan struct{}), make(chan struct{}, 2), make(chan struct{})
	dials := 0
	c, s := dropIn(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/held" {
			<-release
		}
		io.WriteString(w, r.RemoteAddr)
	}, WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dials++; dials == 2 {
			dialing <- struct{}{}
			<-gate
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}))
	defer close(gate)
	answers := make(chan string, 2)
	get := func(path string) {
		resp, err := c.Get(s.URL + path)
		if err != nil {
			answers <- err.Error()
			return
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		answers <- string(b)
	}
	go get("/held")
	for c.Transport.(*Client).Pool().Stats().Open == 0 {
		time.Sleep(time.Millisecond)
	}
	go get("/waiting")
	<-dialing
	close(release)
	for range 2 {
		select {
		case <-answers:
		case <-time.After(5 * time.Second):
			t.Fatal("a call waits for its dial")
		}
	}
}
