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

// progress counts the bytes that pass by on their way to another writer.
type progress struct {
	done, total int64
	report      func(done, total int64)
}

func (p *progress) Write(b []byte) (int, error) {
	p.done += int64(len(b))
	p.report(p.done, p.total)
	return len(b), nil
}

// A writer that counts shows the progress of a download. Events tell when a body
// begins and ends, not each piece of it.
func Example_downloadProgress() {
	server := startServer(mockwebserver.Text(strings.Repeat("x", 100_000)))
	defer server.Close()
	dir, _ := os.MkdirTemp("", "download")
	defer os.RemoveAll(dir)
	client := okhttp.New(okhttp.WithTransparentGzip(false)) // else the total is not known
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
	counter := &progress{total: resp.ContentLength, report: func(done, total int64) {
		if done == total { // a program would show more of them; the total is -1 if it is not known
			fmt.Println(done, "of", total)
		}
	}}
	n, err := io.Copy(io.MultiWriter(file, counter), resp.Body)
	fmt.Println(n, err)
	// Output:
	// 100000 of 100000
	// 100000 <nil>
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
