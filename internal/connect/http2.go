package connect

import (
	"github.com/okhttp-go/okhttp/internal/http2"
)

// multiplexed is a connection that speaks HTTP/2.
type multiplexed struct{ *http2.Conn }

// speakHTTP2 begins HTTP/2 on a link.
func speakHTTP2(config *Config, l Link, r reports) engine {
	return multiplexed{http2.New(newSocket(l), http2.Config{
		Reports:      http2.Reports(r),
		PingInterval: config.PingInterval,
		Push:         config.Push,
	})}
}

func (m multiplexed) newCodec() Codec { return m.NewStream() }
