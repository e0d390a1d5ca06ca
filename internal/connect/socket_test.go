package connect

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp/internal/testkit"
)

// opaque hides all that a connection can do beyond net.Conn.
type opaque struct{ net.Conn }

// socketKinds opens each kind of socket; the other end speaks to it plainly.
var socketKinds = []struct {
	name string
	can  bool // write without waiting
	open func(*testing.T) (socket, net.Conn)
}{
	{"tcp", true, func(t *testing.T) (socket, net.Conn) {
		client, server := socketPair(t)
		return newSocket(Link{Conn: client, Raw: client}), server
	}},
	{"unix", true, func(t *testing.T) (socket, net.Conn) {
		client, server := unixPair(t)
		return newSocket(Link{Conn: client, Raw: client}), server
	}},
	{"in memory", false, func(t *testing.T) (socket, net.Conn) {
		client, server := testkit.Pipe()
		return newSocket(Link{Conn: client, Raw: client}), server
	}},
	{"a dialer's own", false, func(t *testing.T) (socket, net.Conn) {
		client, server := socketPair(t)
		return newSocket(Link{Conn: opaque{client}, Raw: opaque{client}}), server
	}},
	{"a pipe", false, func(t *testing.T) (socket, net.Conn) {
		client, server := net.Pipe()
		return newSocket(Link{Conn: client, Raw: client}), server
	}},
	{"tls over tcp", true, func(t *testing.T) (socket, net.Conn) {
		client, server := socketPair(t)
		link, over := secured(t, client, server, true)
		return newSocket(link), over
	}},
	{"tls in memory", false, func(t *testing.T) (socket, net.Conn) {
		client, server := testkit.Pipe()
		link, over := secured(t, client, server, true)
		return newSocket(link), over
	}},
	{"tls over a dialer's own", false, func(t *testing.T) (socket, net.Conn) {
		client, server := socketPair(t)
		link, over := secured(t, opaque{client}, server, true)
		return newSocket(link), over
	}},
}

