package connect

import (
	"crypto/tls"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/internal/testkit"
)

// secured makes a TLS connection over two ends of a pipe or socket.
func secured(t *testing.T, client, server net.Conn, withFloor bool) (Link, *tls.Conn) {
	t.Helper()
	cert, trusted := identity(t, "a.test")
	over := tls.Server(server, &tls.Config{Certificates: []tls.Certificate{cert}})
	handshake := make(chan error, 1)
	go func() { handshake <- over.Handshake() }()
	link := Link{Raw: client}
	below := client
	if withFloor {
		link.under = newFloor(client)
		below = link.under
	}
	conn := tls.Client(below, &tls.Config{RootCAs: trusted, ServerName: "a.test",
		ClientSessionCache: tls.NewLRUClientSessionCache(1)})
	if err := conn.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-handshake; err != nil {
		t.Fatal(err)
	}
	link.Conn = conn
	return link, over
}

// TestProbeSeesWhatTLSHasReadAhead: what lies in TLS's buffers is as unasked for
// as what lies in the socket.
func TestProbeSeesWhatTLSHasReadAhead(t *testing.T) {
	for _, test := range []struct {
		name    string
		records []string
		read    int
	}{
		{"the rest of a record", []string{"answer and more"}, len("answer")},
		{"another record", []string{"answer", "more"}, len("answer")},
	} {
		for _, withFloor := range []bool{true, false} {
			name := test.name
			if !withFloor {
				name += ", under a dialer's own TLS"
			}
			t.Run(name, func(t *testing.T) {
				client, server := testkit.Pipe()
				defer client.Close()
				defer server.Close()
				link, over := secured(t, client, server, withFloor)
				for _, r := range test.records {
					io.WriteString(over, r)
				}
				if _, err := io.ReadFull(link.Conn, make([]byte, test.read)); err != nil {
					t.Fatal(err)
				}
				if n, err := client.Readable(); n > 0 || err != nil {
					t.Fatalf("the test is void: %d bytes are in the socket, %v", n, err)
				}
				if err := newProbe(link).check(); err != errUnsolicited {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// TestProbeTakesTicketsForNothing: a session ticket is bytes but no answer, and
// the connection works after it. Nothing is waited for.
func TestProbeTakesTicketsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := testkit.Pipe()
		defer client.Close()
		defer server.Close()
		link, over := secured(t, client, server, true)
		synctest.Wait()
		if n, _ := client.Readable(); n == 0 {
			t.Fatal("the test is void: the server sent no ticket")
		}
		p, start := newProbe(link), time.Now()
		for range 3 {
			if err := p.check(); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v", took)
		}
		io.WriteString(over, "answer")
		if _, err := io.ReadFull(link.Conn, make([]byte, len("answer"))); err != nil {
			t.Error(err)
		}
		over.Close()
		if err := p.check(); err != errClosedByPeer {
			t.Errorf("got %v", err)
		}
	})
}

// TestGlanceGoesThroughAWrapper: the bytes below a wrapper are not those that
// TLS has to see.
func TestGlanceGoesThroughAWrapper(t *testing.T) {
	client, server := socketPair(t)
	counted := &countingConn{TCPConn: client.(*net.TCPConn)}
	link, over := secured(t, counted, server, true)
	if err := newProbe(link).check(); err != nil {
		t.Fatal(err)
	}
	before := counted.n
	io.WriteString(over, "unasked")
	if err := eventually(newProbe(link).check); err != errUnsolicited {
		t.Errorf("got %v", err)
	}
	if counted.n == before {
		t.Error("the wrapper was passed by")
	}
}

// countingConn embeds a socket, and with it SyscallConn.
type countingConn struct {
	*net.TCPConn
	n int
}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	c.n += n
	return n, err
}

// TestGoodbyeWaitsForNobody: tls.Conn.Close would wait five seconds for a peer
// that has stopped reading.
func TestGoodbyeWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := testkit.Pipe()
		defer server.Close()
		link, _ := secured(t, client, server, true)
		client.SetWriteDeadline(time.Now().Add(time.Second))
		client.Write(make([]byte, 1<<20)) // the buffer is full now
		client.SetWriteDeadline(time.Time{})
		c := &Conn{link: link}
		start := time.Now()
		c.close(true)
		if took := time.Since(start); took > 2*goodbyeTime {
			t.Errorf("took %v", took)
		}
		if _, err := client.Read(make([]byte, 1)); err == nil {
			t.Error("the socket is open")
		}
	})
}

// TestGoodbyeIsSaid where there is room for it.
func TestGoodbyeIsSaid(t *testing.T) {
	client, server := testkit.Pipe()
	defer server.Close()
	link, over := secured(t, client, server, true)
	(&Conn{link: link}).close(true)
	if _, err := over.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the peer sees %v, want io.EOF for close_notify", err)
	}
}

// TestWritesOfTLSItself: crypto/tls answers a key update from within a Read, long
// after the request was written. It must neither fail for the request's old
// deadline nor wait for ever; and a probe must not write at all.
func TestWritesOfTLSItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := testkit.Pipe()
		defer server.Close()
		f := newFloor(client)
		f.SetWriteDeadline(time.Now().Add(time.Second))
		time.Sleep(time.Minute)
		if n, err := f.Write([]byte("own")); n != 3 || err != nil {
			t.Errorf("after the deadline: %d, %v", n, err)
		}
		time.Sleep(time.Minute)
		start := time.Now()
		if _, err := f.Write(make([]byte, 1<<20)); err == nil || time.Since(start) != ownWriteTime {
			t.Errorf("a peer that does not read: %v after %v", err, time.Since(start))
		}
		start = time.Now()
		f.SetWriteDeadline(time.Unix(1, 0)) // how the codec aborts a write
		if _, err := f.Write([]byte("x")); err == nil || time.Since(start) != 0 {
			t.Errorf("aborted: %v after %v", err, time.Since(start))
		}
		client.Close()
	})
}

// talkative is TLS that has something to say when it is read.
type talkative struct {
	net.Conn
	below *floor
}

func (c talkative) Read(p []byte) (int, error) {
	c.below.Write([]byte("key update"))
	return c.below.Read(p)
}

func TestProbeDoesNotWrite(t *testing.T) {
	client, server := testkit.Pipe()
	defer client.Close()
	defer server.Close()
	f := newFloor(client)
	if err := newProbe(Link{Conn: talkative{client, f}, Raw: client, under: f}).check(); err != errOwes {
		t.Errorf("got %v", err)
	}
	if n, err := server.Readable(); n != 0 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}
