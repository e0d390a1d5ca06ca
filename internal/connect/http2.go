package connect

import (
	"github.com/okhttp-go/okhttp/internal/http2"
)

// PushHandler takes what a server pushes on one connection.
type PushHandler = http2.PushHandler

// multiplexed is a connection that speaks HTTP/2.
type multiplexed struct{ *http2.Conn }

// speakHTTP2 begins HTTP/2 on a connection.
func speakHTTP2(c *Conn) engine {
	config := c.host.addr.Config
	settings := http2.Config{Reports: http2.Reports(c.reports()), PingInterval: config.PingInterval}
	if config.Push != nil {
		settings.Push = func() http2.PushHandler { return config.Push(c) }
	}
	return multiplexed{http2.New(newSocket(c.link), settings)}
}

func (m multiplexed) newCodec() Codec { return m.NewStream() }
