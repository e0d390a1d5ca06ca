package okhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/mockwebserver"
)

// An interceptor's own context bounds its try, wherever that stands, and not the
// call: the next try works.
func TestInterceptorContextBoundsOneTry(t *testing.T) {
	for name, script := range map[string]mockwebserver.Response{
		"head": mockwebserver.Text("late").WithHeadDelay(time.Minute),
		"body": mockwebserver.Text("late").WithBodyDelay(time.Minute),
	} {
		for _, network := range []bool{false, true} {
			if network && name == "body" {
				continue // the body is read above the chain
			}
			synctest.Test(t, func(t *testing.T) {
				pipe := mockwebserver.Pipe()
				server := mockwebserver.New(t, mockwebserver.WithListener(pipe))
				server.Enqueue(script, mockwebserver.Text("in time"))
				perTry := okhttp.InterceptorFunc(func(ch *okhttp.Chain) (*http.Response, error) {
					ctx, cancel := context.WithTimeout(ch.Request().Context(), time.Second)
					resp, err := ch.Proceed(ch.Request().WithContext(ctx))
					if err != nil {
						cancel()
						return nil, err
					}
					b, err := io.ReadAll(resp.Body)
					resp.Body.Close()
					cancel()
					if err != nil {
						return nil, err
					}
					if string(b) != "in time" {
						t.Errorf("%s: %q", name, b)
					}
					return resp, nil
				})
				again := okhttp.InterceptorFunc(func(ch *okhttp.Chain) (*http.Response, error) {
					start := time.Now()
					_, err := ch.Proceed(ch.Request())
					if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
						t.Errorf("%s: first try: %v after %v", name, err, time.Since(start))
					}
					if ch.Call().Canceled() {
						t.Errorf("%s: the call was canceled", name)
					}
					return ch.Proceed(ch.Request())
				})
				opts := []okhttp.Option{okhttp.WithDialer(pipe.DialContext), okhttp.WithInterceptor(again, perTry)}
				if network {
					opts = []okhttp.Option{okhttp.WithDialer(pipe.DialContext), okhttp.WithInterceptor(again), okhttp.WithNetworkInterceptor(perTry)}
				}
				client := okhttp.New(opts...)
				defer client.Close()
				resp, err := client.Get(context.Background(), server.URL("/"))
				if err != nil {
					t.Fatalf("%s: second try: %v", name, err)
				}
				resp.Body.Close()
			})
		}
	}
}

// The same while the connection is being opened, with Middleware.
func TestMiddlewareContextBoundsDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := okhttp.New(
			okhttp.WithDialer(blackHole),
			okhttp.WithInterceptor(okhttp.Middleware(func(next http.RoundTripper) http.RoundTripper {
				return roundTripperFunc(func(req *http.Request) (*http.Response, error) {
					ctx, cancel := context.WithTimeout(req.Context(), time.Second)
					defer cancel()
					return next.RoundTrip(req.WithContext(ctx))
				})
			})))
		defer client.Close()
		start := time.Now()
		_, err := client.Get(context.Background(), "http://a.test/")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// roundTripperFunc is a RoundTripper of a function.
type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// blackHole dials until its context ends.
func blackHole(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
