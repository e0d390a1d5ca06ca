package okhttp

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/okhttp-go/okhttp/internal/connect"
)

// Protocol is a version of HTTP as ALPN names it (RFC 7301).
type Protocol string

// The protocols that a client can speak.
const (
	// HTTP1 is HTTP/1.1, RFC 9112.
	HTTP1 Protocol = "http/1.1"

	// H2 is HTTP/2 over TLS, RFC 9113, where the server chooses it.
	H2 Protocol = "h2"

	// H2PriorKnowledge is HTTP/2 without TLS, by prior knowledge (RFC 9113
	// section 3.3): there is no way back to HTTP/1.1.
	H2PriorKnowledge Protocol = "h2_prior_knowledge"
)

// WithProtocols sets the protocols that are offered to servers, the most wanted
// first. Either [HTTP1] is among them, or [H2PriorKnowledge] is the only one,
// and then https URLs fail. A [WithTLSConfig] with NextProtos decides what TLS
// offers, but what is not among the protocols is not spoken. Default: [H2], [HTTP1].
func WithProtocols(protocols ...Protocol) Option {
	return howOption("WithProtocols", func(c *connect.Config) error {
		names := make([]string, len(protocols))
		for i, p := range protocols {
			if slices.Contains(protocols[:i], p) {
				return fmt.Errorf("%s is given twice", p)
			}
			switch p {
			case HTTP1, H2, H2PriorKnowledge:
			default:
				return fmt.Errorf("unknown protocol %q", string(p))
			}
			names[i] = string(p)
		}
		switch prior := slices.Contains(protocols, H2PriorKnowledge); {
		case prior && len(protocols) > 1:
			return errors.New("h2_prior_knowledge must be the only protocol")
		case !prior && !slices.Contains(protocols, HTTP1):
			return errors.New("http/1.1 must be among the protocols, unless h2_prior_knowledge is the only one")
		}
		c.Protocols = names
		return nil
	})
}

// WithPingInterval has a PING sent on each HTTP/2 connection at this interval
// (RFC 9113 section 6.7); one that is not answered by the next ends the
// connection and fails its calls. It keeps middleboxes from forgetting idle
// connections. It is not needed to find dead ones: where calls wait in silence
// the client asks by itself. Default 0: none.
func WithPingInterval(d time.Duration) Option {
	return howOption("WithPingInterval", func(c *connect.Config) error {
		if d < 0 {
			return errors.New("negative duration")
		}
		c.PingInterval = d
		return nil
	})
}
