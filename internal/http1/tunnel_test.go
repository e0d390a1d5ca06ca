package http1

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// A CONNECT with a body opens a tunnel: its bytes have no framing, and the
// connection carries nothing after them.
func TestTunnel(t *testing.T) {
	c, s := script("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
	req := request(t, "CONNECT", "http://a", nil)
	req.URL.Opaque = "b:443"
	c.Begin(httpsem.ExchangeOptions{})
	if err := c.WriteHead(req, -1); err != nil {
		t.Fatal(err)
	}
	if n, err := c.WriteBody(onlyReader{strings.NewReader("hello")}, -1, false, nil); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	head, body, _ := strings.Cut(s.wrote.String(), "\r\n\r\n")
	if !strings.HasPrefix(head, "CONNECT b:443 HTTP/1.1\r\n") || strings.Contains(head, "Transfer-Encoding") || body != "hello" {
		t.Errorf("sent %q, %q", head, body)
	}
	if reusable, _ := c.End(); reusable {
		t.Error("the connection is reusable")
	}
}

// readFromConn is a wrapper that passes on what its TCP connection can do.
type readFromConn struct {
	*net.TCPConn
	calls int
}

func (c *readFromConn) ReadFrom(r io.Reader) (int64, error) {
	c.calls++
	return c.TCPConn.ReadFrom(r)
}

func TestFileThroughWrapper(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	client, server := tcpPair(t)
	w := &readFromConn{TCPConn: client}
	c := NewConn(w, w)
	c.Begin(httpsem.ExchangeOptions{})
	if err := c.WriteHead(request(t, "PUT", "http://a", nil), 7); err != nil {
		t.Fatal(err)
	}
	if n, err := c.WriteBody(f, 7, false, nil); n != 7 || err != nil {
		t.Fatal(n, err)
	}
	client.Close()
	got, err := io.ReadAll(server)
	if !strings.HasSuffix(string(got), "\r\n\r\ncontent") || err != nil || w.calls != 1 {
		t.Errorf("got %q, %v in %d calls", got, err, w.calls)
	}
}

func TestOneUserAgent(t *testing.T) {
	c, s := script()
	req := request(t, "GET", "http://a", nil)
	req.Header["User-Agent"] = []string{"one", "two"}
	c.Begin(httpsem.ExchangeOptions{})
	if err := c.WriteHead(req, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := s.wrote.String(); strings.Count(got, "User-Agent") != 1 || !strings.Contains(got, "one") {
		t.Errorf("sent %q", got)
	}
	c.End()
}
