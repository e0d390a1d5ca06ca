package okhttp_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/okhttp-go/okhttp"
	mock "github.com/okhttp-go/okhttp/mockwebserver"
)

func overHTTP2(t *testing.T, opts ...okhttp.Option) *okhttp.Client {
	t.Helper()
	return startClient(t, append([]okhttp.Option{okhttp.WithProtocols(okhttp.H2PriorKnowledge)}, opts...)...)
}

func h2Get(t *testing.T, c *okhttp.Client, url, want string) {
	t.Helper()
	resp, err := c.Get(context.Background(), url)
	wantBody(t, resp, err, want)
	if resp.ProtoMajor != 2 || resp.Proto != "HTTP/2.0" {
		t.Errorf("protocol %s", resp.Proto)
	}
}

func TestHTTP2ByALPN(t *testing.T) {
	for _, c := range []struct {
		name   string
		server []string
		client []okhttp.Protocol
		proto  string
	}{
		{"both", []string{"h2", "http/1.1"}, nil, "HTTP/2.0"},
		{"server knows only HTTP/1.1", []string{"http/1.1"}, nil, "HTTP/1.1"},
		{"server does not negotiate", []string{}, nil, "HTTP/1.1"},
		{"client wants only HTTP/1.1", []string{"h2", "http/1.1"}, []okhttp.Protocol{okhttp.HTTP1}, "HTTP/1.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := mock.New(t, mock.WithTLS(), mock.WithProtocols(c.server...))
			opts := []okhttp.Option{okhttp.WithTLSConfig(server.ClientTLS())}
			if c.client != nil {
				opts = append(opts, okhttp.WithProtocols(c.client...))
			}
			client := startClient(t, opts...)
			for range 2 {
				server.Enqueue(mock.Text("hello"))
				resp, err := client.Get(context.Background(), server.URL("/"))
				wantBody(t, resp, err, "hello")
				if resp.Proto != c.proto {
					t.Errorf("%s, want %s", resp.Proto, c.proto)
				}
			}
			if s := client.Pool().Stats(); s.Open != 1 {
				t.Errorf("%d connections, want 1", s.Open)
			}
		})
	}
}

func TestWithProtocolsRefuses(t *testing.T) {
	for want, list := range map[string][]okhttp.Protocol{
		"http/1.1 is missing":                            {okhttp.H2},
		"h2 is given twice":                              {okhttp.H2, okhttp.H2, okhttp.HTTP1},
		`unknown protocol "spdy"`:                        {"spdy", okhttp.HTTP1},
		"h2_prior_knowledge goes with no other protocol": {okhttp.H2PriorKnowledge, okhttp.HTTP1},
	} {
		_, err := okhttp.NewClient(okhttp.WithProtocols(list...))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", list, err, want)
		}
	}
	if _, err := okhttp.NewClient(okhttp.WithProtocols()); err == nil {
		t.Error("no protocol at all is no error")
	}
	if _, err := okhttp.NewClient(okhttp.WithPingInterval(-1)); err == nil {
		t.Error("a negative ping interval is no error")
	}
}

func TestHTTP2PriorKnowledgeIsNotForTLS(t *testing.T) {
	server := mock.New(t, mock.WithTLS())
	client := overHTTP2(t, okhttp.WithTLSConfig(server.ClientTLS()))
	resp, err := client.Get(context.Background(), server.URL("/"))
	if err == nil {
		resp.Body.Close()
		t.Fatal("no error")
	}
	if !strings.Contains(err.Error(), "h2_prior_knowledge is for http URLs") {
		t.Error(err)
	}
}

func TestHTTP2BigBodiesBothWays(t *testing.T) {
	for _, secure := range []bool{false, true} {
		opts := []mock.Option{mock.WithProtocols("h2_prior_knowledge")}
		if secure {
			opts = []mock.Option{mock.WithTLS()}
		}
		sum := make(chan [32]byte, 1)
		down := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // 8 MiB
		opts = append(opts, mock.WithBodyLimit(16<<20), mock.WithDispatcher(mock.Handler(http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				h := sha256.New()
				io.Copy(h, r.Body)
				sum <- [32]byte(h.Sum(nil))
				w.Write(down)
			}))))
		server := mock.New(t, opts...)
		var client *okhttp.Client
		if secure {
			client = startClient(t, okhttp.WithTLSConfig(server.ClientTLS()))
		} else {
			client = overHTTP2(t)
		}
		up := bytes.Repeat([]byte("fedcba9876543210"), 5<<16) // 5 MiB
		resp, err := client.Do(newRequest(t, "POST", server.URL("/"), bytes.NewReader(up)))
		wantBody(t, resp, err, string(down))
		if got := <-sum; got != sha256.Sum256(up) {
			t.Error("the upload arrived changed")
		}
	}
}

