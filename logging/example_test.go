package logging_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/logging"
	"github.com/okhttp-go/okhttp/mockwebserver"
)

// serve starts a server that gives one answer, and returns its address.
func serve(answer mockwebserver.Response) (url string, stop func()) {
	server := mockwebserver.NewServer()
	server.Enqueue(answer)
	if err := server.Start(); err != nil {
		panic(err)
	}
	return server.URL("/greeting?token=s3cret"), func() { server.Close() }
}

func ExampleListener() {
	url, stop := serve(mockwebserver.Text("hello"))
	defer stop()

	client := okhttp.New(okhttp.WithEventListenerFactory(logging.Listener(func(line string) {
		_, event, _ := strings.Cut(line, "] ") // without the time, which is "[12 ms"
		if strings.HasPrefix(event, "response") {
			fmt.Println(event)
		}
	})))
	defer client.Close()

	resp, err := client.Get(context.Background(), url)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	// Output:
	// responseHeadersStart
	// responseHeadersEnd: HTTP/1.1 200
	// responseBodyStart
	// responseBodyEnd: 5 bytes
}

func ExampleNewInterceptor() {
	url, stop := serve(mockwebserver.Text("hello").WithHeader("Set-Cookie", "id=s3cret"))
	defer stop()

	show := func(text string) {
		first, rest, _ := strings.Cut(text, "\n")
		fmt.Println(first[:3], rest) // without the address and the time
	}
	client := okhttp.New(okhttp.WithInterceptor(logging.NewInterceptor(show, logging.WithLevel(logging.LevelHeaders))))
	defer client.Close()

	resp, err := client.Get(context.Background(), url)
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	// Output:
	// --> --> END GET
	// <-- Content-Length: 5
	// Set-Cookie: ██
	// <-- END HTTP
}