func unixPair(t *testing.T) (client, server net.Conn) {
	t.Helper()
	ln, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err = net.Dial("unix", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err = ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

// onSockets runs a test over each kind.
func onSockets(t *testing.T, test func(t *testing.T, s socket, peer net.Conn, can bool)) {
	for _, kind := range socketKinds {
		t.Run(kind.name, func(t *testing.T) {
			s, peer := kind.open(t)
			defer peer.Close()
			defer s.Close()
			test(t, s, peer, kind.can)
		})
	}
}

// send writes all of p in the way of a connection.
func send(s socket, p []byte) error {
	kept, err := s.WriteNow(p)
	if kept && err == nil {
		err = s.Drain()
	}
	return err
}

func TestSocketReadNow(t *testing.T) {
	onSockets(t, func(t *testing.T, s socket, peer net.Conn, _ bool) {
		buf := make([]byte, 16)
		for range 3 { // what TLS says on its own may have arrived
			if n, err := s.ReadNow(buf); n != 0 || err != errNothingNow {
				t.Fatalf("%d bytes, %v", n, err)
			}
		}
		wrote := make(chan error, 1)
		go func() {
			_, err := io.WriteString(peer, "hello")
			wrote <- err
		}()
		var got []byte
		for len(got) < len("hello") {
			n, err := s.ReadNow(buf[:2])
			if err == errNothingNow {
				if err := s.WaitReadable(); err != nil && err != errors.ErrUnsupported {
					t.Fatal(err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, buf[:n]...)
		}
		if string(got) != "hello" {
			t.Errorf("got %q", got)
		}
		if err := <-wrote; err != nil {
			t.Fatal(err)
		}
		peer.Close()
		if _, err := s.Read(buf); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
		if _, err := s.ReadNow(buf); err != io.EOF {
			t.Errorf("at the end, without waiting: %v", err)
		}
	})
}

// TestSocketDeadlineLosesNothing: a read that ends for its deadline, half a
// record read, goes on where it was.
func TestSocketDeadlineLosesNothing(t *testing.T) {
	onSockets(t, func(t *testing.T, s socket, peer net.Conn, _ bool) {
		buf := make([]byte, 64)
		s.SetReadDeadline(time.Now().Add(-time.Second))
		if _, err := s.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a deadline that has passed: %v", err)
		}
		s.SetReadDeadline(time.Time{})
		blocked := make(chan error, 1)
		go func() {
			_, err := s.Read(buf)
			blocked <- err
		}()
		s.SetReadDeadline(time.Now().Add(-time.Second)) // perhaps before it blocks, perhaps after
		if err := <-blocked; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a read that waits: %v", err)
		}
		if err := s.WaitReadable(); err != errors.ErrUnsupported && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("waiting without reading: %v", err)
		}
		s.SetReadDeadline(time.Time{})
		go io.WriteString(peer, "hello")
		if _, err := io.ReadFull(socketReader{s}, buf[:5]); err != nil || string(buf[:5]) != "hello" {
			t.Errorf("%q, %v", buf[:5], err)
		}
	})
}

type socketReader struct{ s socket }

func (r socketReader) Read(p []byte) (int, error) { return r.s.Read(p) }

// TestSocketHalfARecord: a deadline, and a look, in the middle of a TLS record.
func TestSocketHalfARecord(t *testing.T) {
	client, server := socketPair(t)
	defer client.Close()
	defer server.Close()
	between := &recordingConn{Conn: server}
	link, over := secured(t, client, between, true)
	s := newSocket(link)
	for _, err := s.ReadNow(make([]byte, 8)); err != errNothingNow; _, err = s.ReadNow(make([]byte, 8)) {
		t.Fatal(err)
	}
	between.hold = true
	io.WriteString(over, "hello")
	record := between.held
	between.Conn.Write(record[:9])
	buf := make([]byte, 8)
	if err := s.WaitReadable(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadNow(buf); err != errNothingNow {
		t.Fatal(err)
	}
	s.SetReadDeadline(time.Now().Add(time.Millisecond))
	if _, err := s.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	s.SetReadDeadline(time.Time{})
	between.Conn.Write(record[9:])
	if n, err := s.Read(buf); err != nil || string(buf[:n]) != "hello" {
		t.Errorf("%q, %v", buf[:n], err)
	}
}

// recordingConn keeps what is written, if it is told to.
type recordingConn struct {
	net.Conn
	hold bool
	held []byte
}

func (c *recordingConn) Write(p []byte) (int, error) {
	if !c.hold {
		return c.Conn.Write(p)
	}
	c.held = append(c.held, p...)
	return len(p), nil
}

// TestSocketFull: a peer that does not read keeps nobody waiting, and gets
// everything once it reads.
func TestSocketFull(t *testing.T) {
	onSockets(t, func(t *testing.T, s socket, peer net.Conn, can bool) {
		chunk := make([]byte, 64<<10)
		var sent bytes.Buffer
		for i := 0; ; i++ {
			for j := range chunk {
				chunk[j] = byte(i + j>>8)
			}
			kept, err := s.WriteNow(chunk)
			if err != nil {
				t.Fatal(err)
			}
			sent.Write(chunk)
			if kept {
				break
			}
			if !can {
				t.Fatal("sent what it should have kept")
			}
		}
		if can && sent.Len() == len(chunk) {
			t.Error("nothing could be sent without waiting")
		}
		drained := make(chan error, 1)
		go func() { drained <- s.Drain() }()
		got := make([]byte, sent.Len())
		if _, err := io.ReadFull(peer, got); err != nil || !bytes.Equal(got, sent.Bytes()) {
			t.Fatalf("the peer got something else, %v", err)
		}
		if err := <-drained; err != nil {
			t.Fatal(err)
		}
		go func() { drained <- send(s, []byte("again")) }()
		if _, err := io.ReadFull(peer, got[:5]); err != nil || string(got[:5]) != "again" {
			t.Errorf("%q, %v", got[:5], err)
		}
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}

// TestSocketCloseEndsAll: whoever waits in it comes back.
func TestSocketCloseEndsAll(t *testing.T) {
	onSockets(t, func(t *testing.T, s socket, peer net.Conn, can bool) {
		for kept := false; !kept; {
			var err error
			if kept, err = s.WriteNow(make([]byte, 8<<20)); err != nil {
				t.Fatal(err)
			}
		}
		ended := make(chan error, 2)
		go func() { ended <- s.Drain() }()
		go func() {
			_, err := s.Read(make([]byte, 1))
			ended <- err
		}()
		go s.Close() // perhaps before they wait, perhaps after
		for range 2 {
			if err := <-ended; err == nil {
				t.Error("no error")
			}
		}
		if _, err := s.ReadNow(make([]byte, 1)); err == nil || err == errNothingNow {
			t.Errorf("reading after the close: %v", err)
		}
		if err := s.WaitReadable(); err == nil {
			t.Error("waiting after the close: no error")
		}
		s.CloseGracefully(0) // it may come late
	})
}

// TestSocketGoodbye: what was written before a graceful close arrives, where that
// takes no time, and TLS ends in order.
func TestSocketGoodbye(t *testing.T) {
	onSockets(t, func(t *testing.T, s socket, peer net.Conn, can bool) {
		if _, ok := s.(*lentSocket); ok {
			if _, pumped := s.(*lentSocket).Conn.(*pump); pumped {
				go io.Copy(io.Discard, peer) // else a pipe takes nothing
				s.CloseGracefully(0)
				return
			}
		}
		if _, err := s.WriteNow([]byte("goodbye")); err != nil {
			t.Fatal(err)
		}
		s.CloseGracefully(0)
		if b, err := io.ReadAll(peer); err != nil || string(b) != "goodbye" {
			t.Errorf("%q, %v", b, err)
		}
	})
}

// TestSocketDeafPeer: answers that TLS gives by itself are not kept without end.
func TestSocketDeafPeer(t *testing.T) {
	client, server := testkit.Pipe()
	defer client.Close()
	defer server.Close()
	link, _ := secured(t, client, server, true)
	newSocket(link)
	var err error
	wrote := 0
	for ; err == nil && wrote < 10<<20; wrote += 100 {
		_, err = link.under.Write(make([]byte, 100))
	}
	if err != errPeerDeaf || wrote > 2*ownRoom {
		t.Errorf("%v after %d bytes", err, wrote)
	}
}

// TestSocketAllocations: the writes and looks of a call cost no allocation, but for
// what crypto/tls itself does.
func TestSocketAllocations(t *testing.T) {
	client, server := socketPair(t)
	s := newSocket(Link{Conn: client, Raw: client})
	raw := s.(*kernelSocket).raw
	box := newOutbox(client, raw)
	p, into, buf := make([]byte, 100), make([]byte, 200), make([]byte, 100)
	n := testing.AllocsPerRun(100, func() {
		if kept, err := s.WriteNow(p); kept || err != nil {
			t.Fatal(kept, err)
		}
		box.hold(len(p))
		box.put(p)
		if kept, err := box.letGo(); kept || err != nil {
			t.Fatal(kept, err)
		}
		if _, err := io.ReadFull(server, into); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ReadNow(buf); err != errNothingNow {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
