package mockwebserver_test

import (
	"io"
	"testing"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

// FuzzConnection sends arbitrary bytes and hangs up. The server must end the
// connection, record what it counted, and close without leaving anything.
func FuzzConnection(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"))
	f.Add([]byte("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"))
	f.Add([]byte("\x16\x03\x01\x02\x00\x01"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 32<<10 {
			t.Skip("more than the pipe holds")
		}
		pipe := mockwebserver.Pipe()
		server := mockwebserver.New(t, mockwebserver.WithListener(pipe), mockwebserver.WithFallback(mockwebserver.Text("x")),
			mockwebserver.WithLogf(func(string, ...any) {}))
		conn, err := pipe.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		go func() {
			_, _ = conn.Write(in)
			_ = conn.(interface{ CloseWrite() error }).CloseWrite()
		}()
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Fatal(err)
		}
		if err := server.WaitOpen(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		for range server.RequestCount() {
			server.RequireRequest(t)
		}
	})
}
