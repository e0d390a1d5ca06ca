package connect

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/internal/testkit"
)

// socketPair is a connected pair of TCP sockets.
func socketPair(t testing.TB) (client, server net.Conn) {
	t.Helper()
	l := listen(t)
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server = <-accepted
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// eventually repeats check until it fails, for what the kernel has yet to deliver.
func eventually(check func() error) error {
	for range 1000 {
		if err := check(); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

func TestProbeOfSocket(t *testing.T) {
	end := map[string]struct {
		do   func(server net.Conn)
		want error
	}{
		"closed":      {func(c net.Conn) { c.Close() }, errClosedByPeer},
		"reset":       {func(c net.Conn) { c.(*net.TCPConn).SetLinger(0); c.Close() }, errClosedByPeer},
		"unsolicited": {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\n\r\n") }, errUnsolicited},
		"half-closed": {func(c net.Conn) { c.(*net.TCPConn).CloseWrite() }, errClosedByPeer},
	}
	for name, test := range end {
		t.Run(name, func(t *testing.T) {
			client, server := socketPair(t)
			p := newProbe(Link{Conn: client, Raw: client})
			for range 3 {
				if err := p.check(); err != nil {
					t.Fatalf("while it is good: %v", err)
				}
			}
			test.do(server)
			if err := eventually(p.check); err != test.want {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestProbeOfSocketDoesNotMindAnOldDeadline(t *testing.T) {
	client, _ := socketPair(t)
	client.SetReadDeadline(time.Now().Add(-time.Second))
	if err := newProbe(Link{Conn: client, Raw: client}).check(); err != nil {
		t.Error(err)
	}
}

func TestProbeOfSocketThatWeClosed(t *testing.T) {
	client, _ := socketPair(t)
	p := newProbe(Link{Conn: client, Raw: client})
	client.Close()
	if err := p.check(); err == nil {
		t.Error("a closed socket is no good")
	}
}

func TestProbeAllocatesNothing(t *testing.T) {
	client, _ := socketPair(t)
	p := newProbe(Link{Conn: client, Raw: client})
	if n := testing.AllocsPerRun(100, func() {
		if err := p.check(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("a check allocates %v times", n)
	}
}

// A wrapper that shows what it wraps, as tls.Conn does, can be peeked through.
type wrapper struct{ net.Conn }

func (w wrapper) NetConn() net.Conn { return w.Conn }

func TestProbeOfWrappedSocket(t *testing.T) {
	client, server := socketPair(t)
	p := newProbe(Link{Conn: wrapper{client}, Raw: wrapper{client}})
	if p.raw == nil {
		t.Error("the socket was not found")
	}
	if err := p.check(); err != nil {
		t.Error(err)
	}
	server.Write([]byte("x"))
	if err := eventually(p.check); err != errUnsolicited {
		t.Errorf("got %v", err)
	}
}

func TestProbeOfTLS(t *testing.T) {
	cert, trusted := identity(t, "a.test")
	for _, test := range []struct {
		name string
		do   func(raw net.Conn, server *tls.Conn)
		want error
	}{
		{"close_notify", func(_ net.Conn, s *tls.Conn) { s.Close() }, errClosedByPeer},
		{"closed without goodbye", func(raw net.Conn, _ *tls.Conn) { raw.Close() }, errClosedByPeer},
		{"unsolicited", func(_ net.Conn, s *tls.Conn) { s.Write([]byte("x")) }, errUnsolicited},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, raw := socketPair(t)
			server := tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{cert}})
			handshake := make(chan error, 1)
			go func() { handshake <- server.Handshake() }()
			conn := tls.Client(client, &tls.Config{RootCAs: trusted, ServerName: "a.test"})
			if err := conn.Handshake(); err != nil {
				t.Fatal(err)
			}
			if err := <-handshake; err != nil {
				t.Fatal(err)
			}
			// The server's session ticket may be waiting on the socket by now. It
			// is bytes, but not of HTTP.
			time.Sleep(5 * time.Millisecond)
			p := newProbe(Link{Conn: conn, Raw: client})
			for range 3 {
				if err := p.check(); err != nil {
					t.Fatalf("while it is good: %v", err)
				}
			}
			test.do(raw, server)
			if err := eventually(p.check); err != test.want {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestProbeOfPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		p := newProbe(Link{Conn: client, Raw: client})
		if err := p.check(); err != nil {
			t.Errorf("while it is good: %v", err)
		}
		// The probe's deadline must be gone.
		go server.Write([]byte("x"))
		time.Sleep(time.Minute)
		if _, err := client.Read(make([]byte, 1)); err != nil {
			t.Errorf("after a check: %v", err)
		}
		server.Close()
		if err := p.check(); err != errClosedByPeer {
			t.Errorf("got %v", err)
		}
	})
}

func TestProbeOfTestNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := testkit.Pipe()
		p := newProbe(Link{Conn: client, Raw: client})
		if err := p.check(); err != nil {
			t.Errorf("while it is good: %v", err)
		}
		server.Write([]byte("x"))
		if err := p.check(); err != errUnsolicited {
			t.Errorf("got %v", err)
		}
		client.Read(make([]byte, 1))
		server.Close()
		if err := p.check(); err != errClosedByPeer {
			t.Errorf("got %v", err)
		}
		client.Close()
	})
}

func TestProbeOfTLSOverPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cert, trusted := identity(t, "a.test")
		n := &network{}
		address := n.secure(t, "a.test", serveTLS(&tls.Config{Certificates: []tls.Certificate{cert}}), trusted)
		link, err := NewPlanner(address, nil).Connect(t.Context(), Timeouts{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := newProbe(link)
		for range 3 {
			if err := p.check(); err != nil {
				t.Errorf("while it is good: %v", err)
			}
		}
		link.Raw.Close()
		if err := p.check(); err == nil {
			t.Error("a closed connection is no good")
		}
	})
}

// askable is an in-memory connection that can say what waits to be read.
type askable struct {
	net.Conn
	waiting int
	err     error
}

func (a *askable) Readable() (int, error) { return a.waiting, a.err }

func (a *askable) Read([]byte) (int, error) { return 0, errors.New("read by a probe") }

func TestProbeAsksWhoCanBeAsked(t *testing.T) {
	for _, test := range []struct {
		name    string
		waiting int
		err     error
		want    error
	}{
		{"quiet", 0, nil, nil},
		{"waiting", 3, nil, errUnsolicited},
		{"waiting, then the end", 3, io.EOF, errUnsolicited},
		{"the end", 0, io.EOF, errClosedByPeer},
		{"broken", 0, os.ErrClosed, errClosedByPeer},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &askable{waiting: test.waiting, err: test.err}
			if err := newProbe(Link{Conn: c, Raw: c}).check(); err != test.want {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}
