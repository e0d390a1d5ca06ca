package okhttp_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/certs"
	"github.com/okhttp-go/okhttp/internal/testkit"
)

// TestBadTLS is the part of the list that ends before HTTP begins.
func TestBadTLS(t *testing.T) {
	ca := certs.New(certs.WithCA(0))
	good := certs.New(certs.WithIssuer(ca), certs.WithNames("127.0.0.1"))
	var invalid x509.CertificateInvalidError
	var wrongHost x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	for _, test := range []struct {
		name    string
		held    *certs.Held
		plain   func(c *rawConn) // spoken in place of TLS
		text    string
		as      any
		is      error
		timeout bool
	}{
		{name: "expired", held: certs.New(certs.WithIssuer(ca), certs.WithNames("127.0.0.1"), certs.WithLifetime(-time.Hour)), as: &invalid, text: "expired"},
		{name: "wrong host", held: certs.New(certs.WithIssuer(ca), certs.WithNames("elsewhere.test")), as: &wrongHost, text: "127.0.0.1"},
		{name: "unknown authority", held: certs.Localhost(), as: &unknown, text: "unknown authority"},
		{name: "self-signed", held: certs.New(certs.WithNames("127.0.0.1")), as: &unknown},
		{name: "plain HTTP", plain: func(c *rawConn) { c.Read(make([]byte, 5)); c.send("HTTP/1.1 400 Bad Request\r\n\r\n") }, as: &record, text: "plain HTTP"},
		{name: "garbage", plain: func(c *rawConn) { c.Read(make([]byte, 5)); c.send("garbage in place of TLS") }, as: &record, text: "does not speak TLS"},
		{name: "closes at once", plain: (*rawConn).finish, is: io.EOF, text: "closed the connection"},
		{name: "resets", plain: func(c *rawConn) { c.Read(make([]byte, 5)); c.reset() }, is: syscall.ECONNRESET},
		{name: "an alert", plain: func(c *rawConn) { c.Read(make([]byte, 5)); c.send("\x15\x03\x03\x00\x02\x02\x28") }, text: "handshake failure"},
		{name: "silence", plain: func(*rawConn) {}, timeout: true, is: okhttp.ErrConnectTimeout},
		{name: "half a record", plain: func(c *rawConn) { c.send("\x16\x03\x03\x10\x00half") }, timeout: true, is: okhttp.ErrConnectTimeout},
	} {
		t.Run(test.name, func(t *testing.T) {
			testkit.CheckGoroutines(t)
			server := serveRaw(t, func(n int, c *rawConn) {
				held := good
				if n == 0 {
					if test.plain != nil {
						test.plain(c)
						return
					}
					held = test.held
				}
				over := tls.Server(c.Conn, held.ServerConfig())
				if over.Handshake() == nil {
					(&rawConn{over, newReader(over)}).answerFine()
				}
			})
			client := okhttp.New(okhttp.WithTLSConfig(certs.ClientConfig(ca)))
			defer client.Close()
			url := "https://user:" + secretUser + "@" + server.Addr() + "/?key=" + secretQuery
			opts := []okhttp.Option{}
			if test.timeout {
				// The connect timeout is also part of what an interceptor may set.
				opts = append(opts, okhttp.WithConnectTimeout(shortWait))
			}
			_, _, err := fetch(client, newRequest(t, "GET", url, nil), opts...)
			checkBadInputError(t, err, okhttp.PhaseTLS, server.Addr(), badInput{
				text: test.text, is: test.is, timeout: test.timeout,
				as: func(err error) bool { return test.as == nil || errors.As(err, test.as) },
			})
			if !okhttp.SafeToRetry(err) {
				t.Error("nothing was sent, so it is safe to retry")
			}
			server.WaitOpen(0)
			wantFine(t, client, "https://"+server.Addr()+"/")
			client.Close()
			server.WaitOpen(0)
		})
	}
}

