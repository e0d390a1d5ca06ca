//go:build unix

package http1

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// Each benchmark runs this package and net/http in turn. Those over a socket
// have their server in another process, and report this one's CPU time.

var benchHead = "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Thu, 31 Dec 2009 20:55:48 GMT\r\nContent-Type: text/html; charset=UTF-8\r\n" +
	"Content-Length: 13\r\nLast-Modified: Thu, 31 Dec 2009 20:55:48 GMT\r\nConnection: keep-alive\r\nETag: \"4b3d0f94-d\"\r\nAccept-Ranges: bytes\r\n\r\n"

func BenchmarkReadHead(b *testing.B) {
	req := get(b)
	b.Run("okhttp", func(b *testing.B) {
		b.ReportAllocs()
		c, s := script()
		reads := []string{benchHead}
		var resp http.Response
		for b.Loop() {
			s.reads = append(reads[:0:1], benchHead)
			c.Begin(httpsem.ExchangeOptions{})
			if err := c.ReadHead(req, &resp); err != nil {
				b.Fatal(err)
			}
			c.End()
		}
	})
	b.Run("nethttp", func(b *testing.B) {
		b.ReportAllocs()
		sr := strings.NewReader(benchHead)
		br := bufio.NewReader(sr)
		for b.Loop() {
			sr.Reset(benchHead)
			br.Reset(sr)
			if _, err := http.ReadResponse(br, req); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWriteHead(b *testing.B) {
	req := request(b, "GET", "http://example.com/path?query", nil)
	req.Header = http.Header{"User-Agent": {"bench/1.0"}, "Accept-Encoding": {"gzip"}, "Accept": {"text/html"}, "Cookie": {"a=b; c=d"}}
	b.Run("okhttp", func(b *testing.B) {
		b.ReportAllocs()
		c, s := script()
		for b.Loop() {
			s.wrote.Reset()
			c.Begin(httpsem.ExchangeOptions{})
			if err := c.WriteHead(req, 0); err != nil {
				b.Fatal(err)
			}
			if err := c.Flush(); err != nil {
				b.Fatal(err)
			}
			c.End()
		}
	})
	b.Run("nethttp", func(b *testing.B) {
		b.ReportAllocs()
		var out bytes.Buffer
		bw := bufio.NewWriter(&out)
		for b.Loop() {
			out.Reset()
			if err := req.Write(bw); err != nil {
				b.Fatal(err)
			}
			bw.Flush()
		}
	})
}

const benchServerEnv = "OKHTTP_HTTP1_BENCH_SERVER"

// The server's process is this test binary, which then never gets to its tests.
func init() {
	if os.Getenv(benchServerEnv) != "" {
		serveBenchmarks()
		os.Exit(0)
	}
}

// serveBenchmarks answers GET /n with n bytes, and anything else, once its body
// was read, with none. It ends with its standard input.
func serveBenchmarks() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go serveBenchmark(nc)
		}
	}()
	io.Copy(io.Discard, os.Stdin)
}

func serveBenchmark(nc net.Conn) {
	defer nc.Close()
	r := bufio.NewReader(nc)
	block := make([]byte, 1<<20)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		n, _ := strconv.Atoi(req.URL.Path[1:])
		if req.Method != "GET" {
			io.CopyBuffer(onlyWriter{io.Discard}, onlyReader{req.Body}, block)
			n = 0
		}
		fmt.Fprintf(nc, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", n)
		for n > 0 {
			m, err := nc.Write(block[:min(n, len(block))])
			if err != nil {
				return
			}
			n -= m
		}
	}
}

// benchServer starts a server in a process of its own.
func benchServer(b *testing.B) (addr string) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), benchServerEnv+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stdin.Close(); cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// side is one of the two that are compared: it sends a request and puts the
// response body into w.
type side func(b *testing.B, req *http.Request, body io.Reader, length int64, w io.Writer)

func okhttpSide(b *testing.B, addr string) side {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { nc.Close() })
	c := NewConn(nc, nc)
	return func(b *testing.B, req *http.Request, body io.Reader, length int64, w io.Writer) {
		c.Begin(httpsem.ExchangeOptions{ReadTimeout: time.Minute, WriteTimeout: time.Minute})
		if err := c.WriteHead(req, length); err != nil {
			b.Fatal(err)
		}
		if length > 0 {
			if _, err := c.WriteBody(body, length, length < 10000, nil); err != nil {
				b.Fatal(err)
			}
		} else if err := c.Flush(); err != nil {
			b.Fatal(err)
		}
		var resp http.Response
		if err := c.ReadHead(req, &resp); err != nil {
			b.Fatal(err)
		}
		if _, err := copyTo(c, w); err != nil {
			b.Fatal(err)
		}
		if ok, reason := c.End(); !ok {
			b.Fatal(reason)
		}
	}
}

func nethttpSide(b *testing.B) side {
	tr := &http.Transport{ResponseHeaderTimeout: time.Minute}
	b.Cleanup(tr.CloseIdleConnections)
	return func(b *testing.B, req *http.Request, body io.Reader, length int64, w io.Writer) {
		if length > 0 {
			req.Body, req.ContentLength = io.NopCloser(body), length
			if f, ok := body.(*os.File); ok {
				req.Body = io.NopCloser(f)
			}
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(w, resp.Body); err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
	}
}

const big = 64 << 20

func BenchmarkSocket(b *testing.B) {
	addr := benchServer(b)
	file := filepath.Join(b.TempDir(), "body")
	if err := os.WriteFile(file, make([]byte, big), 0o600); err != nil {
		b.Fatal(err)
	}
	memory := make([]byte, big)
	for _, bm := range []struct {
		name   string
		path   string
		length int64
		body   func() io.Reader
		toFile bool
	}{
		{name: "get13B", path: "13"},
		{name: "post1KiB", path: "0", length: 1 << 10, body: func() io.Reader { return bytes.NewReader(memory[:1<<10]) }},
		{name: "get1MiB", path: strconv.Itoa(1 << 20)},
		{name: "get64MiB", path: strconv.Itoa(big)},
		{name: "get64MiBtoFile", path: strconv.Itoa(big), toFile: true},
		{name: "post64MiB", path: "0", length: big, body: func() io.Reader { return bytes.NewReader(memory) }},
		{name: "post64MiBreader", path: "0", length: big, body: func() io.Reader { return onlyReader{bytes.NewReader(memory)} }},
		{name: "post64MiBfile", path: "0", length: big, body: func() io.Reader {
			f, err := os.Open(file)
			if err != nil {
				b.Fatal(err)
			}
			return f
		}},
	} {
		for _, name := range []string{"okhttp", "nethttp"} {
			b.Run(bm.name+"/"+name, func(b *testing.B) {
				var do side
				if name == "okhttp" {
					do = okhttpSide(b, addr)
				} else {
					do = nethttpSide(b)
				}
				w := io.Discard
				if bm.toFile {
					f, err := os.Create(filepath.Join(b.TempDir(), "out"))
					if err != nil {
						b.Fatal(err)
					}
					defer f.Close()
					w = f
				}
				b.ReportAllocs()
				start := cpuTime()
				for b.Loop() {
					method := "GET"
					var body io.Reader
					if bm.length > 0 {
						method, body = "POST", bm.body()
					}
					req := request(b, method, "http://"+addr+"/"+bm.path, nil)
					if f, ok := w.(*os.File); ok {
						f.Seek(0, io.SeekStart)
					}
					do(b, req, body, bm.length, w)
					if f, ok := body.(*os.File); ok {
						f.Close()
					}
				}
				b.ReportMetric(float64(cpuTime()-start)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