// A cold burst to one host needs one connection.
func TestHTTP2BurstSharesOneConnection(t *testing.T) {
	server := mock.New(t, mock.WithTLS(), mock.WithDispatcher(mock.DispatcherFunc(
		func(context.Context, *mock.RecordedRequest) mock.Response { return mock.Text("hello") })))
	client := startClient(t, okhttp.WithTLSConfig(server.ClientTLS()))
	var calls sync.WaitGroup
	for range 60 {
		calls.Go(func() {
			resp, err := client.Get(context.Background(), server.URL("/"))
			if err != nil {
				t.Error(err)
				return
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		})
	}
	calls.Wait()
	if s := client.Pool().Stats(); s.Open != 1 {
		t.Errorf("%d connections, want 1", s.Open)
	}
}

// The request body is still being sent while the response is read (as gRPC does).
func TestHTTP2FullDuplex(t *testing.T) {
	url, _ := h2Server(t, func(p *h2Peer, n int) {
		p.begin()
		id := p.request()
		p.head(id, "200", "trailer", "Sum")
		for {
			f, err := p.ReadFrame()
			if err != nil {
				return
			}
			if d, ok := f.(*http2.DataFrame); ok {
				if len(d.Data()) > 0 {
					p.WriteData(id, false, d.Data())
				}
				if d.StreamEnded() {
					// literal without indexing: "sum: done"
					p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, EndHeaders: true, EndStream: true,
						BlockFragment: []byte("\x00\x03sum\x04done")})
					p.wait()
					return
				}
			}
		}
	})
	client := overHTTP2(t)
	body, feed := io.Pipe()
	resp, err := client.Do(newRequest(t, "POST", url, body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, text := range []string{"ping 1", "ping 2", "ping 3"} {
		feed.Write([]byte(text))
		got := make([]byte, len(text))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != text {
			t.Fatalf("%q, %v; want %q", got, err, text)
		}
	}
	feed.Close()
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) != 0 || resp.Trailer.Get("Sum") != "done" {
		t.Errorf("rest %q, %v, trailer %v", rest, err, resp.Trailer)
	}
}

func TestHTTP2Trailers(t *testing.T) {
	url, _ := h2Server(t, func(p *h2Peer, n int) {
		p.begin()
		id := p.request()
		p.head(id, "103", "link", "</a.css>")
		p.head(id, "200")
		p.WriteData(id, false, []byte("hello"))
		// literal without indexing: "sum: 42"
		p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, EndHeaders: true, EndStream: true,
			BlockFragment: []byte("\x00\x03sum\x0242")})
		p.wait()
	})
	client := overHTTP2(t)
	resp, err := client.Get(context.Background(), url)
	wantBody(t, resp, err, "hello")
	if got := resp.Trailer.Get("Sum"); got != "42" {
		t.Errorf("trailer %q, want 42", got)
	}
}

func TestHTTP2RefusedStreamIsSentAgain(t *testing.T) {
	url, count := h2Server(t, func(p *h2Peer, n int) {
		p.begin()
		p.WriteRSTStream(p.request(), http2.ErrCodeRefusedStream)
		p.answer(p.request(), "second")
		p.wait()
	})
	client := overHTTP2(t)
	resp, err := client.Do(newRequest(t, "POST", url, strings.NewReader("not idempotent")))
	wantBody(t, resp, err, "second")
	if count() != 1 {
		t.Errorf("%d connections, want 1", count())
	}
}

func TestHTTP2StreamErrors(t *testing.T) {
	for _, code := range []http2.ErrCode{http2.ErrCodeInternal, http2.ErrCodeCancel, http2.ErrCodeEnhanceYourCalm} {
		t.Run(code.String(), func(t *testing.T) {
			url, _ := h2Server(t, func(p *h2Peer, n int) {
				p.begin()
				p.WriteRSTStream(p.request(), code)
				p.wait()
			})
			client := overHTTP2(t)
			resp, err := client.Do(newRequest(t, "POST", url, strings.NewReader("x")))
			if err == nil {
				resp.Body.Close()
				t.Fatal("no error")
			}
			var reset *okhttp.StreamError
			if !errors.As(err, &reset) || uint32(reset.Code) != uint32(code) || !reset.Remote() {
				t.Errorf("%v", err)
			}
			var where *okhttp.Error
			if !errors.As(err, &where) || where.Addr == "" || !strings.Contains(err.Error(), code.String()) {
				t.Errorf("%v does not say where and why", err)
			}
		})
	}
}

// A stream above GOAWAY's last one goes to a new connection, one below it ends here.
func TestHTTP2GoAway(t *testing.T) {
	url, count := h2Server(t, func(p *h2Peer, n int) {
		p.begin()
		if n > 0 {
			p.answer(p.request(), "new")
			p.wait()
			return
		}
		first, second := p.request(), p.request()
		p.WriteGoAway(first, http2.ErrCodeNo, nil)
		p.answer(first, "old")
		_ = second
		p.wait()
	})
	client := overHTTP2(t)
	var calls sync.WaitGroup
	got := make(chan string, 2)
	for range 2 {
		calls.Go(func() {
			resp, err := client.Do(newRequest(t, "POST", url, strings.NewReader("x")))
			if err != nil {
				t.Error(err)
				return
			}
			b, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			got <- string(b)
		})
	}
	calls.Wait()
	close(got)
	seen := map[string]int{}
	for s := range got {
		seen[s]++
	}
	if seen["old"] != 1 || seen["new"] != 1 || count() != 2 {
		t.Errorf("answers %v on %d connections", seen, count())
	}
}

