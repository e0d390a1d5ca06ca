package logging_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp"
	"github.com/okhttp-go/okhttp/logging"
	"github.com/okhttp-go/okhttp/mockwebserver"
)

func request(t *testing.T, method, url string, body io.Reader) *http.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// secretive is a request that carries what must not be shown.
func secretive(t *testing.T, url string) *http.Request {
	req := request(t, http.MethodPost, strings.Replace(url, "http://", "http://jane:s3cret@", 1)+"?page=2&token=s3cret", strings.NewReader("tea"))
	req.Header.Set("Content-Type", "text/plain")
	req.Header.Set("Authorization", "Bearer s3cret")
	req.Header.Set("Cookie", "id=s3cret")
	req.Header.Set("X-Api-Key", "k3y")
	return req
}

func TestInterceptorLevels(t *testing.T) {
	response := mockwebserver.Text("teapot\n").WithHeader("Set-Cookie", "id=s3cret").WithHeader("Content-Type", "text/plain")
	for _, c := range []struct {
		level logging.Level
		opts  []logging.Option
		want  string
	}{
		{logging.LevelNone, nil, ``},
		{logging.LevelBasic, nil, `
--> POST http://server/tea?page=██&token=██ (3-byte body)
---
<-- 200 OK http://server/tea?page=██&token=██ (N ms, 7-byte body)
`},
		{logging.LevelHeaders, []logging.Option{logging.WithRedactedHeaders("x-api-key"), logging.WithShownQuery("page")}, `
--> POST http://server/tea?page=2&token=██
Content-Length: 3
Authorization: ██
Content-Type: text/plain
Cookie: ██
X-Api-Key: ██
--> END POST
---
<-- 200 OK http://server/tea?page=2&token=██ (N ms)
Content-Length: 7
Content-Type: text/plain
Set-Cookie: ██
<-- END HTTP
`},
		{logging.LevelBody, []logging.Option{logging.WithShownHeaders("cookie")}, `
--> POST http://server/tea?page=██&token=██
Content-Length: 3
Authorization: ██
Content-Type: text/plain
Cookie: id=s3cret
X-Api-Key: k3y

tea
--> END POST (3-byte body)
---
<-- 200 OK http://server/tea?page=██&token=██ (N ms)
Content-Length: 7
Content-Type: text/plain
Set-Cookie: ██

teapot

<-- END HTTP (N ms, 7-byte body)
`},
	} {
		t.Run(c.level.String(), func(t *testing.T) {
			server := mockwebserver.New(t)
			server.Enqueue(response)
			var x texts
			client := start(t, okhttp.WithInterceptor(logging.NewInterceptor(x.log, append(c.opts, logging.WithLevel(c.level))...)))
			resp, err := client.Do(secretive(t, server.URL("/tea")))
			if got := body(t, resp, err); got != "teapot\n" {
				t.Errorf("body %q", got)
			}
			x.want(t, c.want)
		})
	}
}

func TestNetworkInterceptor(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(
		mockwebserver.Status(302).WithHeader("Location", "/b?code=s3cret"),
		mockwebserver.Response{}.WithChunkedBody("plain text").WithGzip())
	var x texts
	client := start(t, okhttp.WithNetworkInterceptor(logging.NewInterceptor(x.log, logging.WithLevel(logging.LevelBody))))
	if got := get(t, client, server.URL("/a")); got != "plain text" {
		t.Errorf("body %q", got)
	}
	x.want(t, `
--> GET http://server/a http/1.1
Accept-Encoding: gzip
Connection: Keep-Alive
User-Agent: test
--> END GET
---
<-- 302 Found http://server/a (N ms)
Content-Length: 0
Location: /b?code=██
<-- END HTTP (0-byte body)
---
--> GET http://server/b?code=██ http/1.1
Accept-Encoding: gzip
Connection: Keep-Alive
User-Agent: test
--> END GET
---
<-- 200 OK http://server/b?code=██ (N ms)
Content-Encoding: gzip

plain text
<-- END HTTP (N ms, 10-byte, G-gzipped-byte body)
`)
}

