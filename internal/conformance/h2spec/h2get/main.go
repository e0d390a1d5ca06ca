// Command h2get makes one GET over HTTP/2 by prior knowledge and exits: what h2specd
// runs as the client that it tests.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/okhttp-go/okhttp"
)

func main() { os.Exit(run(os.Args[len(os.Args)-1])) }

func run(url string) (status int) {
	client := okhttp.New(
		okhttp.WithProtocols(okhttp.H2PriorKnowledge),
		okhttp.WithRetryOnConnectionFailure(false), // a case is served once
		okhttp.WithCallTimeout(2200*time.Millisecond),
	)
	// h2specd judges by frames that are on their way when the call is over, and
	// does not tell when it has them.
	defer func() {
		time.Sleep(100 * time.Millisecond)
		client.Close()
	}()
	resp, err := client.Get(context.Background(), url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	fmt.Println(resp.Proto, resp.StatusCode, n, err)
	return 0
}