func TestHTTP2GoAwayWithError(t *testing.T) {
	url, _ := h2Server(t, func(p *h2Peer, n int) {
		p.begin()
		id := p.request()
		p.WriteGoAway(id, http2.ErrCodeEnhanceYourCalm, []byte("too\nmuch"))
		p.conn.(*net.TCPConn).CloseWrite()
		p.wait()
	})
	client := overHTTP2(t)
	resp, err := client.Do(newRequest(t, "POST", url, strings.NewReader("x")))
	if err == nil {
		resp.Body.Close()
		t.Fatal("no error")
	}
	var away *okhttp.GoAwayError
	if !errors.As(err, &away) || away.Code != okhttp.CodeEnhanceYourCalm || away.LastStreamID() != 1 {
		t.Fatal(err)
	}
	if strings.Contains(away.Debug(), "\n") || !strings.HasPrefix(away.Debug(), "too") {
		t.Errorf("debug %q", away.Debug())
	}
}

// A peer that falls silent without a word is found out, and the call is repeated
// on another connection, long before any timeout of its own.
func TestHTTP2SilentPeerIsAbandoned(t *testing.T) {
	url, count := h2Server(t, func(p *h2Peer, n int) {
		p.begin()
		p.answer(p.request(), "first")
		if n > 0 {
			p.wait()
			return
		}
		io.Copy(io.Discard, p.conn) // hears all, says nothing
	})
	client := overHTTP2(t, okhttp.WithReadTimeout(0), okhttp.WithPingInterval(50*time.Millisecond))
	h2Get(t, client, url, "first")
	h2Get(t, client, url, "first")
	if count() != 2 {
		t.Errorf("%d connections, want 2", count())
	}
}

func TestHTTP2PingTimeoutIsTyped(t *testing.T) {
	url, _ := h2Server(t, func(p *h2Peer, n int) {
		p.begin()
		io.Copy(io.Discard, p.conn)
	})
	client := overHTTP2(t, okhttp.WithReadTimeout(0), okhttp.WithPingInterval(50*time.Millisecond))
	resp, err := client.Do(newRequest(t, "POST", url, strings.NewReader("x")))
	if err == nil {
		resp.Body.Close()
		t.Fatal("no error")
	}
	var dead *okhttp.LivenessError
	if !errors.As(err, &dead) || dead.After() != 50*time.Millisecond || !errors.Is(err, okhttp.ErrOutcomeUnknown) {
		t.Error(err)
	}
}

// At the limit of its streams a connection is joined by another, up to the limit of
// connections per host: there calls take turns.
func TestHTTP2CallsWaitAtTheStreamLimit(t *testing.T) {
	url, count := h2Server(t, func(p *h2Peer, n int) {
		p.begin(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
		for id := p.request(); id != 0; id = p.request() {
			p.answer(id, "hello")
		}
	})
	client := overHTTP2(t, okhttp.WithMaxConnectionsPerHost(1))
	h2Get(t, client, url, "hello") // the limit is known now
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() { h2Get(t, client, url, "hello") })
	}
	calls.Wait()
	if count() != 1 {
		t.Errorf("%d connections, want 1", count())
	}
}

// P10: a limit of 10 streams and 4 connections, 40 calls at once.
func TestHTTP2OpensUpToTheConnectionLimit(t *testing.T) {
	var mu sync.Mutex
	var open int
	all := make(chan struct{})
	url, count := h2Server(t, func(p *h2Peer, n int) {
		p.begin(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 10})
		var mine []uint32
		for len(mine) < 10 {
			id := p.request()
			if id == 0 {
				return
			}
			mine = append(mine, id)
			mu.Lock()
			if open++; open == 40 {
				close(all)
			}
			mu.Unlock()
		}
		<-all
		for _, id := range mine {
			p.answer(id, "hello")
		}
		p.wait()
	})
	client := overHTTP2(t, okhttp.WithMaxConnectionsPerHost(4))
	var calls sync.WaitGroup
	for range 40 {
		calls.Go(func() { h2Get(t, client, url, "hello") })
	}
	calls.Wait()
	if count() != 4 {
		t.Errorf("%d connections, want 4", count())
	}
}

// A response that was not read to its end costs its stream, not the connection.
func TestHTTP2CloseEarlyKeepsTheConnection(t *testing.T) {
	server := mock.New(t, mock.WithProtocols("h2_prior_knowledge"))
	client := overHTTP2(t)
	big := strings.Repeat("x", 4<<20)
	for range 8 { // more than a connection's window
		server.Enqueue(mock.Text(big))
		resp, err := client.Get(context.Background(), server.URL("/"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	server.Enqueue(mock.Text(big))
	h2Get(t, client, server.URL("/"), big)
	if s := client.Pool().Stats(); s.Open != 1 {
		t.Errorf("%d connections, want 1", s.Open)
	}
}
