package okhttp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/okhttp-go/okhttp"
)

// pushLog writes down what it is told, and cancels where it is told to.
type pushLog struct {
	mu     sync.Mutex
	lines  []string
	cancel string // the beginning of a line
}

func (l *pushLog) add(p *okhttp.Push, format string, args ...any) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := fmt.Sprint(p.StreamID, " ", fmt.Sprintf(format, args...))
	l.lines = append(l.lines, line)
	return l.cancel != "" && strings.HasPrefix(line, l.cancel)
}

func (l *pushLog) OnPushRequest(p *okhttp.Push) bool {
	return l.add(p, "request %s %s %q on %d", p.Request.Method, p.Request.URL.Path, p.Request.Header.Get("Accept"), p.Connection.ID())
}

func (l *pushLog) OnPushHeaders(p *okhttp.Push, status int, h http.Header, last bool) bool {
	return l.add(p, "headers %d %s %v", status, h.Get("X-Which"), last)
}

func (l *pushLog) OnPushData(p *okhttp.Push, data []byte, last bool) bool {
	return l.add(p, "data %q %v", data, last)
}

func (l *pushLog) OnPushReset(p *okhttp.Push, err error) {
	var reset *okhttp.StreamError
	if errors.As(err, &reset) {
		l.add(p, "reset %v remote %v", reset.Code, reset.Remote())
		return
	}
	l.add(p, "lost %v", err)
}

func (l *pushLog) want(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if got := strings.Join(l.lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// promise announces a push for a request; fields replace or add to those of a GET
// for /pushed.
func (p *h2Peer) promise(stream, promised uint32, authority string, fields ...string) {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	all := []string{":method", "GET", ":scheme", "http", ":authority", authority, ":path", "/pushed", "accept", "*/*"}
	for i := 0; i < len(fields); i += 2 {
		replaced := false
		for j := 0; j < len(all); j += 2 {
			if all[j] == fields[i] {
				all[j+1], replaced = fields[i+1], true
			}
		}
		if !replaced {
			all = append(all, fields[i], fields[i+1])
		}
	}
	for i := 0; i < len(all); i += 2 {
		e.WriteField(hpack.HeaderField{Name: all[i], Value: all[i+1]})
	}
	p.WritePushPromise(http2.PushPromiseParam{StreamID: stream, PromiseID: promised, BlockFragment: block.Bytes(), EndHeaders: true})
}

// resets reads up to the answer of a ping, so all that the client has to say
// about what came before, and returns the streams that it reset.
func (p *h2Peer) resets() map[uint32]http2.ErrCode {
	p.WritePing(false, [8]byte{7})
	got := map[uint32]http2.ErrCode{}
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return got
		}
		switch f := f.(type) {
		case *http2.RSTStreamFrame:
			got[f.StreamID] = f.ErrCode
		case *http2.PingFrame:
			if f.IsAck() {
				return got
			}
		}
	}
}

// pushed makes one call to a server that pushes, and returns what the client reset.
func pushed(t *testing.T, observer *pushLog, script func(p *h2Peer, stream uint32, authority string)) map[uint32]http2.ErrCode {
	t.Helper()
	var url string
	resets := make(chan map[uint32]http2.ErrCode, 1)
	url, _ = h2Server(t, func(p *h2Peer, _ int) {
		p.begin()
		stream := p.request()
		script(p, stream, strings.TrimPrefix(url, "http://"))
		got := p.resets()
		p.answer(stream, "own")
		resets <- got
		p.wait()
	})
	client := overHTTP2(t, okhttp.WithPushObserver(observer))
	h2Get(t, client, url, "own")
	return <-resets
}

func wantResets(t *testing.T, got map[uint32]http2.ErrCode, want map[uint32]http2.ErrCode) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the client has reset %v, want %v", got, want)
	}
}

