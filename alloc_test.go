package okhttp_test

import (
	"io"
	"net"
	"testing"
)

// maxAllocs is what a RoundTrip on a reused connection may allocate, where the
// request was made before.
const maxAllocs = 9

func TestAllocs(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() { // a server that allocates nothing
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		buf := make([]byte, 4096)
		answer := []byte("HTTP/1.1 200 OK\r\nDate: Tue, 01 Dec 2026 05:06:53 GMT\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 13\r\n\r\nHello, World!")
		for {
			if _, err := conn.Read(buf); err != nil {
				return
			}
			conn.Write(answer)
		}
	}()
	client := startClient(t)
	req := newRequest(t, "GET", "http://"+ln.Addr().String()+"/hello", nil)
	buf := make([]byte, 1024)
	n := testing.AllocsPerRun(1000, func() {
		resp, err := client.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = resp.Body.Read(buf)
		}
		resp.Body.Close()
		if err != io.EOF {
			t.Fatal(err)
		}
	})
	if n > maxAllocs {
		t.Errorf("%v allocations", n)
	}
	t.Logf("%v allocations", n)
}