// TestConnectRefused and the next test are the part that ends before a socket.
func TestConnectRefused(t *testing.T) {
	testkit.CheckGoroutines(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	client := okhttp.New()
	defer client.Close()
	req := newRequest(t, "POST", "http://user:"+secretUser+"@"+addr+"/?key="+secretQuery, nil)
	body := &trackedBody{Reader: strings.NewReader("unsent")}
	req.Body = body
	_, _, err = fetch(client, req)
	checkBadInputError(t, err, okhttp.PhaseConnect, addr, badInput{is: syscall.ECONNREFUSED})
	if !okhttp.SafeToRetry(err) || body.reads.Load() != 0 {
		t.Errorf("safe %t, %d reads of the body", okhttp.SafeToRetry(err), body.reads.Load())
	}
	waitForCloses(t, body)
	if ln, err = net.Listen("tcp", addr); err != nil {
		t.Skip("the port was taken meanwhile")
	}
	server := serveRawOn(t, ln, nil, func(_ int, c *rawConn) { c.answerFine() })
	wantFine(t, client, server.URL("/"))
}

func TestConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := testkit.NewNet()
		host := network.Host("192.0.2.1")
		host.BlackHole()
		client := okhttp.New(okhttp.WithAddressDialer(network.DialContext), okhttp.WithConnectTimeout(3*time.Second))
		defer client.Close()
		start := time.Now()
		_, _, err := fetch(client, newRequest(t, "GET", "http://user:"+secretUser+"@192.0.2.1/?key="+secretQuery, nil))
		checkBadInputError(t, err, okhttp.PhaseConnect, "192.0.2.1:80", badInput{is: okhttp.ErrConnectTimeout, timeout: true})
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		host.Answer()
		serveRawOn(t, host.Listen(80), nil, func(_ int, c *rawConn) { c.answerFine() })
		wantFine(t, client, "http://192.0.2.1/")
		client.Close()
		if n := network.OpenSockets(); n != 0 {
			t.Errorf("%d sockets are open", n)
		}
	})
}

// TestSecondResponseAnswersNobody: bytes behind a response are never taken for
// the answer to the next request, whenever and however they come.
func TestSecondResponseAnswersNobody(t *testing.T) {
	const evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"
	long := strings.Repeat("x", 100_000)
	longHead := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(long))
	page := strings.Repeat("y", 8<<10) // what the client reads at once
	for _, test := range []struct {
		name, method string
		parts        []string // each one a write, and so a TLS record
	}{
		{"in one piece", "GET", []string{fineAnswer + evil}},
		{"in two pieces", "GET", []string{fineAnswer, evil}},
		{"behind an empty body", "GET", []string{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", evil}},
		{"behind a HEAD response", "HEAD", []string{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", evil}},
		{"as the body of a HEAD response", "HEAD", []string{"HTTP/1.1 200 OK\r\nContent-Length: 44\r\n\r\n" + evil}},
		{"behind a 204", "GET", []string{"HTTP/1.1 204 No Content\r\n\r\n", evil}},
		{"behind a 304", "GET", []string{"HTTP/1.1 304 Not Modified\r\nContent-Length: 44\r\n\r\n" + evil}},
		{"behind a long body", "GET", []string{longHead, long + evil}},
		{"behind a long body, apart", "GET", []string{longHead, long, evil}},
		{"behind a page", "GET", []string{"HTTP/1.1 200 OK\r\nContent-Length: 8192\r\n\r\n", page + evil}},
		{"behind chunks", "GET", []string{chunkedHead + "4\r\nfine\r\n0\r\n\r\n" + evil}},
		{"behind chunks, apart", "GET", []string{chunkedHead + "4\r\nfine\r\n0\r\n\r\n", evil}},
		{"behind long chunks", "GET", []string{chunkedHead, fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(long), long) + evil}},
		{"behind both lengths", "GET", []string{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", evil}},
	} {
		for _, over := range []string{"plain", "TLS"} {
			t.Run(test.name+" over "+over, func(t *testing.T) {
				held := certs.Localhost()
				var config *tls.Config
				if over == "TLS" {
					config = held.ServerConfig()
				}
				sent := make(chan struct{})
				server := serveRawTLS(t, config, func(n int, c *rawConn) {
					if n > 0 {
						c.answerFine()
						return
					}
					c.head()
					c.send(test.parts...)
					close(sent)
				})
				client := okhttp.New(okhttp.WithTLSConfig(certs.ClientConfig(held.Root())))
				defer client.Close()
				if _, _, err := fetch(client, newRequest(t, test.method, server.URL("/"), nil)); err != nil {
					t.Fatal(err)
				}
				<-sent
				wantFine(t, client, server.URL("/"))
				if n := server.Accepted(); n != 2 {
					t.Errorf("%d connections", n)
				}
				server.WaitOpen(1)
			})
		}
	}
}