// ends gives the last lines of the texts of one exchange at LevelBody.
func ends(t *testing.T, response mockwebserver.Response, reqBody io.Reader, opts ...logging.Option) (request, answer string) {
	t.Helper()
	server := mockwebserver.New(t)
	server.Enqueue(response)
	var x texts
	client := start(t, okhttp.WithTransparentGzip(false),
		okhttp.WithInterceptor(logging.NewInterceptor(x.log, append(opts, logging.WithLevel(logging.LevelBody))...)))
	method := http.MethodGet
	if reqBody != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequest(method, server.URL("/"), reqBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	all := x.take()
	if len(all) != 2 {
		t.Fatalf("%d texts: %q", len(all), all)
	}
	return lastLines(all[0]), lastLines(all[1])
}

// lastLines are what follows the headers: a body and the line of the end.
func lastLines(text string) string {
	if _, tail, ok := strings.Cut(text, "\n\n"); ok {
		return normal(tail)
	}
	return normal(text[strings.LastIndexByte(text, '\n')+1:])
}

func TestResponseBodies(t *testing.T) {
	for _, c := range []struct {
		name     string
		response mockwebserver.Response
		want     string
	}{
		{"empty", mockwebserver.Text(""), "<-- END HTTP (0-byte body)"},
		{"no content", mockwebserver.Status(204), "<-- END HTTP (0-byte body)"},
		{"chunked", mockwebserver.Response{}.WithChunkedBody("abcdef", 2), "abcdef\n<-- END HTTP (N ms, 6-byte body)"},
		{"binary", mockwebserver.Text("\x00\x01\x02"), "<-- END HTTP (N ms, binary 3-byte body omitted)"},
		{"not UTF-8", mockwebserver.Text("caf\xe9"), "<-- END HTTP (N ms, binary 4-byte body omitted)"},
		{"Latin-1", mockwebserver.Text("caf\xe9").WithHeader("Content-Type", "text/plain; charset=ISO-8859-1"), "café\n<-- END HTTP (N ms, 4-byte body)"},
		{"longer than the limit", mockwebserver.Text(strings.Repeat("ab", 20)), "abababababababab\n<-- END HTTP (N ms, 40-byte body, of which 16 bytes are shown)"},
		{"a character cut by the limit", mockwebserver.Text(strings.Repeat("x", 15) + "éé"), "xxxxxxxxxxxxxxx\n<-- END HTTP (N ms, 19-byte body, of which 16 bytes are shown)"},
		{"unknown coding", mockwebserver.Text("abc").WithHeader("Content-Encoding", "br"), "<-- END HTTP (N ms, encoded 3-byte body omitted)"},
		{"no gzip", mockwebserver.Text("abc").WithHeader("Content-Encoding", "gzip"), "<-- END HTTP (N ms, invalid G-gzipped-byte body omitted)"},
		{"event stream", mockwebserver.Text("data: 1\n\n").WithHeader("Content-Type", "text/event-stream"), "<-- END HTTP (streaming)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, got := ends(t, c.response, nil, logging.WithBodyLimit(16)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	t.Run("cut short", func(t *testing.T) {
		_, got := ends(t, mockwebserver.Text("abcdef").WithEffect(mockwebserver.AtResponseBody, mockwebserver.CloseConnection()), nil)
		if !strings.HasPrefix(got, "abc\n<-- END HTTP (N ms, 3-byte body, then failed: okhttp: body: ") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("decompression is bounded", func(t *testing.T) {
		_, got := ends(t, mockwebserver.Text(strings.Repeat("a", 1<<20)).WithGzip(), nil, logging.WithBodyLimit(4<<10))
		text, note, _ := strings.Cut(got, "\n")
		if len(text) != 4<<10 || !strings.HasSuffix(note, "of which 4096 bytes are shown)") {
			t.Errorf("%d bytes are shown: %s", len(text), note)
		}
	})
}

func TestRequestBodies(t *testing.T) {
	for _, c := range []struct {
		name string
		body io.Reader
		want string
	}{
		{"text", strings.NewReader("abc"), "abc\n--> END POST (3-byte body)"},
		{"binary", strings.NewReader("\x00\xff"), "--> END POST (binary 2-byte body omitted)"},
		{"one-shot", io.MultiReader(strings.NewReader("abc")), "--> END POST (one-shot body omitted)"},
		{"longer than the limit", strings.NewReader(strings.Repeat("ab", 20)), "abababababababab\n--> END POST (40-byte body, of which 16 bytes are shown)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := ends(t, mockwebserver.Status(200), c.body, logging.WithBodyLimit(16)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// A response is handed to the program as it comes, and told when it has ended.
func TestStreamIsNotHeld(t *testing.T) {
	server := mockwebserver.New(t)
	next := make(chan string)
	server.Enqueue(mockwebserver.Response{}.WithBodyFunc(-1, func(ctx context.Context, w io.Writer) error {
		for part := range next {
			if _, err := io.WriteString(w, part); err != nil {
				return err
			}
		}
		return nil
	}))
	var x texts
	client := start(t, okhttp.WithInterceptor(logging.NewInterceptor(x.log, logging.WithLevel(logging.LevelBody))))
	resp, err := client.Do(request(t, http.MethodGet, server.URL("/"), nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if okhttp.InfoOf(resp) == nil {
		t.Error("InfoOf does not see through the body")
	}
	for _, part := range []string{"one ", "two "} {
		next <- part
		got := make([]byte, len(part))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != part {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	if n := len(x.take()); n != 1 {
		t.Errorf("%d texts before the body has ended", n)
	}
	close(next)
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		t.Errorf("rest %q, %v", rest, err)
	}
	if all := x.take(); len(all) != 1 || !strings.Contains(all[0], "\n\none two \n<-- END HTTP") {
		t.Errorf("told %q", all)
	}
}

func TestClosedEarly(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Text("abcdef"))
	var x texts
	client := start(t, okhttp.WithInterceptor(logging.NewInterceptor(x.log, logging.WithLevel(logging.LevelBody))))
	resp, err := client.Do(request(t, http.MethodGet, server.URL("/"), nil))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadFull(resp.Body, make([]byte, 2))
	resp.Body.Close()
	resp.Body.Close()
	if all := x.take(); len(all) != 2 || lastLines(all[1]) != "ab\n<-- END HTTP (N ms, 2-byte body, closed before its end)" {
		t.Errorf("told %q", all)
	}
}

// A body is copied by its own WriteTo once what is shown has passed by.
func TestCopiedBody(t *testing.T) {
	long := strings.Repeat("0123456789", 10_000)
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Text(long), mockwebserver.Text("short"))
	var x texts
	client := start(t, okhttp.WithInterceptor(logging.NewInterceptor(x.log, logging.WithLevel(logging.LevelBody), logging.WithBodyLimit(10))))
	for _, want := range []string{long, "short"} {
		resp, err := client.Do(request(t, http.MethodGet, server.URL("/"), nil))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		n, err := resp.Body.(io.WriterTo).WriteTo(&got)
		resp.Body.Close()
		if err != nil || got.String() != want || n != int64(len(want)) {
			t.Errorf("copied %d bytes, %v", n, err)
		}
		if all := x.take(); len(all) != 2 || !strings.Contains(all[1], fmt.Sprintf("%d-byte body", len(want))) {
			t.Errorf("told %q", all)
		}
	}
}

func TestUpgradeIsLeftAlone(t *testing.T) {
	server := mockwebserver.New(t)
	server.Enqueue(mockwebserver.Response{}.WithUpgrade("echo", func(_ context.Context, conn net.Conn) error {
		_, err := io.Copy(conn, conn)
		return err
	}))
	var x texts
	client := start(t, okhttp.WithInterceptor(logging.NewInterceptor(x.log, logging.WithLevel(logging.LevelBody))))
	req := request(t, http.MethodGet, server.URL("/"), nil)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, ok := resp.Body.(io.ReadWriteCloser); !ok {
		t.Errorf("the body is a %T", resp.Body)
	}
	if all := x.take(); len(all) != 2 || lastLines(all[1]) != "<-- END HTTP (upgraded)" {
		t.Errorf("told %q", all)
	}
}

func TestFailureIsTold(t *testing.T) {
	var x texts
	broken := okhttp.InterceptorFunc(func(*okhttp.Chain) (*http.Response, error) { return nil, errors.New("broken") })
	i := logging.NewInterceptor(x.log)
	client := start(t, okhttp.WithInterceptor(i, broken))
	_, err := client.Do(request(t, http.MethodGet, "http://127.0.0.1:1/?q=s3cret", nil))
	if err == nil {
		t.Fatal("no error")
	}
	x.want(t, `
--> GET http://server/?q=██
---
<-- HTTP FAILED: broken. GET http://server/?q=██ (N ms)
`)
	i.SetLevel(logging.LevelNone)
	_, _ = client.Do(request(t, http.MethodGet, "http://127.0.0.1:1/", nil))
	if all := x.take(); len(all) > 0 || i.Level() != logging.LevelNone {
		t.Errorf("told %q at level none", all)
	}
}

// Header values cannot forge lines of the log.
func TestForgedLines(t *testing.T) {
	var x texts
	i := logging.NewInterceptor(x.log, logging.WithLevel(logging.LevelHeaders))
	req := request(t, http.MethodGet, "http://h/", nil)
	req.Header.Set("X", "a\r\n<-- 200 OK forged")
	_, _ = i.Intercept(okhttp.NewChain(req, func(*http.Request) (*http.Response, error) { return nil, io.EOF }))
	if strings.Contains(x.take()[0], "\n<--") {
		t.Error("a header value made a line of its own")
	}
}

// Each text is handed over whole, so the lines of concurrent calls do not mix.
func TestConcurrentCalls(t *testing.T) {
	server := mockwebserver.New(t, mockwebserver.WithDispatcher(mockwebserver.DispatcherFunc(
		func(_ context.Context, r *mockwebserver.RecordedRequest) mockwebserver.Response {
			return mockwebserver.Text("this is " + r.Target)
		})))
	var x texts
	client := start(t, okhttp.WithInterceptor(logging.NewInterceptor(x.log, logging.WithLevel(logging.LevelBody))))
	var all sync.WaitGroup
	const calls = 20
	for n := range calls {
		all.Go(func() {
			resp, err := client.Get(t.Context(), server.URL(fmt.Sprintf("/%d", n)))
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		})
	}
	all.Wait()
	got := x.take()
	if len(got) != 2*calls {
		t.Fatalf("%d texts", len(got))
	}
	for _, text := range got {
		first, _, _ := strings.Cut(text, "\n")
		if path := first[strings.LastIndexByte(first, '/'):]; strings.HasPrefix(text, "<-- ") {
			path, _, _ = strings.Cut(path, " ")
			if !strings.Contains(text, "\n\nthis is "+path+"\n<-- END HTTP") {
				t.Errorf("mixed up: %q", text)
			}
		}
	}
}
