package okhttp_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"github.com/okhttp-go/okhttp"
)

// A thousand calls at once, some canceled, to a server that resets, refuses and
// goes away at random: each succeeds, or fails for the reason that was given.
func TestHTTP2Stress(t *testing.T) {
	const calls = 1000
	url, count := h2Server(t, func(p *h2Peer, n int) {
		random := rand.New(rand.NewPCG(1, uint64(n)))
		p.begin(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
		for id := p.request(); id != 0; id = p.request() {
			switch k := random.IntN(100); {
			case k < 5:
				p.WriteRSTStream(id, http2.ErrCodeInternal)
			case k < 10:
				p.WriteRSTStream(id, http2.ErrCodeRefusedStream)
			case k < 12:
				p.answer(id, "hello")
				p.WriteGoAway(id, http2.ErrCodeNo, nil)
				p.wait() // what is above id is asked for elsewhere
				return
			default:
				p.answer(id, "hello")
			}
		}
	})
	client := overHTTP2(t)
	var ok, canceled, reset, away atomic.Int64
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if i%5 == 0 {
				go cancel()
			}
			err := stressCall(ctx, client, url)
			var stream *okhttp.StreamError
			var gone *okhttp.GoAwayError
			switch {
			case err == nil:
				ok.Add(1)
			case errors.Is(err, context.Canceled) && i%5 == 0:
				canceled.Add(1)
			case errors.As(err, &stream) && stream.Remote() && (stream.Code == 2 || stream.Code == okhttp.CodeRefusedStream):
				reset.Add(1)
			case errors.As(err, &gone) && gone.Code == okhttp.CodeNoError && okhttp.SafeToRetry(err):
				away.Add(1)
			default:
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if n := ok.Load(); n < calls/2 {
		t.Errorf("only %d of %d calls have succeeded", n, calls)
	}
	if reset.Load() == 0 {
		t.Error("no call was reset")
	}
	t.Logf("%d succeeded, %d canceled, %d reset, %d away, on %d connections",
		ok.Load(), canceled.Load(), reset.Load(), away.Load(), count())
}

func stressCall(ctx context.Context, client *okhttp.Client, url string) error {
	resp, err := client.Get(ctx, url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && string(b) != "hello" {
		return errors.New("a body of another call")
	}
	return err
}
