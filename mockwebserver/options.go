package mockwebserver

import (
	"crypto/tls"
	"net"

	"github.com/okhttp-go/okhttp/certs"
)

// Option configures a server; see the With functions that return one.
type Option interface{ apply(*settings) }

type option func(*settings)

func (o option) apply(s *settings) { o(s) }

type settings struct {
	address    string
	listeners  []net.Listener
	hostName   string
	dispatcher Dispatcher
	fallback   *Response

	tls        bool
	tlsConfig  *tls.Config // the base; nil for none
	held       *certs.Held
	names      []string
	clientAuth tls.ClientAuthType
	protocols  []string
	http2      http2Options

	bodyLimit    int64
	headLimit    int
	autoContinue bool
	noRecording  bool
	logf         func(format string, args ...any)
	hook         func(ConnectionEvent)
}

func defaultSettings() settings {
	return settings{
		address:   "127.0.0.1:0",
		protocols: []string{"h2", "http/1.1"},
		bodyLimit: -1,
		headLimit: 256 << 10,
		logf:      func(string, ...any) {},
		hook:      func(ConnectionEvent) {},
	}
}

// WithAddress sets the TCP address to listen on. Default: "127.0.0.1:0", a free
// port.
func WithAddress(address string) Option { return option(func(s *settings) { s.address = address }) }

// WithListener listens on l instead of a TCP address, and closes it with the
// server. Given several times, the server listens on all; the first one gives
// the server its address.
func WithListener(l net.Listener) Option {
	return option(func(s *settings) { s.listeners = append(s.listeners, l) })
}

// WithHostName sets the host name in the server's URLs, for which a generated
// certificate is then valid too. It is up to the client to find the server
// under that name. Default: the IP address the server listens on.
func WithHostName(name string) Option { return option(func(s *settings) { s.hostName = name }) }

// WithDispatcher sets what chooses the responses. Default: a new Queue.
func WithDispatcher(d Dispatcher) Option { return option(func(s *settings) { s.dispatcher = d }) }

// WithFallback sets the response to requests that find the queue empty, such
// as Status(404); see Queue.SetFallback. Default: such a request waits until a
// response is added.
func WithFallback(r Response) Option { return option(func(s *settings) { s.fallback = &r }) }

// WithBodyLimit keeps at most n bytes of each request body; the rest is read
// and counted. Negative means no limit, which is the default.
func WithBodyLimit(n int64) Option { return option(func(s *settings) { s.bodyLimit = n }) }

// WithHeadLimit answers 431 to requests whose head has more than n bytes; a
// chunked body's extensions and trailer have that limit together. Default:
// 256 KiB.
func WithHeadLimit(n int) Option { return option(func(s *settings) { s.headLimit = n }) }

// WithAutoContinue sends "100 Continue" to each request that expects it, before
// the body is read, unless its response is scripted to do so or is read
// otherwise than ReadBeforeResponse. Default: only what is scripted is sent.
func WithAutoContinue() Option { return option(func(s *settings) { s.autoContinue = true }) }

// WithoutRecording keeps no requests for TakeRequest, only counts them, so that
// a server can run for long.
func WithoutRecording() Option { return option(func(s *settings) { s.noRecording = true }) }

// WithLogf reports what went wrong, and requests that wait for a response, to
// a function like log.Printf. Default: t.Logf for New, nothing for NewServer.
func WithLogf(logf func(format string, args ...any)) Option {
	return option(func(s *settings) { s.logf = logf })
}

// WithConnectionHook calls a function at each ConnectionEvent, on the
// goroutine of the connection, which waits for it.
func WithConnectionHook(hook func(ConnectionEvent)) Option {
	return option(func(s *settings) { s.hook = hook })
}
