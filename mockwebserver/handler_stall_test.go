package mockwebserver_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/okhttp-go/okhttp/mockwebserver"
)

// A handler's response may stall: both look out for a client that hangs up, and
// one look-out must do.
func TestHandlerThatStalls(t *testing.T) {
	server := mockwebserver.New(t)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100000")
		w.Write(make([]byte, 100_000))
	})
	for range 20 {
		server.Enqueue(mockwebserver.Response{}.WithHandler(handler).
			WithEffect(mockwebserver.AtResponseBody, mockwebserver.Stall()))
		transport := &http.Transport{}
		resp, err := (&http.Client{Transport: transport}).Get(server.URL("/"))
		if err != nil {
			t.Fatal(err)
		}
		io.ReadFull(resp.Body, make([]byte, 1000))
		resp.Body.Close()
		transport.CloseIdleConnections()
	}
}
