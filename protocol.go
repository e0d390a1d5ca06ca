package okhttp

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/okhttp-go/okhttp/internal/connect"
)

// Protocol is a version of HTTP, by its ALPN name (RFC 7301) or, for a way of
// speaking it that has none, by a name of this package.
type Protocol string

// The protocols that a client speaks.
const (
	HTTP1 Protocol = "http/1.1"
	H2    Protocol = "h2" // HTTP/2 (RFC 9113), agreed on in the TLS handshake

	// H2PriorKnowledge is HTTP/2 without TLS and without asking first (RFC 9113
	// section 3.3). It is only for http URLs, and only on its own: a server that
	// does not speak it makes the call fail.
	H2PriorKnowledge Protocol = "h2_prior_knowledge"
)

// WithProtocols sets the protocols that the client speaks, most wanted first.
// Over TLS they are offered to the server, which chooses one (ALPN); http URLs
// are HTTP/1.1, unless the only protocol is [H2PriorKnowledge]. HTTP1 must be in
// any other list, since http URLs need it and a server may know nothing else.
// A [tls.Config] with NextProtos of its own narrows what is offered. Default H2, HTTP1.
func WithProtocols(protocols ...Protocol) Option {
	return howOption("WithProtocols", func(c *connect.Config) error {
		names, err := protocolNames(protocols)
		if err != nil {
			return err
		}
		c.Protocols = names
		return nil
	})
}

func protocolNames(protocols []Protocol) ([]string, error) {
	var names []string
	for i, p := range protocols {
		switch p {
		case HTTP1, H2, H2PriorKnowledge:
		default:
			return nil, fmt.Errorf("unknown protocol %q", p)
		}
		if slices.Contains(protocols[:i], p) {
			return nil, fmt.Errorf("%s is given twice", p)
		}
		names = append(names, string(p))
	}
	switch {
	case slices.Contains(protocols, H2PriorKnowledge):
		if len(protocols) > 1 {
			return nil, errors.New("h2_prior_knowledge goes with no other protocol")
		}
	case !slices.Contains(protocols, HTTP1):
		return nil, errors.New("http/1.1 is missing")
	}
	return names, nil
}

// WithPingInterval sets how long an open HTTP/2 connection may be silent before it is asked
// whether it lives (RFC 9113 section 6.7). One that does not answer in as much time,
// 5 seconds at most, is abandoned, and its calls fail with a
// [*LivenessError], or are repeated where that is safe. Default 0: a connection
// is asked only when it has been silent for some seconds while a call waits.
func WithPingInterval(d time.Duration) Option {
	return howOption("WithPingInterval", func(c *connect.Config) error {
		if d < 0 {
			return fmt.Errorf("negative duration %v", d)
		}
		c.PingInterval = d
		return nil
	})
}
