// Command unixsocket speaks HTTP over a Unix socket: the dialer decides where a
// connection leads, and the URL's host is only a name.
//
//	go run ./examples/unixsocket
//
// It starts its own server and needs no network.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/mockwebserver"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "unixsocket:", err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	dir, err := os.MkdirTemp("", "okhttp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "daemon.sock")

	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	server := mockwebserver.NewServer(mockwebserver.WithListener(listener))
	server.Enqueue(mockwebserver.Text("one"), mockwebserver.Text("two"))
	if err := server.Start(); err != nil {
		return err
	}
	defer server.Close()

	client := okhttp.New(okhttp.WithDialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}))
	defer client.Close()

	for range 2 {
		resp, err := client.Get(context.Background(), "http://daemon/version")
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %s\n", resp.Status, body)
	}
	stats := client.Pool().Stats()
	fmt.Fprintf(out, "opened %d socket, used it again %d time\n", stats.Opened, stats.Reused)
	if stats.Opened != 1 {
		return errors.New("the connection was not kept")
	}
	return nil
}
