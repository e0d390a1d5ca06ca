package mockwebserver

import (
	"context"
	"net"
	"sync"
)

// PipeListener is a listener for connections within the process: no socket is
// involved, so a server on it, and its clients, work inside a testing/synctest
// bubble, where a timeout of ten seconds passes in microseconds.
//
// Connections behave like TCP's: each direction holds 64 KiB before a writer
// blocks, either side can close half of the connection (CloseWrite, CloseRead),
// a close is seen as io.EOF after the data, SetLinger(0) before Close makes the
// peer's reads and writes fail with ECONNRESET, and deadlines work.
//
// It is safe for concurrent use.
type PipeListener struct {
	accepts chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

// Pipe makes a listener for connections within the process:
//
//	pipe := mockwebserver.Pipe()
//	server := mockwebserver.New(t, mockwebserver.WithListener(pipe))
//	client := &http.Client{Transport: &http.Transport{DialContext: pipe.DialContext}}
//
// Inside a synctest bubble it must be made in that bubble.
func Pipe() *PipeListener {
	return &PipeListener{accepts: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial opens a connection to the listener. It waits until the connection is
// accepted; a server accepts at once. Once the listener is closed it fails
// with ECONNREFUSED.
func (l *PipeListener) Dial(ctx context.Context) (net.Conn, error) {
	client, server := newPipeConns()
	select {
	case <-l.closed:
		return nil, pipeError("dial", errRefused)
	default:
	}
	select {
	case l.accepts <- server:
		return client, nil
	case <-l.closed:
		return nil, pipeError("dial", errRefused)
	case <-ctx.Done():
		return nil, pipeError("dial", context.Cause(ctx))
	}
}

// DialContext is Dial in the shape of net.Dialer.DialContext. It ignores
// network and addr: every address leads here.
func (l *PipeListener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	return l.Dial(ctx)
}

// Accept waits for the next connection.
func (l *PipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.accepts:
		return conn, nil
	case <-l.closed:
		return nil, pipeError("accept", net.ErrClosed)
	}
}

// Close makes Accept and later dials fail. Open connections stay open.
func (l *PipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns an address that says "localhost:80", on the network "pipe".
func (l *PipeListener) Addr() net.Addr { return pipeAddr("localhost:80") }

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }
