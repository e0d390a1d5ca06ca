package okhttp_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/mockwebserver"
)

// These tests are in the README: tests of a client against a server that misbehaves.

func TestFlakyServer(t *testing.T) {
	server := mockwebserver.New(t) // closed when the test ends
	server.Enqueue(
		mockwebserver.Text("warm-up"),
		mockwebserver.Response{}.WithEffect(mockwebserver.AtRequestEnd, mockwebserver.CloseConnection()),
		mockwebserver.Text("recovered"))
	client := okhttp.New()
	defer client.Close()

	for _, want := range []string{"warm-up", "recovered"} {
		resp, err := client.Get(t.Context(), server.URL("/"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != want {
			t.Fatalf("got %q, %v", body, err)
		}
	}
	if n := server.RequestCount(); n != 3 {
		t.Errorf("the server saw %d requests", n)
	}
}

func TestReadTimeoutInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := mockwebserver.Pipe() // connections within the process
		server := mockwebserver.New(t, mockwebserver.WithListener(pipe))
		server.Enqueue(mockwebserver.Text("too late").WithHeadDelay(time.Minute))
		client := okhttp.New(okhttp.WithDialer(pipe.DialContext))
		defer client.Close()

		start := time.Now()
		_, err := client.Get(context.Background(), "http://server/")
		if !errors.Is(err, okhttp.ErrReadTimeout) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != 10*time.Second { // exactly, and at once
			t.Errorf("took %v", took)
		}
	})
}
