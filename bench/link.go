package main

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// The link of a long way: what is written arrives half a round trip later, at
// ten gigabits per second at most, as much of it as a sender is likely to have
// under way.
const (
	linkRoundTrip = 50 * time.Millisecond
	linkRate      = 1_250_000_000 // bytes per second
	linkRoom      = 64 * mib      // written and not yet read, in each direction
	linkPiece     = 64 * kib      // what arrives at once
)

// A link is a server of HTTP/2 at the far end of a long way, in this process.
type link struct{ server *server }

func newLink() *link { return &link{newServer()} }

// dial returns the near end of a new connection with the server. It does not take
// a round trip.
func (l *link) dial(context.Context, string, string) (net.Conn, error) {
	near, far := newLinkConns()
	go func() {
		defer far.Close()
		l.server.handleH2(far)
	}()
	return near, nil
}

func (l *link) counts() (serverCounts, error) { return l.server.counts.snapshot(), nil }

func (l *link) close() {}

// newLinkConns returns the two ends of a connection.
func newLinkConns() (near, far *linkConn) {
	up, down := newWire(), newWire()
	return &linkConn{in: down, out: up}, &linkConn{in: up, out: down}
}

// linkConn is one end of a connection. As with any net.Conn, one goroutine may
// read while another writes.
type linkConn struct{ in, out *wire }

func (c *linkConn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *linkConn) Write(p []byte) (int, error) { return c.out.write(p) }

func (c *linkConn) Close() error {
	c.in.closeReader()
	c.out.closeWriter()
	return nil
}

func (c *linkConn) SetDeadline(t time.Time) error {
	c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *linkConn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.reader, t)
	return nil
}

func (c *linkConn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(&c.out.writer, t)
	return nil
}

func (c *linkConn) LocalAddr() net.Addr  { return linkAddr{} }
func (c *linkConn) RemoteAddr() net.Addr { return linkAddr{} }

type linkAddr struct{}

func (linkAddr) Network() string { return "link" }
func (linkAddr) String() string  { return "link" }

// A wire is one direction of a connection.
type wire struct {
	mu      sync.Mutex
	changed sync.Cond
	pieces  []wirePiece
	unread  int       // bytes in pieces
	free    time.Time // when all that was written has left the sender
	reader  wireEnd
	writer  wireEnd
}

// wirePiece is some bytes and when they arrive.
type wirePiece struct {
	data []byte
	due  time.Time
}

// wireEnd is one end's side of a wire.
type wireEnd struct {
	closed   bool
	deadline time.Time   // zero is none
	timer    *time.Timer // wakes whoever waits at this end
}

func newWire() *wire {
	w := &wire{}
	w.changed.L = &w.mu
	return w
}

func (w *wire) read(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		now := time.Now()
		switch {
		case w.reader.closed:
			return 0, net.ErrClosed
		case w.reader.late(now):
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		}
		if n := w.take(p, now); n > 0 {
			w.changed.Broadcast()
			return n, nil
		}
		var due time.Time
		if len(w.pieces) > 0 {
			due = w.pieces[0].due
		} else if w.writer.closed {
			return 0, io.EOF
		}
		w.wait(&w.reader, now, due)
	}
}

// take moves bytes that have arrived by now into p.
func (w *wire) take(p []byte, now time.Time) int {
	n := 0
	for n < len(p) && len(w.pieces) > 0 && !w.pieces[0].due.After(now) {
		first := &w.pieces[0]
		got := copy(p[n:], first.data)
		n += got
		if first.data = first.data[got:]; len(first.data) == 0 {
			w.pieces[0] = wirePiece{}
			w.pieces = w.pieces[1:]
		}
	}
	w.unread -= n
	return n
}

func (w *wire) write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for {
		now := time.Now()
		switch {
		case w.writer.closed:
			return n, net.ErrClosed
		case w.writer.late(now):
			return n, os.ErrDeadlineExceeded
		case w.reader.closed:
			return n, syscall.EPIPE
		case n == len(p):
			return n, nil
		}
		size := min(len(p)-n, linkPiece)
		if w.unread+size > linkRoom {
			w.wait(&w.writer, now, time.Time{})
			continue
		}
		if w.free.Before(now) {
			w.free = now
		}
		w.free = w.free.Add(time.Duration(size) * time.Second / linkRate)
		w.pieces = append(w.pieces, wirePiece{append([]byte(nil), p[n:n+size]...), w.free.Add(linkRoundTrip / 2)})
		w.unread += size
		n += size
		if len(w.pieces) == 1 {
			w.changed.Broadcast() // else a reader that waits knows until when
		}
	}
}

// wait waits for a change, an end's deadline or a time, if there is one.
func (w *wire) wait(e *wireEnd, now, until time.Time) {
	if until.IsZero() || !e.deadline.IsZero() && e.deadline.Before(until) {
		until = e.deadline
	}
	if !until.IsZero() {
		if e.timer == nil {
			e.timer = time.AfterFunc(until.Sub(now), w.wake)
		} else {
			e.timer.Reset(until.Sub(now))
		}
	}
	w.changed.Wait()
}

func (w *wire) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed.Broadcast()
}

func (e *wireEnd) late(now time.Time) bool { return !e.deadline.IsZero() && !now.Before(e.deadline) }

func (w *wire) setDeadline(e *wireEnd, t time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.deadline = t
	w.changed.Broadcast()
}

// closeWriter has the reader find the end after all that was written.
func (w *wire) closeWriter() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writer.close(w)
}

// closeReader drops all that was not read, and has writes fail.
func (w *wire) closeReader() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pieces, w.unread = nil, 0
	w.reader.close(w)
}

func (e *wireEnd) close(w *wire) {
	e.closed = true
	if e.timer != nil {
		e.timer.Stop()
	}
	w.changed.Broadcast()
}
