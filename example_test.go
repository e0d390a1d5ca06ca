package okhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/dns"
	"github.com/okhttp-go/okhttp/mockwebserver"
)

// startServer starts a server that gives these responses, one to each request.
func startServer(responses ...mockwebserver.Response) *mockwebserver.Server {
	server := mockwebserver.NewServer()
	server.Enqueue(responses...)
	if err := server.Start(); err != nil {
		panic(err)
	}
	return server
}

// A Client is an http.RoundTripper: one line changes an existing program.
func Example() {
	server := startServer(mockwebserver.Text("hello"))
	defer server.Close()

	transport := okhttp.New()
	defer transport.Close()
	client := http.Client{Transport: transport}

	resp, err := client.Get(server.URL("/"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, string(body), err)
	// Output: 200 OK hello <nil>
}

func ExampleClient_Do() {
	server := startServer(
		mockwebserver.Status(302).WithHeader("Location", "/new"),
		mockwebserver.Text("found it"))
	defer server.Close()
	client := okhttp.New()
	defer client.Close()

	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server.URL("/old"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Accept", "text/plain")
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err) // there is no response; a status is never an error
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(resp.Request.URL.Path, string(body), err)
	// Output: /new found it <nil>
}

func ExampleClient_Get() {
	server := startServer(mockwebserver.Text("hello"))
	defer server.Close()
	client := okhttp.New()
	defer client.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	resp, err := client.Get(ctx, server.URL("/"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(string(body), err)
	// Output: hello <nil>
}

func ExampleClient_PostForm() {
	server := startServer(mockwebserver.Status(201))
	defer server.Close()
	client := okhttp.New()
	defer client.Close()

	resp, err := client.PostForm(context.Background(), server.URL("/cities"), url.Values{"name": {"São Paulo"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	request, err := server.TakeRequest(context.Background())
	fmt.Println(resp.Status, request.Method, request.Text(), err)
	// Output: 201 Created POST name=S%C3%A3o+Paulo <nil>
}

// Enqueue runs a call on a goroutine of its own, within the dispatcher's limits.
func ExampleCall_Enqueue() {
	server := startServer(mockwebserver.Text("later"))
	defer server.Close()
	client := okhttp.New()
	defer client.Close()
	client.Dispatcher().SetMaxCallsPerHost(2) // default: 5, and 64 in all

	req, err := http.NewRequest(http.MethodGet, server.URL("/"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	call := client.NewCall(req, okhttp.WithReadTimeout(time.Minute)) // for this call alone
	call.Enqueue(func(resp *http.Response, err error) {
		defer close(done)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		fmt.Println(string(body), err)
	})
	<-done // meanwhile call.Cancel would end it
	// Output: later <nil>
}

// An application interceptor sees one request and one response, whatever
// redirects and repeats there are below it. It may change the request, answer
// by itself, or proceed again.
func ExampleWithInterceptor() {
	server := startServer(mockwebserver.Status(500), mockwebserver.Text("at last"))
	defer server.Close()

	retry := okhttp.InterceptorFunc(func(chain *okhttp.Chain) (*http.Response, error) {
		for attempt := 1; ; attempt++ {
			resp, err := chain.Proceed(chain.Request())
			if err != nil || resp.StatusCode < 500 || attempt == 3 || chain.Request().Method != http.MethodGet {
				return resp, err
			}
			resp.Body.Close() // before proceeding again
		}
	})
	client := okhttp.New(okhttp.WithInterceptor(retry))
	defer client.Close()

	resp, err := client.Get(context.Background(), server.URL("/"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status, server.RequestCount())
	// Output: 200 OK 2
}

// A network interceptor sees each request as it goes out, with the headers that
// the client added, and knows the connection.
func ExampleWithNetworkInterceptor() {
	server := startServer(
		mockwebserver.Status(302).WithHeader("Location", "/b"),
		mockwebserver.Text("done"))
	defer server.Close()

	client := okhttp.New(okhttp.WithNetworkInterceptor(okhttp.InterceptorFunc(
		func(chain *okhttp.Chain) (*http.Response, error) {
			req := chain.Request()
			resp, err := chain.Proceed(req)
			if err == nil {
				fmt.Println(chain.Connection().Protocol(), req.URL.Path, req.Header.Get("Accept-Encoding"), resp.StatusCode)
			}
			return resp, err
		})))
	defer client.Close()

	resp, err := client.Get(context.Background(), server.URL("/a"))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	// Output:
	// http/1.1 /a gzip 302
	// http/1.1 /b gzip 200
}

type bearer struct{ next http.RoundTripper }

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer s3cret")
	return b.next.RoundTrip(req)
}

// Middleware makes an interceptor of any wrapper of an http.RoundTripper.
func ExampleMiddleware() {
	server := startServer(mockwebserver.Text("ok"))
	defer server.Close()

	// type bearer struct{ next http.RoundTripper }, with a RoundTrip method
	client := okhttp.New(okhttp.WithInterceptor(okhttp.Middleware(
		func(next http.RoundTripper) http.RoundTripper { return bearer{next} })))
	defer client.Close()

	resp, err := client.Get(context.Background(), server.URL("/"))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	request, err := server.TakeRequest(context.Background())
	fmt.Println(request.Header.Get("Authorization"), err)
	// Output: Bearer s3cret <nil>
}

// A listener for all calls of a client gets their events, one after another for
// each call.
func ExampleWithEventListener() {
	server := startServer(mockwebserver.Text("one"), mockwebserver.Text("two"))
	defer server.Close()

	client := okhttp.New(okhttp.WithEventListener(okhttp.EventListenerFunc(
		func(call *okhttp.Call, event okhttp.Event) {
			switch e := event.(type) {
			case okhttp.ConnectionAcquired:
				fmt.Println(call.Request().URL.Path, "connection", e.Connection.ID(), "reused:", e.Reused)
			case okhttp.RetryDecision:
				fmt.Println("retry:", e.Retry, e.Reason)
			case okhttp.ResponseBodyEnd:
				fmt.Println(call.Request().URL.Path, e.Bytes, "bytes")
			case okhttp.CallFailed:
				fmt.Println("failed:", e.Err)
			}
		})))
	defer client.Close()

	for _, path := range []string{"/1", "/2"} {
		resp, err := client.Get(context.Background(), server.URL(path))
		if err != nil {
			fmt.Println(err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	// Output:
	// /1 connection 1 reused: false
	// /1 3 bytes
	// /2 connection 1 reused: true
	// /2 3 bytes
}

// callTimer is the listener of one call.
type callTimer struct {
	start     time.Time
	exchanges int
}

func (c *callTimer) OnEvent(call *okhttp.Call, event okhttp.Event) {
	switch event.(type) {
	case okhttp.CallStart:
		c.start = time.Now()
	case okhttp.RequestHeadersStart:
		c.exchanges++
	case okhttp.CallEnd:
		fmt.Println(call.Request().URL.Path, c.exchanges, "exchanges", time.Since(c.start) < time.Minute)
	}
}

// A factory makes a listener for each call, whose fields are that call's state.
func ExampleWithEventListenerFactory() {
	server := startServer(
		mockwebserver.Status(302).WithHeader("Location", "/new"),
		mockwebserver.Text("here"))
	defer server.Close()

	client := okhttp.New(okhttp.WithEventListenerFactory(func(*okhttp.Call) okhttp.EventListener {
		return &callTimer{} // OnEvent of which counts RequestHeadersStart, and prints at CallEnd
	}))
	defer client.Close()

	resp, err := client.Get(context.Background(), server.URL("/old"))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	// Output: /old 2 exchanges true
}

// A resolver decides which addresses a host has; the URL, the Host header and TLS
// keep the name.
func ExampleWithDNS() {
	server := startServer(mockwebserver.Text("found"))
	defer server.Close()

	client := okhttp.New(okhttp.WithDNS(dns.Static(map[string][]netip.Addr{
		"api.example": {netip.MustParseAddr("127.0.0.1")},
	})))
	defer client.Close()

	resp, err := client.Get(context.Background(), fmt.Sprintf("http://api.example:%d/", server.Port()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)

	_, err = client.Get(context.Background(), "http://other.example/")
	var failed *okhttp.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Phase, okhttp.SafeToRetry(err))
	}
	// Output:
	// 200 OK
	// dns true
}

// A dialer decides where a connection leads: here, into the same process.
func ExampleWithDialer() {
	pipe := mockwebserver.Pipe()
	server := mockwebserver.NewServer(mockwebserver.WithListener(pipe))
	server.Enqueue(mockwebserver.Text("no socket involved"))
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	client := okhttp.New(okhttp.WithDialer(pipe.DialContext))
	defer client.Close()

	resp, err := client.Get(context.Background(), "http://anything/")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(string(body), err)
	// Output: no socket involved <nil>
}

// Each timeout has its own error; all are also context.DeadlineExceeded.
func ExampleWithCallTimeout() {
	server := startServer(mockwebserver.Response{}.WithEffect(mockwebserver.AtResponseStart, mockwebserver.Stall()))
	defer server.Close()
	client := okhttp.New(okhttp.WithCallTimeout(20 * time.Millisecond))
	defer client.Close()

	_, err := client.Get(context.Background(), server.URL("/slow"))

	var failed *okhttp.Error
	switch {
	case errors.Is(err, okhttp.ErrCallTimeout):
		fmt.Println("the whole call took too long")
	case errors.Is(err, okhttp.ErrConnectTimeout), errors.Is(err, okhttp.ErrReadTimeout), errors.Is(err, okhttp.ErrWriteTimeout):
		fmt.Println("one step took too long")
	case errors.Is(err, context.Canceled):
		fmt.Println("somebody canceled it")
	case errors.Is(err, okhttp.ErrOutcomeUnknown):
		fmt.Println("the server may have processed it")
	}
	if errors.As(err, &failed) {
		fmt.Println("phase:", failed.Phase)
	}
	fmt.Println("deadline:", errors.Is(err, context.DeadlineExceeded), "safe to retry:", okhttp.SafeToRetry(err))
	// Output:
	// the whole call took too long
	// phase: receive
	// deadline: true safe to retry: false
}

// A request that may have been processed is only repeated if it is idempotent;
// a key that the server understands makes it so.
func ExampleWithIdempotent() {
	drop := mockwebserver.Response{}.WithEffect(mockwebserver.AtRequestEnd, mockwebserver.CloseConnection())
	server := startServer(mockwebserver.Text("warm"), drop, mockwebserver.Text("warm"), drop, mockwebserver.Status(201))
	defer server.Close()
	client := okhttp.New()
	defer client.Close()
	warm := func() {
		if resp, err := client.Get(context.Background(), server.URL("/")); err == nil {
			resp.Body.Close()
		}
	}

	warm()
	_, err := client.Post(context.Background(), server.URL("/orders"), "text/plain", strings.NewReader("one tea"))
	fmt.Println("outcome unknown:", errors.Is(err, okhttp.ErrOutcomeUnknown))

	warm()
	req, _ := http.NewRequest(http.MethodPost, server.URL("/orders"), strings.NewReader("one tea"))
	req.Header.Set("Idempotency-Key", "order-17")
	resp, err := client.Do(req) // or client.NewCall(req, okhttp.WithIdempotent(true)).Execute()
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	fmt.Println(resp.Status)
	// Output:
	// outcome unknown: true
	// 201 Created
}

// InfoOf tells how a response came about.
func ExampleInfoOf() {
	server := startServer(
		mockwebserver.Status(301).WithHeader("Location", "/new"),
		mockwebserver.Text("hi").WithGzip())
	defer server.Close()
	client := okhttp.New()
	defer client.Close()

	resp, err := client.Get(context.Background(), server.URL("/old"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	info := okhttp.InfoOf(resp)
	fmt.Println(info.Protocol, info.Connection.ID(), info.Prior.StatusCode, info.ReceivedAt.After(info.SentAt))
	fmt.Println(resp.Uncompressed, info.Network.Header.Get("Content-Encoding"))
	// Output:
	// http/1.1 1 301 true
	// true gzip
}

// Header names go out in the order and the case that are given here.
func ExampleWithHeaderOrder() {
	server := startServer(mockwebserver.Text("ok"))
	defer server.Close()
	client := okhttp.New(okhttp.WithHeaderOrder("user-agent", "X-API-key", "Host"))
	defer client.Close()

	req, _ := http.NewRequest(http.MethodGet, server.URL("/"), nil)
	req.Header.Set("X-Api-Key", "k")
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	request, _ := server.TakeRequest(context.Background())
	for _, line := range request.Header {
		fmt.Println(line.Name)
	}
	// Output:
	// user-agent
	// X-API-key
	// Host
	// Accept-Encoding
	// Connection
}

func ExampleWithCookieJar() {
	server := startServer(
		mockwebserver.Text("welcome").WithHeader("Set-Cookie", "session=abc; Path=/"),
		mockwebserver.Text("welcome back"))
	defer server.Close()
	jar, _ := cookiejar.New(nil)
	client := okhttp.New(okhttp.WithCookieJar(jar))
	defer client.Close()

	for range 2 {
		resp, err := client.Get(context.Background(), server.URL("/"))
		if err != nil {
			fmt.Println(err)
			return
		}
		resp.Body.Close()
		request, _ := server.TakeRequest(context.Background())
		fmt.Printf("%q\n", request.Header.Get("Cookie"))
	}
	// Output:
	// ""
	// "session=abc"
}

// An authenticator answers challenges: it returns the request to make next, or
// nil to give up.
func ExampleWithAuthenticator() {
	server := startServer(
		mockwebserver.Status(401).WithHeader("WWW-Authenticate", `Basic realm="lab"`),
		mockwebserver.Text("come in"))
	defer server.Close()

	client := okhttp.New(okhttp.WithAuthenticator(okhttp.AuthenticatorFunc(
		func(_ okhttp.Route, resp *http.Response) (*http.Request, error) {
			if resp.Request.Header.Get("Authorization") != "" {
				return nil, nil // it was refused already
			}
			next := resp.Request.Clone(resp.Request.Context())
			next.SetBasicAuth("jane", "s3cret")
			return next, nil
		})))
	defer client.Close()

	resp, err := client.Get(context.Background(), server.URL("/"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(string(body), err)
	// Output: come in <nil>
}

// After a 101 response the body is the connection.
func Example_upgrade() {
	server := startServer(mockwebserver.Response{}.WithUpgrade("echo",
		func(_ context.Context, conn net.Conn) error {
			_, err := io.Copy(conn, conn)
			return err
		}))
	defer server.Close()
	client := okhttp.New()
	defer client.Close()

	req, _ := http.NewRequest(http.MethodGet, server.URL("/"), nil)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if !ok || resp.StatusCode != http.StatusSwitchingProtocols {
		fmt.Println("no upgrade:", resp.Status)
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "ping")
	answer := make([]byte, 4)
	_, err = io.ReadFull(conn, answer)
	fmt.Println(resp.Header.Get("Upgrade"), string(answer), err)
	// Output: echo ping <nil>
}

// Close ends what is in progress. To end in peace, wait for the calls first.
func ExampleClient_Close() {
	server := startServer(mockwebserver.Text("finished").WithHeadDelay(10 * time.Millisecond))
	defer server.Close()
	client := okhttp.New()

	req, _ := http.NewRequest(http.MethodGet, server.URL("/"), nil)
	var calls sync.WaitGroup
	calls.Add(1)
	client.NewCall(req).Enqueue(func(resp *http.Response, err error) {
		defer calls.Done()
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		fmt.Println(string(body))
	})

	calls.Wait()
	client.Close()

	_, err := client.Get(context.Background(), server.URL("/"))
	fmt.Println(errors.Is(err, okhttp.ErrClosed), errors.Is(err, net.ErrClosed))
	// Output:
	// finished
	// true true
}
