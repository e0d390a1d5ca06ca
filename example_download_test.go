package okhttp_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/mockwebserver"
)

// A listener shows the progress of a download, while the body itself may go from
// the socket to the file within the kernel.
func Example_downloadProgress() {
	server := startServer(mockwebserver.Text(strings.Repeat("x", 600<<10)))
	defer server.Close()
	dir, _ := os.MkdirTemp("", "download")
	defer os.RemoveAll(dir)
	client := okhttp.New(okhttp.WithEventListener(okhttp.EventListenerFunc(func(call *okhttp.Call, e okhttp.Event) {
		switch e := e.(type) {
		case okhttp.ResponseBodyProgress:
			if e.Total > 0 { // -1 if the server does not say
				fmt.Printf("more than %d %%\n", e.Bytes*10/e.Total*10)
			}
		case okhttp.ResponseBodyEnd:
			fmt.Println(e.Bytes, "bytes")
		}
	})))
	defer client.Close()

	resp, err := client.Get(context.Background(), server.URL("/file"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		fmt.Println(resp.Status)
		return
	}
	file, err := os.Create(filepath.Join(dir, "file"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	n, err := io.Copy(file, resp.Body)
	fmt.Println(n, err)
	// Output:
	// more than 40 %
	// more than 80 %
	// 614400 bytes
	// 614400 <nil>
}

// A plain body that is copied to a file or a socket stays within the kernel where
// the system can do that: copy it to the *os.File itself.
func Example_download() {
	server := startServer(mockwebserver.Text(strings.Repeat("x", 100_000)))
	defer server.Close()
	dir, _ := os.MkdirTemp("", "download")
	defer os.RemoveAll(dir)
	client := okhttp.New()
	defer client.Close()

	resp, err := client.Get(context.Background(), server.URL("/file"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	file, err := os.Create(filepath.Join(dir, "file"))
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := io.Copy(file, resp.Body)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	fmt.Println(n, err)
	// Output: 100000 <nil>
}

// The leak detector names the place of a call whose response was never closed.
func ExampleWithLeakDetector() {
	client := okhttp.New(okhttp.WithLeakDetector(func(leak okhttp.Leak) { log.Print(leak) }))
	defer client.Close()
	// Output:
}
