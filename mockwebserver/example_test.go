package mockwebserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

// start is what New does for a test; examples are none.
func start(opts ...mockwebserver.Option) *mockwebserver.Server {
	server := mockwebserver.NewServer(opts...)
	if err := server.Start(); err != nil {
		panic(err)
	}
	return server
}

// show prints the response to a GET.
func show(client *http.Client, url string) {
	resp, err := client.Get(url)
	if err != nil {
		fmt.Println("error:", errors.Unwrap(err))
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Printf("%s %q %v\n", resp.Status, body, err)
}

// In a test, begin with mockwebserver.New(t), which also closes the server.
func Example() {
	server := mockwebserver.NewServer()
	if err := server.Start(); err != nil {
		panic(err)
	}
	defer server.Close()
	server.Enqueue(
		mockwebserver.Text("hello"),
		mockwebserver.Status(503).WithHeader("Retry-After", "1"),
	)

	client := &http.Client{}
	show(client, server.URL("/one"))
	show(client, server.URL("/two"))

	for range server.RequestCount() {
		r, err := server.TakeRequest(context.Background())
		if err != nil {
			panic(err)
		}
		fmt.Println(r.Method, r.Target, "is request", r.ExchangeIndex, "on connection", r.ConnectionIndex)
	}
	client.CloseIdleConnections()
	// Output:
	// 200 OK "hello" <nil>
	// 503 Service Unavailable "" <nil>
	// GET /one is request 0 on connection 0
	// GET /two is request 1 on connection 0
}

func ExampleWithTLS() {
	server := start(mockwebserver.WithTLS())
	defer server.Close()
	server.Enqueue(mockwebserver.Text("secret"))

	transport := &http.Transport{TLSClientConfig: server.ClientTLS()}
	defer transport.CloseIdleConnections()
	show(&http.Client{Transport: transport}, server.URL("/"))
	// Output: 200 OK "secret" <nil>
}

func ExampleResponse_WithEffect() {
	server := start()
	defer server.Close()
	server.Enqueue(
		mockwebserver.Text("0123456789").WithEffect(mockwebserver.AtResponseBody, mockwebserver.CloseConnection()),
		mockwebserver.Response{}.WithEffect(mockwebserver.AtRequestStart, mockwebserver.CloseConnection()),
	)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	show(client, server.URL("/"))
	show(client, server.URL("/"))
	// Output:
	// 200 OK "01234" unexpected EOF
	// error: EOF
}

func ExampleRaw() {
	server := start()
	defer server.Close()
	server.Enqueue(mockwebserver.Raw("HTTP/1.1 200 Fine\r\ncontent-LENGTH: 3\r\n\r\nabc"))
	show(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, server.URL("/"))
	// Output: 200 Fine "abc" <nil>
}

func ExampleResponse_WithBodyFunc() {
	server := start()
	defer server.Close()
	server.Enqueue(mockwebserver.Response{}.WithBodyFunc(-1, func(_ context.Context, w io.Writer) error {
		for i := range 3 {
			if _, err := fmt.Fprintf(w, "chunk %d. ", i); err != nil {
				return err
			}
		}
		return nil
	}))
	show(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, server.URL("/"))
	// Output: 200 OK "chunk 0. chunk 1. chunk 2. " <nil>
}

func ExampleDispatcherFunc() {
	server := start(mockwebserver.WithDispatcher(mockwebserver.DispatcherFunc(
		func(_ context.Context, r *mockwebserver.RecordedRequest) mockwebserver.Response {
			switch {
			case r.ExchangeIndex > 0:
				return mockwebserver.Text("welcome back")
			case r.Target == "/hello":
				return mockwebserver.Text("hello")
			}
			return mockwebserver.Status(404)
		})))
	defer server.Close()
	client := &http.Client{}
	defer client.CloseIdleConnections()
	show(client, server.URL("/hello"))
	show(client, server.URL("/hello"))
	// Output:
	// 200 OK "hello" <nil>
	// 200 OK "welcome back" <nil>
}

func ExampleHandler() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "user ", r.PathValue("id"))
	})
	server := start(mockwebserver.WithDispatcher(mockwebserver.Handler(mux)))
	defer server.Close()
	show(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, server.URL("/users/7"))
	// Output: 200 OK "user 7" <nil>
}

func ExampleResponse_WithUpgrade() {
	server := start()
	defer server.Close()
	server.Enqueue(mockwebserver.Response{}.WithUpgrade("shout", func(_ context.Context, conn net.Conn) error {
		_, err := io.WriteString(conn, "HELLO")
		return err
	}))
	req, _ := http.NewRequest("GET", server.URL("/"), nil)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "shout")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(resp.Body)
	fmt.Printf("%s: %s\n", resp.Status, said)
	// Output: 101 Switching Protocols: HELLO
}

// A test of a ten-second timeout takes no time: the server listens in memory,
// so that it works in the bubble of testing/synctest.
func ExamplePipe() {
	test := func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			pipe := mockwebserver.Pipe()
			server := mockwebserver.New(t, mockwebserver.WithListener(pipe))
			server.Enqueue(mockwebserver.Response{}.WithEffect(mockwebserver.AtResponseStart, mockwebserver.Stall()))

			transport := &http.Transport{DialContext: pipe.DialContext}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
			begin := time.Now()
			if _, err := client.Get(server.URL("/")); err == nil || time.Since(begin) != 10*time.Second {
				t.Errorf("got %v after %v", err, time.Since(begin))
			}
		})
	}
	_ = test // run by go test as func TestTimeout(t *testing.T)
}
