// Command quickstart makes a handful of calls to a server in its own process and
// prints what happens in each, event by event:
//
//	go run ./examples/quickstart
//
// It needs no network, and it checks what it says: where something is not as
// told, it says so and ends with status 1.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/mockwebserver"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// tour is the client, its server, and what was heard of the last call.
type tour struct {
	out    io.Writer
	server *mockwebserver.Server
	client *okhttp.Client
	trace  *trace
}

func run(out io.Writer) error {
	server := mockwebserver.NewServer(mockwebserver.WithTLS())
	if err := server.Start(); err != nil {
		return err
	}
	defer server.Close()

	t := &tour{out: out, server: server}
	t.client = okhttp.New(
		okhttp.WithTLSConfig(server.ClientTLS()),
		okhttp.WithEventListenerFactory(func(*okhttp.Call) okhttp.EventListener {
			t.trace = &trace{}
			return t.trace
		}),
	)
	defer t.client.Close()

	first, err := t.firstCall()
	if err != nil {
		return err
	}
	if err := t.pooledCall(first); err != nil {
		return err
	}
	for _, step := range []func() error{t.redirect, t.closedWhileIdle, t.closedInProgress, t.unsafeToRepeat, t.stats} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (t *tour) firstCall() (time.Duration, error) {
	t.say("1. A first call: connect, handshake, request, response.")
	t.server.Enqueue(mockwebserver.Text("hello"))
	took, err := t.get("/hello", "hello")
	if err != nil {
		return 0, err
	}
	return took, errors.Join(
		t.expect("ConnectStart", 1), t.expect("SecureConnectEnd", 1), t.expect("ConnectEnd", 1), t.expect("CallEnd", 1))
}

func (t *tour) pooledCall(first time.Duration) error {
	t.say("2. The same again: the connection comes from the pool.")
	t.server.Enqueue(mockwebserver.Text("hello again"))
	took, err := t.get("/hello", "hello again")
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "\n   The first call took %s, this one %s.\n", millis(first), millis(took))
	return errors.Join(t.expect("ConnectStart", 0), t.expect("ConnectionAcquired", 1), t.expectReused())
}

func (t *tour) redirect() error {
	t.say("3. A redirect: one call, two exchanges, the same connection.")
	t.server.Enqueue(
		mockwebserver.Status(302).WithHeader("Location", "/new"),
		mockwebserver.Text("moved here"))
	if _, err := t.get("/old", "moved here"); err != nil {
		return err
	}
	return errors.Join(t.expect("RequestHeadersEnd", 2), t.expect("ConnectionAcquired", 1), t.expect("FollowUpDecision", 2))
}

func (t *tour) closedWhileIdle() error {
	t.say("4. The server closes the idle connection: the client sees it before it sends.")
	t.server.CloseClientConnections()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := t.server.WaitOpen(ctx, 0); err != nil {
		return err
	}
	t.server.Enqueue(mockwebserver.Text("on a new one"))
	if _, err := t.get("/hello", "on a new one"); err != nil {
		return err
	}
	return errors.Join(t.expect("ConnectionDiscarded", 1), t.expect("RetryDecision", 0), t.expect("ConnectEnd", 1))
}

func (t *tour) closedInProgress() error {
	t.say("5. The server drops the connection with the request in its hands: a GET is sent again.")
	t.server.Enqueue(
		mockwebserver.Response{}.WithEffect(mockwebserver.AtRequestEnd, mockwebserver.CloseConnection()),
		mockwebserver.Text("at the second attempt"))
	if _, err := t.get("/hello", "at the second attempt"); err != nil {
		return err
	}
	return errors.Join(t.expect("RetryDecision", 1), t.expect("RequestHeadersEnd", 2), t.expect("CallEnd", 1))
}

func (t *tour) unsafeToRepeat() error {
	t.say("6. The same with a POST: it may have been processed, so it is not sent again.")
	t.server.Enqueue(mockwebserver.Response{}.WithEffect(mockwebserver.AtRequestEnd, mockwebserver.CloseConnection()))
	before := t.server.RequestCount()
	resp, err := t.client.Post(context.Background(), t.server.URL("/orders"), "application/json", bytes.NewReader([]byte(`{"item":1}`)))
	if err == nil {
		resp.Body.Close()
		return errors.New("the POST was answered, which nobody did")
	}
	t.trace.print(t.out)
	fmt.Fprintln(t.out, "\n   errors.Is(err, okhttp.ErrOutcomeUnknown):", errors.Is(err, okhttp.ErrOutcomeUnknown))
	if !errors.Is(err, okhttp.ErrOutcomeUnknown) {
		return fmt.Errorf("the POST failed in another way: %w", err)
	}
	if n := t.server.RequestCount() - before; n != 1 {
		return fmt.Errorf("the server saw the POST %d times", n)
	}
	return t.expect("CallFailed", 1)
}

func (t *tour) stats() error {
	s := t.client.Pool().Stats()
	t.say("The pool in the end.")
	fmt.Fprintf(t.out, "   open %d, idle %d; ever opened %d, reused %d times, found dead %d\n",
		s.Open, s.Idle, s.Opened, s.Reused, s.Discarded)
	if s.Opened != 3 || s.Open != s.Idle || s.Discarded != 1 {
		return fmt.Errorf("the pool is not as expected: %+v", s)
	}
	return nil
}

// get makes a call, prints its events, and checks the body of its response.
func (t *tour) get(path, want string) (time.Duration, error) {
	start := time.Now()
	resp, err := t.client.Get(context.Background(), t.server.URL(path))
	if err != nil {
		return 0, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	took := time.Since(start)
	if err != nil {
		return 0, err
	}
	t.trace.print(t.out)
	if string(body) != want {
		return 0, fmt.Errorf("%s: got %q, want %q", path, body, want)
	}
	return took, nil
}

func (t *tour) say(text string) { fmt.Fprintf(t.out, "\n%s\n\n", text) }

// expect checks how often an event came in the last call.
func (t *tour) expect(name string, times int) error {
	if n := t.trace.count(name); n != times {
		return fmt.Errorf("expected %s %d times in this call, heard it %d times", name, times, n)
	}
	return nil
}

func (t *tour) expectReused() error {
	if !t.trace.reused {
		return errors.New("expected the connection to come from the pool")
	}
	return nil
}
