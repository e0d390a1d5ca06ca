package mockwebserver_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

// BenchmarkGet measures the server alone, against httptest's, with a client
// that does as little as possible.
func BenchmarkGet(b *testing.B) {
	b.Run("mockwebserver", func(b *testing.B) {
		hello := mockwebserver.Text("Hello, world!")
		server := mockwebserver.New(b, mockwebserver.WithoutRecording(), mockwebserver.WithDispatcher(mockwebserver.DispatcherFunc(
			func(context.Context, *mockwebserver.RecordedRequest) mockwebserver.Response { return hello })))
		benchmarkGet(b, server.Addr().String())
	})
	b.Run("httptest", func(b *testing.B) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "Hello, world!")
		}))
		defer server.Close()
		benchmarkGet(b, server.Listener.Addr().String())
	})
}

func benchmarkGet(b *testing.B, addr string) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	br := bufio.NewReader(conn)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: x\r\n\r\n"); err != nil {
			b.Fatal(err)
		}
		for last := byte(0); last != '!'; { // the last byte of the body
			if last, err = br.ReadByte(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
