package http1

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// upload sends a body and returns what went out after the head.
func upload(t *testing.T, body io.Reader, length int64, inline bool, trailer http.Header) (sent string, s *scriptConn, n int64, err error) {
	t.Helper()
	c, s := script()
	req := request(t, "POST", "http://a", nil)
	req.Trailer = trailer
	c.Begin(httpsem.ExchangeOptions{})
	if err := c.WriteHead(req, length); err != nil {
		t.Fatal(err)
	}
	n, err = c.WriteBody(body, length, inline, trailer)
	if err != nil != !c.sendDone {
		t.Errorf("error %v, but done is %v", err, c.sendDone)
	}
	c.End()
	_, sent, _ = strings.Cut(s.wrote.String(), "\r\n\r\n")
	return sent, s, n, err
}

// bodies are the ways in which a body may give its bytes.
var bodies = map[string]func(s string) io.Reader{
	"reader":        func(s string) io.Reader { return onlyReader{strings.NewReader(s)} },
	"bytes.Reader":  func(s string) io.Reader { return bytes.NewReader([]byte(s)) },
	"string.Reader": func(s string) io.Reader { return strings.NewReader(s) },
	"nop closer":    func(s string) io.Reader { return io.NopCloser(strings.NewReader(s)) },
	"one byte":      func(s string) io.Reader { return iotest.OneByteReader(strings.NewReader(s)) },
	"data and EOF":  func(s string) io.Reader { return iotest.DataErrReader(strings.NewReader(s)) },
	"halves":        func(s string) io.Reader { return iotest.HalfReader(strings.NewReader(s)) },
}

type onlyReader struct{ io.Reader }

func TestFixedBody(t *testing.T) {
	for name, body := range bodies {
		for _, size := range []int{1, 5, 4000, 10000, 300000} {
			if name == "one byte" && size > 10000 {
				continue
			}
			data := strings.Repeat("0123456789", size/10+1)[:size]
			for _, inline := range []bool{true, false} {
				sent, s, n, err := upload(t, body(data), int64(size), inline, nil)
				if err != nil || sent != data || n != int64(size) {
					t.Errorf("%s, %d, inline %v: sent %d, count %d, %v", name, size, inline, len(sent), n, err)
				}
				if inline && size <= 10000 && s.writes != 1 {
					t.Errorf("%s, %d: %d writes for a small body", name, size, s.writes)
				}
				if !inline && s.writes < 2 {
					t.Errorf("%s: the head was not flushed first", name)
				}
			}
		}
	}
}

func TestBodyBreaksItsPromise(t *testing.T) {
	for name, body := range bodies {
		for _, inline := range []bool{true, false} {
			for _, size := range []int64{0, 4, 6, 100000} {
				sent, s, _, err := upload(t, body("hello"), size, inline, nil)
				var be *httpsem.BodyError
				if !errors.As(err, &be) {
					t.Errorf("%s, declared %d: got %v", name, size, err)
				}
				if int64(len(sent)) > size {
					t.Errorf("%s, declared %d: sent %q", name, size, sent)
				}
				if (inline && size < 100 || size == 0) && s.writes != 0 {
					t.Errorf("%s, declared %d: a bad small body was sent", name, size)
				}
				if size > 5 && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%s, declared %d: got %v", name, size, err)
				}
			}
		}
	}
}

func TestBodyFails(t *testing.T) {
	bad := errors.New("disk on fire")
	for name, body := range map[string]func() io.Reader{
		"at once":     func() io.Reader { return iotest.ErrReader(bad) },
		"after some":  func() io.Reader { return io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(bad)) },
		"no progress": func() io.Reader { return emptyReader{} },
		"bad count":   func() io.Reader { return countReader(1 << 30) },
		"negative":    func() io.Reader { return countReader(-1) },
	} {
		for _, length := range []int64{10, 100000, -1} {
			for _, inline := range []bool{true, false} {
				sent, _, _, err := upload(t, body(), length, inline, nil)
				var be *httpsem.BodyError
				if !errors.As(err, &be) {
					t.Errorf("%s, %d: got %v", name, length, err)
				}
				switch {
				case name == "no progress" && !errors.Is(err, io.ErrNoProgress),
					strings.HasPrefix(name, "a") && !errors.Is(err, bad):
					t.Errorf("%s, %d: got %v", name, length, err)
				}
				if length < 0 && strings.HasSuffix(sent, "0\r\n\r\n") {
					t.Errorf("%s: the broken body was ended properly", name)
				}
			}
		}
	}
}

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, nil }

type countReader int

func (c countReader) Read([]byte) (int, error) { return int(c), nil }

func TestChunkedUpload(t *testing.T) {
	for name, body := range bodies {
		for _, size := range []int{0, 1, 5, 10000, 600000} {
			if name == "one byte" && size > 10000 {
				continue
			}
			data := strings.Repeat("0123456789", size/10+1)[:size]
			for _, inline := range []bool{true, false} {
				sent, _, n, err := upload(t, body(data), -1, inline, nil)
				got, chunkErr := io.ReadAll(httputil.NewChunkedReader(strings.NewReader(sent)))
				if err != nil || chunkErr != nil || string(got) != data || n != int64(size) || !strings.HasSuffix(sent, "0\r\n\r\n") {
					t.Errorf("%s, %d: got %d bytes, count %d, %v, %v", name, size, len(got), n, err, chunkErr)
				}
			}
		}
	}
	sent, s, _, _ := upload(t, iotest.DataErrReader(strings.NewReader("hello")), -1, true, nil)
	if sent != "5\r\nhello\r\n0\r\n\r\n" || s.writes != 1 {
		t.Errorf("got %q in %d writes", sent, s.writes)
	}
	sent, s, _, _ = upload(t, iotest.OneByteReader(strings.NewReader("hi")), -1, true, nil)
	if sent != "1\r\nh\r\n1\r\ni\r\n0\r\n\r\n" || s.writes != 3 {
		t.Errorf("got %q in %d writes: each read goes out at once", sent, s.writes)
	}
}

