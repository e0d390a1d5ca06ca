package testkit

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestNetwork shows the kit: a server on a host, a client that dials it.
func TestNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewNet()
		listener := network.Host("192.0.2.1").Listen(80)
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "hello from "+r.Host)
		})}
		go server.Serve(listener)
		defer server.Close()

		transport := &http.Transport{DialContext: network.DialContext}
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport}).Get("http://192.0.2.1/")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != "hello from 192.0.2.1" {
			t.Errorf("got %q, %v", body, err)
		}
		if network.Attempts() != 1 || network.OpenSockets() != 1 {
			t.Errorf("%d attempts, %d sockets; want 1 of each", network.Attempts(), network.OpenSockets())
		}
		transport.CloseIdleConnections()
		synctest.Wait()
		if network.OpenSockets() != 0 {
			t.Errorf("%d sockets after the close", network.OpenSockets())
		}
	})
}

func TestDialManners(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Host)
		want   error // nil for success
		after  time.Duration
	}{
		{"answers", func(*Host) {}, nil, 0},
		{"refuses", (*Host).Refuse, syscall.ECONNREFUSED, 0},
		{"slow", func(h *Host) { h.Delay(300 * time.Millisecond) }, nil, 300 * time.Millisecond},
		{"refuses slowly", func(h *Host) { h.Delay(50 * time.Millisecond); h.Refuse() }, syscall.ECONNREFUSED, 50 * time.Millisecond},
		{"too slow", func(h *Host) { h.Delay(time.Hour) }, context.DeadlineExceeded, time.Second},
		{"black hole", (*Host).BlackHole, context.DeadlineExceeded, time.Second},
		{"answers again", func(h *Host) { h.BlackHole(); h.Answer() }, nil, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := NewNet()
				host := network.Host("2001:db8::1")
				defer host.Listen(443).Close()
				test.change(host)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()

				start := time.Now()
				conn, err := network.DialContext(ctx, "tcp", "[2001:db8::1]:443")
				if took := time.Since(start); took != test.after {
					t.Errorf("took %v, want %v", took, test.after)
				}
				if test.want == nil {
					if err != nil {
						t.Fatal(err)
					}
					conn.Close()
				} else if !errors.Is(err, test.want) {
					t.Errorf("got %v, want %v", err, test.want)
				}
				if network.Attempts() != 1 || host.Attempts() != 1 || network.Dialing() != 0 || network.OpenSockets() != 0 {
					t.Errorf("attempts %d, %d, dialing %d, open %d", network.Attempts(), host.Attempts(), network.Dialing(), network.OpenSockets())
				}
			})
		})
	}
}

func TestDialErrors(t *testing.T) {
	network := NewNet()
	network.Host("192.0.2.1")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx           context.Context
		network, addr string
		want          error
	}{
		{t.Context(), "tcp", "192.0.2.1:81", syscall.ECONNREFUSED},
		{t.Context(), "tcp4", "192.0.2.9:80", syscall.ENETUNREACH},
		{t.Context(), "tcp", "localhost:80", nil},
		{t.Context(), "udp", "192.0.2.1:80", net.UnknownNetworkError("udp")},
		{canceled, "tcp", "192.0.2.1:80", context.Canceled},
	} {
		conn, err := network.DialContext(test.ctx, test.network, test.addr)
		var op *net.OpError
		if conn != nil || !errors.As(err, &op) || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("dial %s %s: %v, want %v", test.network, test.addr, err, test.want)
		}
	}
}

func TestListenerClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewNet()
		listener := network.Host("192.0.2.1").Listen(80)
		conn, err := network.DialContext(t.Context(), "tcp", "192.0.2.1:80")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		listener.Close()
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a connection that was never accepted: %v", err)
		}
		if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept after Close: %v", err)
		}
		if _, err := network.DialContext(t.Context(), "tcp", "192.0.2.1:80"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial after Close: %v", err)
		}
		network.Host("192.0.2.1").Listen(80).Close() // the port is free
	})
}

func pipe(t *testing.T) (client, server *Conn) {
	t.Helper()
	client, server = Pipe()
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

func TestConnIsBufferedBothWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pipe(t)
		io.WriteString(client, "ping\n")
		io.WriteString(server, "pong\n")
		for _, c := range []*Conn{client, server} {
			if n, err := c.Readable(); n != 5 || err != nil {
				t.Errorf("Readable: %d, %v", n, err)
			}
			if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.HasPrefix(line, "p") {
				t.Errorf("got %q, %v", line, err)
			}
			if n, err := c.Readable(); n != 0 || err != nil {
				t.Errorf("Readable when empty: %d, %v", n, err)
			}
		}
	})
}

func TestConnCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pipe(t)
		io.WriteString(server, "rest")
		server.Close()
		if n, err := client.Readable(); n != 4 || err != nil {
			t.Errorf("Readable: %d, %v", n, err)
		}
		if rest, err := io.ReadAll(client); string(rest) != "rest" || err != nil {
			t.Errorf("got %q, %v", rest, err)
		}
		if n, err := client.Readable(); n != 0 || err != io.EOF {
			t.Errorf("Readable at the end: %d, %v", n, err)
		}
		if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write to a closed peer: %v", err)
		}
		if _, err := server.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read after Close: %v", err)
		}
		if err := server.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("second Close: %v", err)
		}
	})
}

func TestConnHalfCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pipe(t)
		io.WriteString(client, "request")
		client.CloseWrite()
		if got, err := io.ReadAll(server); string(got) != "request" || err != nil {
			t.Errorf("server got %q, %v", got, err)
		}
		if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write after CloseWrite: %v", err)
		}
		io.WriteString(server, "response")
		server.Close()
		if got, err := io.ReadAll(client); string(got) != "response" || err != nil {
			t.Errorf("client got %q, %v", got, err)
		}
	})
}

func TestConnAborts(t *testing.T) {
	abort := map[string]func(*Conn){
		"Abort":     func(c *Conn) { c.Abort() },
		"SetLinger": func(c *Conn) { c.SetLinger(0); c.Close() },
	}
	for name, abort := range abort {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := pipe(t)
				go func() {
					time.Sleep(time.Second)
					io.WriteString(server, "lost")
					abort(server)
				}()
				time.Sleep(2 * time.Second)
				_, err := client.Read(make([]byte, 4))
				var op *net.OpError
				if !errors.Is(err, syscall.ECONNRESET) || !errors.As(err, &op) {
					t.Errorf("read: %v", err)
				}
				if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("write: %v", err)
				}
			})
		})
	}
}

func TestConnDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pipe(t)
		start := time.Now()

		client.SetReadDeadline(start.Add(time.Second))
		_, err := client.Read(make([]byte, 1))
		var timeout net.Error
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("read: %v", err)
		}
		if time.Since(start) != time.Second {
			t.Errorf("read ended after %v", time.Since(start))
		}

		client.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := client.Write(make([]byte, bufferSize+1))
		if n != bufferSize || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("write: %d, %v", n, err)
		}
		client.SetDeadline(time.Time{})
		go io.Copy(io.Discard, server)
		if n, err := client.Write(make([]byte, 3*bufferSize)); n != 3*bufferSize || err != nil {
			t.Errorf("write with a reader: %d, %v", n, err)
		}

		// A deadline that moves while a read waits for it.
		begin := time.Now()
		client.SetReadDeadline(begin.Add(time.Second))
		go func() {
			time.Sleep(500 * time.Millisecond)
			client.SetReadDeadline(begin.Add(3 * time.Second))
		}()
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read: %v", err)
		}
		if time.Since(begin) != 3*time.Second {
			t.Errorf("read ended after %v, want 3s", time.Since(begin))
		}
		client.Close()
	})
}

func TestCloseEndsBlockedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := pipe(t)
		go func() {
			time.Sleep(time.Second)
			client.Close()
		}()
		go func() {
			if _, err := client.Write(make([]byte, 2*bufferSize)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("write: %v", err)
			}
		}()
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read: %v", err)
		}
		synctest.Wait()
	})
}

func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewNet()
		host := network.Host("192.0.2.1")
		listener := host.Listen(80)
		defer listener.Close()
		dial := func() (client, server net.Conn) {
			client, err := network.DialContext(t.Context(), "tcp", "192.0.2.1:80")
			if err != nil {
				t.Fatal(err)
			}
			server, err = listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			return client, server
		}
		wantSilence := func(c net.Conn) {
			t.Helper()
			c.SetReadDeadline(time.Now().Add(time.Hour))
			if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("read %d bytes, %v; want silence", n, err)
			}
		}

		client, server := dial()
		io.WriteString(server, "before")
		host.Silence()
		if got, err := io.ReadAll(io.LimitReader(client, 6)); string(got) != "before" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if n, err := client.Write(make([]byte, 100)); n != 100 || err != nil {
			t.Errorf("a write into silence: %d, %v", n, err)
		}
		client.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err := client.Write(make([]byte, bufferSize)); n != bufferSize-100 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a long write into silence: %d, %v", n, err)
		}
		wantSilence(server)
		server.Close()
		wantSilence(client) // not even the end passes
		client.Close()

		host.SilentAfter(3)
		client, server = dial() // a new connection works
		io.WriteString(client, "request")
		io.WriteString(server, "re")
		io.WriteString(server, "sponse")
		if got, err := io.ReadAll(io.LimitReader(client, 3)); string(got) != "res" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		wantSilence(client)
		client.Close()
		server.Close()

		host.SilentAfter(0)
		client, server = dial()
		io.WriteString(client, "request")
		wantSilence(server)
		client.Close()
		server.Close()

		if network.OpenSockets() != 0 || len(host.present()) != 0 {
			t.Errorf("%d sockets, %d ends on the host", network.OpenSockets(), len(host.present()))
		}
	})
}

func TestAttemptLogHasTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewNet()
		network.Host("192.0.2.1").Refuse()
		start := time.Now()
		for range 2 {
			network.DialContext(t.Context(), "tcp", "192.0.2.1:80")
			time.Sleep(250 * time.Millisecond)
		}
		log := network.AttemptLog()
		if len(log) != 2 || log[1].At.Sub(start) != 250*time.Millisecond || log[1].Addr.String() != "192.0.2.1:80" {
			t.Errorf("log %v", log)
		}
	})
}