func TestPushWhole(t *testing.T) {
	var log pushLog
	got := pushed(t, &log, func(p *h2Peer, stream uint32, authority string) {
		p.promise(stream, 2, authority)
		p.promise(stream, 4, authority, ":path", "/other")
		p.head(2, "103", "x-which", "hint")
		p.head(2, "200", "x-which", "two")
		p.WriteData(2, false, []byte("some "))
		p.head(4, "200", "content-length", "3", "x-which", "four")
		p.WriteData(2, true, []byte("more"))
		p.WriteData(4, true, []byte("abc"))
	})
	wantResets(t, got, nil)
	log.want(t,
		`2 request GET /pushed "*/*" on 1`,
		`4 request GET /other "*/*" on 1`,
		`2 headers 103 hint false`,
		`2 headers 200 two false`,
		`2 data "some " false`,
		`4 headers 200 four false`,
		`2 data "more" true`,
		`4 data "abc" true`,
	)
}

func TestPushCanceled(t *testing.T) {
	script := func(p *h2Peer, stream uint32, authority string) {
		p.promise(stream, 2, authority)
		p.head(2, "200", "x-which", "two")
		p.WriteData(2, false, []byte("some "))
		p.WriteData(2, true, []byte("more"))
	}
	heard := []string{`2 request GET /pushed "*/*" on 1`, `2 headers 200 two false`, `2 data "some " false`}
	for n, at := range []string{"2 request", "2 headers", "2 data"} {
		t.Run(at, func(t *testing.T) {
			log := pushLog{cancel: at}
			wantResets(t, pushed(t, &log, script), map[uint32]http2.ErrCode{2: http2.ErrCodeCancel})
			log.want(t, heard[:n+1]...)
		})
	}
}

func TestPushReset(t *testing.T) {
	begin := `2 request GET /pushed "*/*" on 1`
	for _, c := range []struct {
		name   string
		script func(p *h2Peer, stream uint32)
		code   http2.ErrCode // that the client resets with, 0 for none
		heard  []string
	}{
		{"by the server", func(p *h2Peer, _ uint32) {
			p.WriteRSTStream(2, http2.ErrCodeInternal)
		}, 0, []string{begin, "2 reset 2 remote true"}},
		{"longer than it says", func(p *h2Peer, _ uint32) {
			p.head(2, "200", "content-length", "2")
			p.WriteData(2, true, []byte("abc"))
		}, http2.ErrCodeProtocol, []string{begin, "2 headers 200  false", "2 reset 1 remote false"}},
		{"shorter than it says", func(p *h2Peer, _ uint32) {
			p.head(2, "200", "content-length", "4")
			p.WriteData(2, true, []byte("abc"))
		}, http2.ErrCodeProtocol, []string{begin, "2 headers 200  false", "2 reset 1 remote false"}},
		{"body before the head", func(p *h2Peer, _ uint32) {
			p.WriteData(2, true, []byte("abc"))
		}, http2.ErrCodeProtocol, []string{begin, "2 reset 1 remote false"}},
		{"no status", func(p *h2Peer, _ uint32) {
			var block bytes.Buffer
			hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: "x-which", Value: "none"})
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: 2, BlockFragment: block.Bytes(), EndHeaders: true})
		}, http2.ErrCodeProtocol, []string{begin, "2 reset 1 remote false"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log pushLog
			got := pushed(t, &log, func(p *h2Peer, stream uint32, authority string) {
				p.promise(stream, 2, authority)
				c.script(p, stream)
			})
			want := map[uint32]http2.ErrCode{}
			if c.code != 0 {
				want[2] = c.code
			}
			wantResets(t, got, want)
			log.want(t, c.heard...)
		})
	}
}

// A promise that no client may trust is refused, and the observer is not bothered.
func TestPushRefusedUnheard(t *testing.T) {
	for name, fields := range map[string][]string{
		"another origin": {":authority", "example.com"},
		"another scheme": {":scheme", "https"},
		"unsafe method":  {":method", "POST"},
		"with a body":    {"content-length", "5"},
		"no path":        {":path", ""},
		"bad path":       {":path", "/%zz"},
	} {
		t.Run(name, func(t *testing.T) {
			var log pushLog
			got := pushed(t, &log, func(p *h2Peer, stream uint32, authority string) {
				p.promise(stream, 2, authority, fields...)
			})
			want := map[uint32]http2.ErrCode{2: http2.ErrCodeProtocol}
			if name == "bad path" {
				want[2] = http2.ErrCodeCancel
			}
			wantResets(t, got, want)
			log.want(t)
		})
	}
}