func TestRequestTrailer(t *testing.T) {
	for _, data := range []string{"", "hello"} {
		trailer := http.Header{"X-B": nil, "X-A": {"1"}}
		body := io.MultiReader(strings.NewReader(data), readerFunc(func([]byte) (int, error) {
			trailer["X-B"] = []string{"2", "3"} // set while the body is read, as is usual
			return 0, io.EOF
		}))
		sent, _, _, err := upload(t, body, -1, true, trailer)
		want := "0\r\nX-A: 1\r\nX-B: 2\r\nX-B: 3\r\n\r\n"
		if data != "" {
			want = "5\r\nhello\r\n" + want
		}
		if err != nil || sent != want {
			t.Errorf("got %q, %v", sent, err)
		}
	}
	trailer := http.Header{"X-A": nil}
	body := io.MultiReader(strings.NewReader("x"), readerFunc(func([]byte) (int, error) {
		trailer["X-A"] = []string{"1\r\n"}
		return 0, io.EOF
	}))
	sent, _, _, err := upload(t, body, -1, true, trailer)
	var be *httpsem.BodyError
	if !errors.As(err, &be) || strings.Contains(sent, "X-A") {
		t.Errorf("got %q, %v", sent, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// tcpPair returns the two ends of a connection over loopback.
func tcpPair(t testing.TB) (client, server *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

func tempFile(t testing.TB, content string) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestFileBody(t *testing.T) {
	data := strings.Repeat("0123456789", 300000) // several slices
	for _, tt := range []struct {
		name   string
		length int64
		body   func(*os.File) io.Reader
		want   string
		bad    bool
	}{
		{"whole", int64(len(data)), func(f *os.File) io.Reader { return f }, data, false},
		{"part", 15, func(f *os.File) io.Reader { return &io.LimitedReader{R: f, N: 15} }, data[:15], false},
		{"longer", 15, func(f *os.File) io.Reader { return f }, data[:15], true},
		{"shorter", int64(len(data)) + 1, func(f *os.File) io.Reader { return f }, data, true},
		{"part, shorter", 15, func(f *os.File) io.Reader { return &io.LimitedReader{R: f, N: 10} }, data[:10], true},
	} {
		client, server := tcpPair(t)
		got := make(chan string)
		go func() {
			b, _ := io.ReadAll(server)
			got <- string(b)
		}()
		c := NewConn(client, client)
		c.Begin(httpsem.ExchangeOptions{})
		if err := c.WriteHead(request(t, "PUT", "http://a", nil), tt.length); err != nil {
			t.Fatal(err)
		}
		n, err := c.WriteBody(tt.body(tempFile(t, data)), tt.length, false, nil)
		client.CloseWrite()
		var be *httpsem.BodyError
		if errors.As(err, &be) != tt.bad || !tt.bad && err != nil || n != int64(len(tt.want)) {
			t.Errorf("%s: sent %d, %v", tt.name, n, err)
		}
		if _, sent, _ := strings.Cut(<-got, "\r\n\r\n"); sent != tt.want {
			t.Errorf("%s: got %d bytes", tt.name, len(sent))
		}
		c.End()
	}
}

// A peer that takes a body slowly, but takes it, is waited for: the timeout is
// for one that takes nothing.
func TestSlowUpload(t *testing.T) {
	// Long enough for a machine that has other work, and for TCP, which may wait
	// 200 ms to ask again whether a window that was closed has opened.
	const timeout = time.Second
	for name, body := range map[string]func(*testing.T, int) io.Reader{
		"memory": func(_ *testing.T, n int) io.Reader { return bytes.NewReader(make([]byte, n)) },
		"file":   func(t *testing.T, n int) io.Reader { return tempFile(t, string(make([]byte, n))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, server := tcpPair(t)
			client.SetWriteBuffer(128 << 10)
			server.SetReadBuffer(256 << 10)
			const size = 3 << 20
			got := make(chan int)
			go func() {
				buf := make([]byte, 32<<10)
				total := 0
				for {
					n, err := server.Read(buf)
					total += n
					if err != nil {
						got <- total
						return
					}
					time.Sleep(20 * time.Millisecond) // it is slow
				}
			}()
			c := NewConn(client, client)
			c.Begin(httpsem.ExchangeOptions{WriteTimeout: timeout})
			if err := c.WriteHead(request(t, "PUT", "http://a", nil), size); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			n, err := c.WriteBody(body(t, size), size, false, nil)
			if elapsed := time.Since(start); err != nil || n != size || elapsed < timeout {
				t.Errorf("sent %d in %v, %v", n, elapsed, err)
			}
			client.CloseWrite()
			if total := <-got; total < size {
				t.Errorf("the peer got %d", total)
			}
			c.End()
		})
	}
}
