package okhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/mockwebserver"
)

// A body that the kernel copies to a file or a socket fails as one that is read:
// with the call's error, and as a failed call. Over real sockets, since only
// those are spliced.
func TestFaultsOfKernelCopies(t *testing.T) {
	type trigger struct {
		want error
		opts []okhttp.Option
		pull func(*okhttp.Client, *okhttp.Call, context.CancelFunc, *mockwebserver.Server)
	}
	triggers := map[string]trigger{
		"context canceled": {want: context.Canceled, pull: func(_ *okhttp.Client, _ *okhttp.Call, cancel context.CancelFunc, _ *mockwebserver.Server) { cancel() }},
		"Call.Cancel":      {want: context.Canceled, pull: func(_ *okhttp.Client, c *okhttp.Call, _ context.CancelFunc, _ *mockwebserver.Server) { c.Cancel() }},
		"call timeout":     {want: okhttp.ErrCallTimeout, opts: []okhttp.Option{okhttp.WithCallTimeout(200 * time.Millisecond)}},
		"read timeout":     {want: okhttp.ErrReadTimeout, opts: []okhttp.Option{okhttp.WithReadTimeout(100 * time.Millisecond)}},
		"Client.Close":     {want: okhttp.ErrClosed, pull: func(c *okhttp.Client, _ *okhttp.Call, _ context.CancelFunc, _ *mockwebserver.Server) { c.Close() }},
		"reset": {want: syscall.ECONNRESET, pull: func(_ *okhttp.Client, _ *okhttp.Call, _ context.CancelFunc, s *mockwebserver.Server) {
			s.CloseClientConnections()
		}},
	}
	sinks := map[string]func(*testing.T) io.Writer{
		"file": func(t *testing.T) io.Writer {
			f, err := os.Create(filepath.Join(t.TempDir(), "body"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			return f
		},
		"socket": func(t *testing.T) io.Writer {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			out, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			in, err := ln.Accept()
			if err != nil {
				t.Fatal(err)
			}
			drained := make(chan struct{})
			go func() {
				defer close(drained)
				io.Copy(io.Discard, in)
			}()
			t.Cleanup(func() { out.Close(); <-drained; in.Close() })
			return out
		},
	}
	for how, tr := range triggers {
		for to, sink := range sinks {
			t.Run(how+" to "+to, func(t *testing.T) {
				halfway := make(chan struct{})
				server := mockwebserver.New(t)
				stall := mockwebserver.Stall()
				if how == "reset" {
					stall = mockwebserver.ResetConnection()
				}
				server.Enqueue(mockwebserver.Response{}.WithBodyBytes(make([]byte, 1<<20)).
					WithEffect(mockwebserver.AtResponseBody, mockwebserver.Call(func(context.Context) { close(halfway) }), stall))
				var last okhttp.Event
				ended := make(chan struct{})
				client := okhttp.New(append(tr.opts, okhttp.WithEventListener(okhttp.EventListenerFunc(func(_ *okhttp.Call, e okhttp.Event) {
					switch e.(type) {
					case okhttp.CallEnd, okhttp.CallFailed:
						last = e
						close(ended)
					}
				})))...)
				defer client.Close()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				call := client.NewCall(newRequest(t, "GET", server.URL("/"), nil).WithContext(ctx))
				resp, err := call.Execute()
				if err != nil {
					t.Fatal(err)
				}
				if tr.pull != nil {
					go func() {
						<-halfway
						tr.pull(client, call, cancel, server)
					}()
				}
				_, err = io.Copy(sink(t), resp.Body)
				var own *okhttp.Error
				if !errors.As(err, &own) || own.Phase != okhttp.PhaseBody || !errors.Is(err, tr.want) {
					t.Errorf("%v, want %v", err, tr.want)
				}
				resp.Body.Close()
				<-ended
				if _, ok := last.(okhttp.CallFailed); !ok {
					t.Errorf("the last event is %T", last)
				}
			})
		}
	}
}
