package logging_test

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp"
)

// texts collects what is logged.
type texts struct {
	mu  sync.Mutex
	all []string
}

func (x *texts) log(text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all = append(x.all, text)
}

func (x *texts) take() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := x.all
	x.all = nil
	return all
}

// want compares what was logged since the last time, with times and ports made
// equal, with a text. Entries are separated by a line "---".
func (x *texts) want(t *testing.T, want string) {
	t.Helper()
	got := normal(strings.Join(x.take(), "\n---\n"))
	if want = strings.Trim(want, "\n"); got != want {
		t.Errorf("logged\n%s\n\nwant\n%s", got, want)
	}
}

var (
	aTime = regexp.MustCompile(`\b\d+ ms\b`)
	aPort = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	aSize = regexp.MustCompile(`\b\d+-gzipped`) // depends on the compressor
	aTLS  = regexp.MustCompile(`TLS 1\.\d`)
)

func normal(text string) string {
	text = aTime.ReplaceAllString(text, "N ms")
	text = aPort.ReplaceAllString(text, "server")
	text = aSize.ReplaceAllString(text, "G-gzipped")
	return aTLS.ReplaceAllString(text, "TLS V")
}

func start(t *testing.T, opts ...okhttp.Option) *okhttp.Client {
	t.Helper()
	client := okhttp.New(append([]okhttp.Option{okhttp.WithUserAgent("test")}, opts...)...)
	t.Cleanup(func() { client.Close() })
	return client
}

func get(t *testing.T, client *okhttp.Client, url string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	resp, err := client.Get(ctx, url)
	return body(t, resp, err)
}

func body(t *testing.T, resp *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
