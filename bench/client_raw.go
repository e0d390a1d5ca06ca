package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// rawClient is the limit: the same request bytes each time, blocking calls on a
// net.Conn, and of the response only the status and the length looked at.
type rawClient struct {
	env    environment
	config *tls.Config

	mu    sync.Mutex
	conns []net.Conn // those it keeps
}

func newRaw(env environment) (*rawClient, error) {
	config, err := env.tlsConfig()
	if err != nil {
		return nil, err
	}
	if config != nil {
		config.ServerName = "127.0.0.1"
	}
	return &rawClient{env: env, config: config}, nil
}

func (c *rawClient) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
}

func (c *rawClient) dial() (net.Conn, error) {
	if c.env.link != nil {
		return c.env.link.dial(context.Background(), "", "")
	}
	conn, err := net.Dial("tcp", c.env.address())
	if err != nil || c.config == nil {
		return conn, err
	}
	secure := tls.Client(conn, c.config)
	if err := secure.Handshake(); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// dialKept dials a connection that lasts as long as the client.
func (c *rawClient) dialKept() (net.Conn, error) {
	conn, err := c.dial()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conn)
	return conn, nil
}

func (c *rawClient) worker(x exchange) (worker, error) {
	w := &rawWorker{client: c, x: x, payload: newPayload(x), request: rawRequest(c.env, x)}
	size := 4 * kib
	if x.want > int64(size) || x.body == streamBody {
		size = 256 * kib
	}
	w.buf = make([]byte, size)
	if x.body == bytesBody && x.size <= size {
		w.request = append(w.request, w.payload.data...)
		w.payload.data = nil
	}
	if !x.fresh {
		var err error
		if w.conn, err = c.dialKept(); err != nil {
			return worker{}, err
		}
	}
	if x.toFile {
		return worker{call: w.callToFile, after: func() error { return removeFile(w.file) }}, nil
	}
	return worker{call: w.call}, nil
}

// rawRequest returns the head of the exchange's request.
func rawRequest(env environment, x exchange) []byte {
	head := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: raw\r\n", x.method, x.path, env.address())
	switch x.body {
	case noBody:
	case bytesBody:
		head = fmt.Appendf(head, "Content-Length: %d\r\n", x.size)
	case streamBody:
		head = append(head, "Transfer-Encoding: chunked\r\n"...)
	}
	if x.fresh {
		head = append(head, "Connection: close\r\n"...)
	}
	return append(head, "\r\n"...)
}

type rawWorker struct {
	client  *rawClient
	x       exchange
	payload payload
	conn    net.Conn
	request []byte
	buf     []byte
	zipped  bufio.Reader
	unzip   gzip.Reader
	file    *os.File
}

func (w *rawWorker) call() error {
	if w.x.fresh {
		conn, err := w.client.dial()
		if err != nil {
			return err
		}
		defer conn.Close()
		w.conn = conn
	}
	if w.x.timeout > 0 {
		w.conn.SetDeadline(time.Now().Add(w.x.timeout))
	}
	length, rest, err := w.exchange()
	if err != nil {
		return err
	}
	if w.x.gzip {
		n, err := w.inflate(length, rest)
		return checkLength(n, w.x.want, err)
	}
	left := length - int64(len(rest))
	for left > 0 {
		n, err := w.conn.Read(w.buf)
		left -= int64(n)
		if err != nil {
			return err
		}
	}
	return checkLength(length-left, w.x.want, nil)
}

func (w *rawWorker) callToFile() error {
	file, err := os.CreateTemp("", "okhttp-bench-")
	if err != nil {
		return err
	}
	w.file = file
	length, rest, err := w.exchange()
	if err != nil {
		return err
	}
	if _, err := file.Write(rest); err != nil {
		return err
	}
	// A file splices from a connection, even from so much of one.
	left := length - int64(len(rest))
	n, err := io.Copy(file, io.LimitReader(w.conn, left))
	return checkLength(n, left, err)
}

// exchange sends the request and reads the response's head. It returns the
// length of the body and what came of it so far.
func (w *rawWorker) exchange() (length int64, rest []byte, err error) {
	if _, err := w.conn.Write(w.request); err != nil {
		return 0, nil, err
	}
	if w.x.body == streamBody {
		err = w.sendChunks()
	} else if len(w.payload.data) > 0 {
		_, err = w.conn.Write(w.payload.data)
	}
	if err != nil {
		return 0, nil, err
	}
	return readResponseHead(w.conn, w.buf)
}

// sendChunks sends the payload in chunks as large as the buffer allows, each in
// one write.
func (w *rawWorker) sendChunks() error {
	const room = 8 // for the size line of a chunk
	from := w.payload.rewound()
	for {
		n, err := io.ReadFull(from, w.buf[room:len(w.buf)-2])
		if n > 0 {
			line := strconv.AppendInt(make([]byte, 0, room), int64(n), 16)
			line = append(line, "\r\n"...)
			start := room - len(line)
			copy(w.buf[start:], line)
			copy(w.buf[room+n:], "\r\n")
			if _, err := w.conn.Write(w.buf[start : room+n+2]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			_, err := io.WriteString(w.conn, "0\r\n\r\n")
			return err
		}
		if err != nil {
			return err
		}
	}
}

// inflate reads a compressed body and returns the length of the plain one.
func (w *rawWorker) inflate(length int64, rest []byte) (int64, error) {
	// rest lies in buf, which is free to be read into once rest was read.
	rest = slices.Clone(rest)
	w.zipped.Reset(io.MultiReader(bytes.NewReader(rest), io.LimitReader(w.conn, length-int64(len(rest)))))
	if err := w.unzip.Reset(&w.zipped); err != nil {
		return 0, err
	}
	var plain int64
	for {
		n, err := w.unzip.Read(w.buf)
		plain += int64(n)
		if errors.Is(err, io.EOF) {
			return plain, nil
		}
		if err != nil {
			return plain, err
		}
	}
}

// readResponseHead reads into buf up to the end of a response's head. It returns
// the length of the body and what came of it so far.
func readResponseHead(conn net.Conn, buf []byte) (length int64, rest []byte, err error) {
	n := 0
	for {
		got, err := conn.Read(buf[n:])
		n += got
		end := bytes.Index(buf[:n], []byte("\r\n\r\n"))
		if end < 0 {
			if err == nil && n == len(buf) {
				err = errors.New("head does not fit")
			}
			if err != nil {
				return 0, nil, err
			}
			continue
		}
		if !bytes.HasPrefix(buf, []byte("HTTP/1.1 200 ")) {
			return 0, nil, fmt.Errorf("answer %.20q", buf[:n])
		}
		_, after, _ := bytes.Cut(buf[:end+2], []byte("\r\nContent-Length: "))
		for _, digit := range after {
			if digit < '0' || digit > '9' {
				break
			}
			length = length*10 + int64(digit-'0')
		}
		return length, buf[end+4 : n], nil
	}
}

func (c *rawClient) hold(x exchange, _ int) (func() error, error) {
	conn, err := c.dialKept()
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(rawRequest(c.env, x)); err != nil {
		return nil, err
	}
	var buf [kib]byte
	length, rest, err := readResponseHead(conn, buf[:])
	if err != nil {
		return nil, err
	}
	left := int(length) - len(rest)
	return func() error {
		_, err := io.ReadFull(conn, make([]byte, left))
		return err
	}, nil
}
