package mockwebserver_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

// TestResponseOnTheWire compares bytes. Each connection is closed by the client
// after its request.
func TestResponseOnTheWire(t *testing.T) {
	get, head, old := "GET / HTTP/1.1\r\n\r\n", "HEAD / HTTP/1.1\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"
	var zero mockwebserver.Response
	for _, tc := range []struct {
		name, request string
		response      mockwebserver.Response
		want          string
	}{
		{"zero", get, zero, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		{"text", get, mockwebserver.Text("hi"), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"},
		{"head", head, mockwebserver.Text("hi"), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"},
		{"head chunked", head, zero.WithChunkedBody("hi").WithTrailer("A", "b"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
		{"old", old, mockwebserver.Text("hi"), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"},
		{"no content", get, mockwebserver.Status(204), "HTTP/1.1 204 No Content\r\n\r\n"},
		{"not modified", get, mockwebserver.Status(304).WithHeader("ETag", "1"), "HTTP/1.1 304 Not Modified\r\nETag: 1\r\n\r\n"},
		{"no content with content", get, mockwebserver.Status(204).WithBody("x"), "HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\nx"},
		{"unknown status", get, mockwebserver.Status(299), "HTTP/1.1 299 Mock Response\r\nContent-Length: 0\r\n\r\n"},
		{"verbatim", get, mockwebserver.Text("hi").WithStatusLine("HTTP/9 what \xff").
			WithAddedHeader("b", " 1").WithAddedHeader("A", "\x00").WithAddedHeader("b", "2").WithHeaderLine("no colon").WithHeaderLine("x:y"),
			"HTTP/9 what \xff\r\nb:  1\r\nA: \x00\r\nb: 2\r\nno colon\r\nx:y\r\nContent-Length: 2\r\n\r\nhi"},
		{"lie", get, mockwebserver.Text("hi").WithHeader("content-length", "3"), "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nhi"},
		{"no framing", get, mockwebserver.Text("hi").WithoutHeader("content-length"), "HTTP/1.1 200 OK\r\n\r\nhi"},
		{"all headers", get, mockwebserver.Text("hi").WithHeaders(mockwebserver.Field{Name: "A", Value: "b"}), "HTTP/1.1 200 OK\r\nA: b\r\n\r\nhi"},
		{"set and remove", get, zero.WithAddedHeader("A", "1").WithAddedHeader("B", "1").WithAddedHeader("a", "2").WithHeader("A", "3").WithoutHeader("b"),
			"HTTP/1.1 200 OK\r\nA: 3\r\nContent-Length: 0\r\n\r\n"},
		{"chunked", get, zero.WithChunkedBody("0123456789abcdef"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n"},
		{"chunk sizes", get, zero.WithChunkedBody("0123456", 1, 2).WithTrailer("A", "b").WithTrailer("a", "c"),
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n0\r\n2\r\n12\r\n2\r\n34\r\n2\r\n56\r\n0\r\nA: b\r\na: c\r\n\r\n"},
		{"empty chunked", get, zero.WithChunkedBody(""), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"until close", get, zero.WithBodyUntilClose("hi"), "HTTP/1.1 200 OK\r\n\r\nhi"},
		{"streamed", get, zero.WithBodyFunc(-1, write("ab", "", "c")), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"},
		{"streamed with length", get, zero.WithBodyFunc(3, write("ab", "c")), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"},
		{"stream fails", get, zero.WithBodyFunc(-1, func(_ context.Context, w io.Writer) error {
			_, _ = io.WriteString(w, "ab")
			return errors.New("enough")
		}), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"},
		{"raw", get, mockwebserver.Raw("anything\n"), "anything\n"},
		{"raw to head", head, mockwebserver.Raw("HTTP/1.1 200 OK\r\n\r\nbody"), "HTTP/1.1 200 OK\r\n\r\nbody"},
		{"informational", get, mockwebserver.Text("hi").WithContinue().WithInformational(mockwebserver.Status(103).WithHeader("Link", "</a>")),
			"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := mockwebserver.New(t)
			server.Enqueue(tc.response)
			if got := exchangeRaw(t, server, tc.request); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func write(parts ...string) mockwebserver.BodyFunc {
	return func(_ context.Context, w io.Writer) error {
		for _, part := range parts {
			if _, err := io.WriteString(w, part); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestResponseIsImmutable(t *testing.T) {
	base := mockwebserver.Text("a").WithHeader("A", "1").WithAddedHeader("B", "1")
	one, two := base.WithAddedHeader("C", "one"), base.WithAddedHeader("C", "two")
	_ = base.WithHeader("A", "2").WithoutHeader("B").WithBody("changed").WithStatus(500)
	if got := fmt.Sprint(base.StatusLine(), base.Header()); got != "HTTP/1.1 200 OK[{A 1} {B 1} {Content-Length 1}]" {
		t.Errorf("got %s", got)
	}
	if one.Header().Get("c") != "one" || two.Header().Get("c") != "two" {
		t.Errorf("got %v, %v", one.Header(), two.Header())
	}
}

// TestConnectionReuse checks after which responses the server closes.
func TestConnectionReuse(t *testing.T) {
	one := "GET /1 HTTP/1.1\r\n\r\n"
	for _, tc := range []struct {
		name, request string
		response      mockwebserver.Response
		stays         bool
	}{
		{"default", one, mockwebserver.Text("a"), true},
		{"request close", "GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n", mockwebserver.Text("a"), false},
		{"request 1.0", "GET / HTTP/1.0\r\n\r\n", mockwebserver.Text("a"), false},
		{"request 1.0 keep-alive", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", mockwebserver.Text("a"), true},
		{"response close", one, mockwebserver.Text("a").WithHeader("connection", "close"), false},
		{"response close, kept open", one, mockwebserver.Text("a").WithHeader("connection", "close").WithKeepOpen(), true},
		{"response 1.0", one, mockwebserver.Text("a").WithStatusLine("HTTP/1.0 200 OK"), false},
		{"response 1.0 keep-alive", one, mockwebserver.Text("a").WithStatusLine("HTTP/1.0 200 OK").WithHeader("Connection", "keep-alive"), true},
		{"until close", one, mockwebserver.Response{}.WithBodyUntilClose("a"), false},
		{"until close, kept open", one, mockwebserver.Response{}.WithBodyUntilClose("a").WithKeepOpen(), true},
		{"raw", one, mockwebserver.Raw("a"), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := mockwebserver.New(t)
			server.Enqueue(tc.response, mockwebserver.Raw("SECOND"))
			got := exchangeRaw(t, server, tc.request+"GET /2 HTTP/1.1\r\n\r\n")
			if strings.HasSuffix(got, "SECOND") != tc.stays {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestGzip(t *testing.T) {
	server := mockwebserver.New(t)
	text := strings.Repeat("hello ", 1000)
	server.Enqueue(mockwebserver.Text(text).WithGzip(), mockwebserver.Response{}.WithChunkedBody(text, 7).WithGzip())
	client := newClient(t, server)
	client.Transport.(*http.Transport).DisableCompression = true
	for range 2 {
		resp, body := mustFetch(t, client, server.URL("/"))
		zr, err := gzip.NewReader(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := io.ReadAll(zr); string(plain) != text || err != nil || resp.Header.Get("Content-Encoding") != "gzip" || len(body) > 500 {
			t.Errorf("got %d bytes, %v", len(plain), err)
		}
	}
}

// inBubble runs a test with a server and a client in virtual time.
func inBubble(t *testing.T, test func(t *testing.T, server *mockwebserver.Server, client *http.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		pipe := mockwebserver.Pipe()
		server := mockwebserver.New(t, mockwebserver.WithListener(pipe))
		transport := &http.Transport{DialContext: pipe.DialContext, ExpectContinueTimeout: time.Hour}
		defer transport.CloseIdleConnections()
		test(t, server, &http.Client{Transport: transport})
	})
}

func TestDelays(t *testing.T) {
	inBubble(t, func(t *testing.T, server *mockwebserver.Server, client *http.Client) {
		server.Enqueue(mockwebserver.Response{}.WithChunkedBody("hello").WithTrailer("A", "b").
			WithInformational(mockwebserver.Status(103).WithHeadDelay(time.Second)).
			WithHeadDelay(2 * time.Second).WithBodyDelay(4 * time.Second).WithTrailerDelay(8 * time.Second))
		var early time.Duration
		start := time.Now()
		trace := &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error {
			early = time.Since(start)
			return nil
		}}
		req, _ := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), "GET", server.URL("/"), nil)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if early != time.Second || time.Since(start) != 3*time.Second {
			t.Errorf("103 after %v, head after %v", early, time.Since(start))
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 5)); err != nil || time.Since(start) != 7*time.Second {
			t.Errorf("body after %v, %v", time.Since(start), err)
		}
		if _, err := io.ReadAll(resp.Body); err != nil || time.Since(start) != 15*time.Second || resp.Trailer.Get("A") != "b" {
			t.Errorf("trailer after %v, %v", time.Since(start), err)
		}
	})
}

func TestThrottle(t *testing.T) {
	inBubble(t, func(t *testing.T, server *mockwebserver.Server, client *http.Client) {
		for _, r := range []mockwebserver.Response{
			mockwebserver.Text("0123456789"),
			mockwebserver.Response{}.WithChunkedBody("0123456789", 3),
			mockwebserver.Response{}.WithBodyFunc(-1, write("01234", "56789")),
			mockwebserver.Response{}.WithHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "0123456789")
			})),
		} {
			server.Enqueue(r.WithThrottle(4, time.Second))
			start := time.Now()
			if _, body := mustFetch(t, client, server.URL("/")); body != "0123456789" || time.Since(start) != 2*time.Second {
				t.Errorf("got %q after %v", body, time.Since(start))
			}
		}
	})
}

func TestRequestThrottle(t *testing.T) {
	inBubble(t, func(t *testing.T, server *mockwebserver.Server, client *http.Client) {
		server.Enqueue(mockwebserver.Text("done").WithRequestThrottle(1000, time.Second))
		start := time.Now()
		if got := post(client, server.URL("/"), strings.Repeat("x", 5000)); got.body != "done" || time.Since(start) != 4*time.Second {
			t.Errorf("got %+v after %v", got, time.Since(start))
		}
		if r := server.RequireRequest(t); r.BodySize != 5000 || len(r.ChunkSizes) == 0 {
			t.Errorf("got %d bytes, chunks %v", r.BodySize, r.ChunkSizes)
		}
	})
}

func expecting(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Expect", "100-continue")
	return req
}

func TestExpectContinue(t *testing.T) {
	inBubble(t, func(t *testing.T, server *mockwebserver.Server, client *http.Client) {
		for _, tc := range []struct {
			name     string
			response mockwebserver.Response
			waits    time.Duration
		}{
			{"nothing scripted", mockwebserver.Text("x"), time.Hour}, // the client's own timeout
			{"continue", mockwebserver.Text("x").WithContinue(), 0},
			{"final", mockwebserver.Text("x").WithReading(mockwebserver.ReadNever), 0},
		} {
			server.Enqueue(tc.response)
			start := time.Now()
			resp, err := client.Do(expecting(t, server.URL("/")))
			if err != nil || time.Since(start) != tc.waits {
				t.Errorf("%s: %v after %v", tc.name, err, time.Since(start))
				continue
			}
			resp.Body.Close()
		}
	})
}

func TestAutoContinue(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithAutoContinue())
	server.Enqueue(mockwebserver.Text("x"))
	answer := exchangeRaw(t, server, "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab")
	if answer != "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx" {
		t.Errorf("got %q", answer)
	}
}

// TestReading holds the request body back until the response has come.
func TestReading(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Text("early").WithReading(mockwebserver.ReadAfterResponse), mockwebserver.Text("second"),
		mockwebserver.Text("never").WithReading(mockwebserver.ReadNever))
	conn, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	br := bufio.NewReader(conn)
	read := func() string {
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		return string(body)
	}
	send := func(s string) {
		if _, err := io.WriteString(conn, s); err != nil {
			t.Fatal(err)
		}
	}
	send("POST /1 HTTP/1.1\r\nContent-Length: 4\r\n\r\n")
	if got := read(); got != "early" {
		t.Errorf("got %q", got)
	}
	send("bodyGET /2 HTTP/1.1\r\n\r\n")
	if got := read(); got != "second" {
		t.Errorf("got %q", got)
	}
	if r := server.RequireRequest(t); r.Text() != "body" || r.Failure != nil {
		t.Errorf("got %+v", r)
	}
	server.RequireRequest(t)

	send("POST /3 HTTP/1.1\r\nContent-Length: 4\r\n\r\n")
	if got := read(); got != "never" {
		t.Errorf("got %q", got)
	}
	if rest, err := io.ReadAll(br); len(rest) > 0 || err != nil {
		t.Errorf("got %q, %v", rest, err)
	}
	if r := server.RequireRequest(t); r.Failure != mockwebserver.ErrScripted || r.BodySize != 0 {
		t.Errorf("got %+v", r)
	}
}

func TestUpgrade(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithTLS())
	server.Enqueue(mockwebserver.Response{}.WithUpgrade("echo", func(_ context.Context, conn net.Conn) error {
		_, err := io.Copy(conn, io.LimitReader(conn, 4))
		return err
	}))
	req, _ := http.NewRequestWithContext(t.Context(), "GET", server.URL("/"), nil)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := newClient(t, server).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 101 || resp.Header.Get("Upgrade") != "echo" {
		t.Errorf("got %v", resp)
	}
	if _, err := io.WriteString(resp.Body.(io.Writer), "ping"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(resp.Body); string(got) != "ping" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestBodyFuncContextEndsWithServer(t *testing.T) {
	server := mockwebserver.New(t)
	reached := make(chan struct{})
	server.Enqueue(mockwebserver.Response{}.WithBodyFunc(-1, func(ctx context.Context, w io.Writer) error {
		_, _ = io.WriteString(w, "hello")
		close(reached)
		<-ctx.Done()
		return ctx.Err()
	}))
	go func() {
		<-reached
		server.Close()
	}()
	if _, body, err := fetch(newClient(t, server), server.URL("/")); body != "hello" || err == nil {
		t.Errorf("got %q, %v", body, err)
	}
}

func TestHeader(t *testing.T) {
	h := mockwebserver.Header{{Name: "b", Value: "1"}, {Name: "A", Value: "2"}, {Name: "B", Value: "3"}}
	if h.Get("B") != "1" || !slices.Equal(h.Values("B"), []string{"1", "3"}) || h.Has("C") || h.Get("C") != "" || h.Values("C") != nil {
		t.Errorf("got %v", h)
	}
	if m := h.HTTP(); !slices.Equal(m["B"], []string{"1", "3"}) || m.Get("a") != "2" {
		t.Errorf("got %v", m)
	}
}