func TestPushLimit(t *testing.T) {
	var log pushLog
	got := pushed(t, &log, func(p *h2Peer, stream uint32, authority string) {
		for n := range uint32(102) {
			p.promise(stream, 2+2*n, authority)
		}
	})
	wantResets(t, got, map[uint32]http2.ErrCode{202: http2.ErrCodeRefusedStream, 204: http2.ErrCodeRefusedStream})
	if len(log.lines) != 100 {
		t.Errorf("%d pushes were told, want 100", len(log.lines))
	}
}

func TestPushEndsWithItsConnection(t *testing.T) {
	var url string
	url, _ = h2Server(t, func(p *h2Peer, _ int) {
		p.begin()
		stream := p.request()
		p.promise(stream, 2, strings.TrimPrefix(url, "http://"))
		p.WriteGoAway(stream, http2.ErrCodeInternal, []byte("enough"))
		p.conn.Close()
	})
	var log pushLog
	client := overHTTP2(t, okhttp.WithPushObserver(&log), okhttp.WithRetryOnConnectionFailure(false))
	resp, err := client.Get(context.Background(), url)
	if err == nil {
		resp.Body.Close()
		t.Fatal("the call has succeeded")
	}
	client.Close()
	if len(log.lines) != 2 || !strings.HasPrefix(log.lines[1], "2 lost ") {
		t.Errorf("heard %q", log.lines)
	}
}

// Without an observer the server is told not to push; a promise that was on its
// way already is reset.
func TestPushRefusedByDefault(t *testing.T) {
	resets := make(chan map[uint32]http2.ErrCode, 1)
	var url string
	url, _ = h2Server(t, func(p *h2Peer, _ int) {
		f, err := p.ReadFrame()
		settings, ok := f.(*http2.SettingsFrame)
		if err != nil || !ok {
			t.Errorf("the client begins with %v, %v", f, err)
			return
		}
		if v, ok := settings.Value(http2.SettingEnablePush); !ok || v != 0 {
			t.Errorf("ENABLE_PUSH is %d, %v", v, ok)
		}
		p.begin()
		stream := p.request()
		p.promise(stream, 2, strings.TrimPrefix(url, "http://"))
		got := p.resets()
		p.answer(stream, "own")
		resets <- got
		p.wait()
	})
	h2Get(t, overHTTP2(t), url, "own")
	wantResets(t, <-resets, map[uint32]http2.ErrCode{2: http2.ErrCodeCancel})
}

// Frames of a push that was cancelled are still on their way; they cost the
// connection nothing, in its window neither.
func TestPushDataAfterCancelIsCredited(t *testing.T) {
	log := pushLog{cancel: "2 request"}
	var url string
	url, _ = h2Server(t, func(p *h2Peer, _ int) {
		p.begin()
		room := 65535
		var stream uint32
		read := func() { // one frame
			switch f, err := p.ReadFrame(); f := f.(type) {
			case *http2.WindowUpdateFrame:
				if f.StreamID == 0 {
					room += int(f.Increment)
				}
			case *http2.MetaHeadersFrame:
				stream = f.StreamID
			case nil:
				t.Error("the connection ended:", err)
				runtime.Goexit()
			}
		}
		for stream == 0 {
			read()
		}
		whole := room
		p.promise(stream, 2, strings.TrimPrefix(url, "http://"))
		p.head(2, "200")
		chunk := make([]byte, 16<<10)
		for sent := 0; sent < whole+whole/2; sent += len(chunk) {
			for room < len(chunk) {
				read()
			}
			p.WriteData(2, false, chunk)
			room -= len(chunk)
		}
		p.answer(stream, "own")
		p.wait()
	})
	h2Get(t, overHTTP2(t, okhttp.WithPushObserver(&log)), url, "own")
	log.want(t, `2 request GET /pushed "*/*" on 1`)
}
