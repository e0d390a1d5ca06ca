package mockwebserver_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

// newClient returns a client with connections of its own.
func newClient(t *testing.T, server *mockwebserver.Server) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	if server.Certificate() != nil {
		transport.TLSClientConfig = server.ClientTLS()
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// fetch makes a GET and reads the response.
func fetch(client *http.Client, url string) (*http.Response, string, error) {
	resp, err := client.Get(url)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func mustFetch(t *testing.T, client *http.Client, url string) (*http.Response, string) {
	t.Helper()
	resp, body, err := fetch(client, url)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

// exchangeRaw sends bytes over a new connection and returns all that comes back.
func exchangeRaw(t *testing.T, server *mockwebserver.Server, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func TestGet(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Text("hello").WithHeader("X-One", "1"), mockwebserver.Status(404))
	client := newClient(t, server)

	resp, body := mustFetch(t, client, server.URL("/a?b=c"))
	if resp.StatusCode != 200 || body != "hello" || resp.Header.Get("X-One") != "1" || resp.ContentLength != 5 {
		t.Errorf("got %v %q", resp, body)
	}
	if resp, _ = mustFetch(t, client, server.URL("second")); resp.StatusCode != 404 {
		t.Errorf("got %v", resp)
	}

	r := server.RequireRequest(t)
	if r.Method != "GET" || r.Target != "/a?b=c" || r.Version != "HTTP/1.1" || r.Body != nil || r.TLS != nil {
		t.Errorf("got %+v", r)
	}
	if got := r.URL().String(); got != server.URL("/a?b=c") {
		t.Errorf("URL = %s", got)
	}
	if r = server.RequireRequest(t); r.Target != "/second" || r.ConnectionIndex != 0 || r.ExchangeIndex != 1 {
		t.Errorf("got %+v", r)
	}
	if server.RequestCount() != 2 || server.ConnectionCount() != 1 {
		t.Errorf("%d requests, %d connections", server.RequestCount(), server.ConnectionCount())
	}
}

func TestPostFixedAndChunked(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Response{}, mockwebserver.Response{})
	client := newClient(t, server)

	for _, body := range []io.Reader{strings.NewReader("fixed"), io.MultiReader(strings.NewReader("abc"), strings.NewReader("defg"))} {
		req, err := http.NewRequest("POST", server.URL("/"), body)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if r := server.RequireRequest(t); r.Text() != "fixed" || r.BodySize != 5 || r.ChunkSizes != nil {
		t.Errorf("got %+v", r)
	}
	r := server.RequireRequest(t)
	if r.Text() != "abcdefg" || fmt.Sprint(r.ChunkSizes) != "[3 4]" || r.ExchangeIndex != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestTLS(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithTLS("example.test"), mockwebserver.WithClientAuth(tls.RequireAndVerifyClientCert))
	server.Enqueue(mockwebserver.Text("secret"))
	client := newClient(t, server)
	config := client.Transport.(*http.Transport).TLSClientConfig
	config.ServerName, config.NextProtos = "example.test", []string{"http/1.1"}

	resp, body := mustFetch(t, client, server.URL("/"))
	if body != "secret" || resp.TLS == nil {
		t.Errorf("got %q", body)
	}
	r := server.RequireRequest(t)
	if r.SNI != "example.test" || r.TLS.NegotiatedProtocol != "http/1.1" || r.TLS.PeerCertificates[0].Subject.CommonName != "mockwebserver client" {
		t.Errorf("got %+v", r)
	}
	if !strings.HasPrefix(server.URL("/"), "https://127.0.0.1:") {
		t.Error(server.URL("/"))
	}
}

func TestSynctestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := mockwebserver.Pipe()
		server := mockwebserver.New(t, mockwebserver.WithListener(pipe), mockwebserver.WithTLS())
		server.Enqueue(
			mockwebserver.Text("slow").WithHeadDelay(10*time.Second).WithBodyDelay(5*time.Second),
			mockwebserver.Response{}.WithEffect(mockwebserver.AtResponseStart, mockwebserver.Stall()),
		)
		transport := &http.Transport{DialContext: pipe.DialContext, TLSClientConfig: server.ClientTLS()}
		client := &http.Client{Transport: transport}
		defer transport.CloseIdleConnections()

		start := time.Now()
		_, body := mustFetch(t, client, server.URL("/"))
		if took := time.Since(start); body != "slow" || took != 15*time.Second {
			t.Errorf("got %q after %v", body, took)
		}

		client.Timeout = time.Hour
		_, _, err := fetch(client, server.URL("/"))
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() || time.Since(start) != time.Hour+15*time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		if err := server.WaitOpen(t.Context(), 0); err != nil {
			t.Error(err)
		}
	})
}

func TestBadRequests(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithHeadLimit(1000))
	for _, tc := range []struct{ name, request, status string }{
		{"garbage", "hello\r\n\r\n", "400"},
		{"binary", "\x16\x03\x01\x00\n", "400"},
		{"version", "GET / HTTP/3.0\r\n\r\n", "505"},
		{"endless head", "GET / HTTP/1.1\r\nA: " + strings.Repeat("b", 2000), "431"},
		{"no colon", "GET / HTTP/1.1\r\nabc\r\n\r\n", "400"},
		{"fold", "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", "400"},
		{"two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"},
		{"negative length", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "400"},
		{"both framings", "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
		{"bad chunk", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "400"},
		{"chunk too long", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n", "400"},
		{"hang up in head", "GET / HTTP/1.1\r\nA:", "400"},
		{"hang up in body", "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc", "400"},
		{"hang up in chunk", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "400"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answer := exchangeRaw(t, server, tc.request)
			if !strings.HasPrefix(answer, "HTTP/1.1 "+tc.status+" ") {
				t.Errorf("got %q", answer)
			}
			if r := server.RequireRequest(t); r.Failure == nil {
				t.Errorf("no failure in %+v", r)
			} else {
				t.Log(r.Failure)
			}
		})
	}
	server.Enqueue(mockwebserver.Text("fine"))
	if _, body := mustFetch(t, newClient(t, server), server.URL("/")); body != "fine" {
		t.Errorf("got %q", body)
	}
}

func TestCloseWhileStalled(t *testing.T) {
	for _, at := range []mockwebserver.Trigger{
		mockwebserver.AtAccept, mockwebserver.AtTLSHandshake, mockwebserver.AtRequestStart, mockwebserver.AtRequestBody,
		mockwebserver.AtRequestEnd, mockwebserver.AtResponseStart, mockwebserver.AtResponseBody, mockwebserver.AtResponseEnd,
	} {
		t.Run(at.String(), func(t *testing.T) {
			reached := make(chan struct{})
			signal := mockwebserver.Call(func(context.Context) { close(reached) })
			server := mockwebserver.New(t, mockwebserver.WithTLS())
			server.Enqueue(mockwebserver.Text("hello").WithEffect(at, signal, mockwebserver.Stall()))
			client := newClient(t, server)
			failed := make(chan error, 1)
			go func() {
				resp, err := client.Post(server.URL("/"), "text/plain", strings.NewReader("body"))
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				failed <- err
			}()
			<-reached
			start := time.Now()
			if err := server.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("Close took %v", took)
			}
			if err := <-failed; (err == nil) != (at == mockwebserver.AtResponseEnd) {
				t.Errorf("the client got %v", err)
			}
		})
	}
}
