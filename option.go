package okhttp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/okhttp-go/okhttp/dns"
	"github.com/okhttp-go/okhttp/internal/connect"
)

// Option configures a client, a derived client, one call, or what is below an
// interceptor: [New], [Client.With], [Client.NewCall] and [Chain.With] take the
// same options. Where several set the same thing the last one wins. An option
// given where it comes too late is an error that says so.
type Option interface{ apply(*settings) error }

// place is where an option is given; an option names the latest place at which
// it still has an effect.
type place int

const (
	atClient place = iota // New, NewClient, Client.With
	atCall                // NewCall
	atChain               // Chain.With of an application interceptor
)

func (p place) String() string {
	switch p {
	case atClient:
		return "a client"
	case atCall:
		return "a call"
	default:
		return "an application interceptor's chain"
	}
}

type option struct {
	name   string
	latest place
	set    func(*settings) error
}

func (o option) apply(s *settings) error {
	if s.place > o.latest {
		return fmt.Errorf("%s comes too late: it can be given to %v at the latest", o.name, o.latest)
	}
	if err := o.set(s); err != nil {
		return fmt.Errorf("%s: %w", o.name, err)
	}
	return nil
}

// Defaults of a client.
const (
	DefaultTimeout        = 10 * time.Second // connect, read and write
	DefaultMaxIdle        = 256              // idle connections in all
	DefaultKeepAlive      = 5 * time.Minute  // idle time of a connection
	DefaultMaxFollowUps   = 20               // redirects, challenges and repeats of one call
	DefaultExpectContinue = time.Second      // wait for 100 Continue
	DefaultMaxHead        = 256 << 10        // bytes of response heads and trailers
)

// settings are what options set. They are immutable once a client, call or
// chain uses them.
type settings struct {
	place place

	applicationInterceptors []Interceptor
	networkInterceptors     []Interceptor
	listener                EventListener
	factories               []EventListenerFactory

	dispatcher      *Dispatcher
	dispatcherGiven bool // by WithDispatcher: no client owns it
	pool            *Pool
	poolGiven       bool // by WithConnectionPool: no client owns it
	poolConfig      PoolConfig
	poolStale       bool // poolConfig changed since pool was made

	how      connect.Config // how to connect, as the options say
	howStale bool           // how changed since connect was made
	connect  *connect.Config
	memory   *connect.RouteMemory

	jar           http.CookieJar
	authenticator Authenticator
	sensitive     []string

	retry            bool
	followRedirects  bool
	followTLS        bool
	followDowngrades bool
	crossBodies      bool
	idempotent       bool
	gzip             bool
	userAgent        string
	headerOrder      []string
	maxHead          int64
	leaks            func(Leak)

	callTimeout    time.Duration
	queueCounts    bool
	connectTimeout time.Duration
	readTimeout    time.Duration
	writeTimeout   time.Duration
	expectTimeout  time.Duration
}

func defaultSettings() settings {
	return settings{
		retry: true, followRedirects: true, followTLS: true, crossBodies: true, gzip: true,
		userAgent:      "okhttp-go/" + Version,
		connectTimeout: DefaultTimeout, readTimeout: DefaultTimeout, writeTimeout: DefaultTimeout,
		expectTimeout: DefaultExpectContinue,
		maxHead:       DefaultMaxHead,
		poolStale:     true,
		howStale:      true,
		how: connect.Config{
			Resolver:     dns.System(),
			TLS:          &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(0)},
			Protocols:    []string{"h2", "http/1.1"},
			FastFallback: true,
		},
	}
}

// derive returns a copy of s with the options applied at the place p.
func (s *settings) derive(p place, opts []Option) (*settings, error) {
	n := *s
	n.place = p
	// Appending must not write into a sibling's array.
	n.applicationInterceptors = n.applicationInterceptors[:len(n.applicationInterceptors):len(n.applicationInterceptors)]
	n.networkInterceptors = n.networkInterceptors[:len(n.networkInterceptors):len(n.networkInterceptors)]
	n.factories = n.factories[:len(n.factories):len(n.factories)]
	var errs []error
	for _, o := range opts {
		if o == nil {
			errs = append(errs, errors.New("nil option"))
			continue
		}
		if err := o.apply(&n); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if n.howStale {
		how := n.how
		n.connect, n.howStale = &how, false
		n.memory = connect.NewRouteMemory()
	}
	if n.poolStale {
		n.pool, n.poolStale = NewPool(n.poolConfig), false
	}
	if n.dispatcher == nil {
		n.dispatcher = NewDispatcher()
	}
	return &n, nil
}

// WithInterceptor adds application interceptors, in the order in which a call
// meets them. They see one request and one response, whatever happens below.
// Default: none.
func WithInterceptor(interceptors ...Interceptor) Option {
	return option{"WithInterceptor", atCall, func(s *settings) error {
		if err := noNil(interceptors); err != nil {
			return err
		}
		s.applicationInterceptors = append(s.applicationInterceptors, interceptors...)
		return nil
	}}
}

// WithNetworkInterceptor adds network interceptors. They see each request that
// goes to a server, with the headers that the client added, and its response as
// it came, still compressed. Default: none.
func WithNetworkInterceptor(interceptors ...Interceptor) Option {
	return option{"WithNetworkInterceptor", atCall, func(s *settings) error {
		if err := noNil(interceptors); err != nil {
			return err
		}
		s.networkInterceptors = append(s.networkInterceptors, interceptors...)
		return nil
	}}
}

func noNil(interceptors []Interceptor) error {
	for _, i := range interceptors {
		if i == nil {
			return errors.New("nil interceptor")
		}
	}
	return nil
}

// WithEventListener adds a listener that serves all calls. Nil adds nothing.
// Default: none, and then events cost nothing.
func WithEventListener(l EventListener) Option {
	return option{"WithEventListener", atCall, func(s *settings) error {
		s.listener = JoinListeners(s.listener, l)
		return nil
	}}
}

// WithEventListenerFactory adds a factory that makes one listener per call.
// Default: none.
func WithEventListenerFactory(f EventListenerFactory) Option {
	return option{"WithEventListenerFactory", atCall, func(s *settings) error {
		if f == nil {
			return errors.New("nil factory")
		}
		s.factories = append(s.factories, f)
		return nil
	}}
}

// WithDispatcher sets the dispatcher, so that clients can share one. A client
// does not close a dispatcher that was given to it. Default: one of the
// client's own, 64 calls at once and 5 per host.
func WithDispatcher(d *Dispatcher) Option {
	return option{"WithDispatcher", atClient, func(s *settings) error {
		if d == nil {
			return errors.New("nil dispatcher")
		}
		s.dispatcher, s.dispatcherGiven = d, true
		return nil
	}}
}

// WithConnectionPool sets the pool, so that clients can share one. A client
// does not close a pool that was given to it. Default: one of the client's own.
func WithConnectionPool(p *Pool) Option {
	return option{"WithConnectionPool", atChain, func(s *settings) error {
		if p == nil {
			return errors.New("nil pool")
		}
		s.pool, s.poolStale, s.poolGiven = p, false, true
		return nil
	}}
}

// poolOption changes the configuration of the client's own pool. On
// [Client.With] it gives the derived client a pool of its own.
func poolOption(name string, set func(*PoolConfig)) Option {
	return option{name, atClient, func(s *settings) error {
		set(&s.poolConfig)
		s.poolStale, s.poolGiven = true, false
		return nil
	}}
}

// WithMaxIdleConnections limits the idle connections of the client's pool, over
// all hosts; the longest idle is closed first. Default 256; 0 keeps none. On
// Client.With it makes a pool of its own.
func WithMaxIdleConnections(n int) Option {
	if n <= 0 {
		n = -1
	}
	return poolOption("WithMaxIdleConnections", func(c *PoolConfig) { c.MaxIdle = n })
}

// WithKeepAlive limits how long a connection may be idle. Default 5 minutes; 0
// means for ever. On Client.With it makes a pool of its own.
func WithKeepAlive(d time.Duration) Option {
	if d <= 0 {
		d = -1
	}
	return poolOption("WithKeepAlive", func(c *PoolConfig) { c.KeepAlive = d })
}

// WithMaxConnectionsPerHost limits the connections to one origin, open and
// opening; calls beyond it wait in the order in which they came. Default 0: no
// limit. On Client.With it makes a pool of its own.
func WithMaxConnectionsPerHost(n int) Option {
	return poolOption("WithMaxConnectionsPerHost", func(c *PoolConfig) { c.MaxPerHost = max(n, 0) })
}

// WithMaxConnectionAge limits how old a connection may get. Past it, less up to
// a tenth at random, it takes no new exchange and is closed when its last one
// ends, so that DNS changes and new servers are noticed. Default 0: no limit.
// On Client.With it makes a pool of its own.
func WithMaxConnectionAge(d time.Duration) Option {
	return poolOption("WithMaxConnectionAge", func(c *PoolConfig) { c.MaxAge = max(d, 0) })
}

// howOption changes how connections are opened. Connections made in different
// ways are never mixed, so it also changes which pooled connections fit.
func howOption(name string, set func(*connect.Config) error) Option {
	return option{name, atChain, func(s *settings) error {
		s.howStale = true
		return set(&s.how)
	}}
}

// WithDNS sets the resolver. Default: the system's. It is not asked for IP
// literals, nor where [WithDialer] is set.
func WithDNS(r dns.Resolver) Option {
	return howOption("WithDNS", func(c *connect.Config) error {
		if r == nil {
			return errors.New("nil resolver")
		}
		c.Resolver = r
		return nil
	})
}

// WithDialer sets the function that opens sockets. It is given "tcp" and the
// origin's host:port, unresolved, as net/http's DialContext is: it may resolve
// in its own way, or ignore the address (Unix sockets, in-memory networks). Nil
// restores the default. For a function that is to be given each resolved
// address see [WithAddressDialer].
func WithDialer(dial DialFunc) Option {
	return howOption("WithDialer", func(c *connect.Config) error {
		c.DialHost = dial
		return nil
	})
}

// WithAddressDialer sets the function that opens a socket to one resolved
// ip:port. The client resolves the host, and tries or races the addresses. Nil
// restores the default, a net.Dialer.
func WithAddressDialer(dial DialFunc) Option {
	return howOption("WithAddressDialer", func(c *connect.Config) error {
		c.DialAddr = dial
		return nil
	})
}

// WithTLSConfig sets the TLS configuration. It is cloned: later changes have no
// effect. The client sets ServerName and NextProtos for each connection unless
// the configuration does, and adds a session cache if it has none (give it
// SessionTicketsDisabled to go without). Nil restores the default.
func WithTLSConfig(config *tls.Config) Option {
	return howOption("WithTLSConfig", func(c *connect.Config) error {
		if config == nil {
			config = &tls.Config{}
		}
		c.TLS = config.Clone()
		if c.TLS.ClientSessionCache == nil && !c.TLS.SessionTicketsDisabled {
			c.TLS.ClientSessionCache = tls.NewLRUClientSessionCache(0)
		}
		return nil
	})
}

// WithFastFallback says whether the addresses of a host are raced, a new one
// every 250 ms (RFC 8305), or tried one after the other. Default true.
func WithFastFallback(on bool) Option {
	return howOption("WithFastFallback", func(c *connect.Config) error {
		c.FastFallback = on
		return nil
	})
}

// WithCookieJar sets the jar for [Client.Do] (RFC 6265), such as one of
// net/http/cookiejar. It is used by many calls at once. [Client.RoundTrip] does
// not use it: http.Client has its own. Default nil: no cookies.
func WithCookieJar(jar http.CookieJar) Option {
	return option{"WithCookieJar", atChain, func(s *settings) error { s.jar = jar; return nil }}
}

// WithAuthenticator sets what answers 401 challenges in [Client.Do] (RFC 9110
// section 11.6.1). It is used by many calls at once. Default nil: they are
// returned to the caller.
func WithAuthenticator(a Authenticator) Option {
	return option{"WithAuthenticator", atChain, func(s *settings) error { s.authenticator = a; return nil }}
}

// WithSensitiveHeaders names headers that, like Authorization, Cookie and
// Proxy-Authorization, are not carried to another origin by a redirect. The
// names add to those given before. Default: none.
func WithSensitiveHeaders(names ...string) Option {
	return option{"WithSensitiveHeaders", atChain, func(s *settings) error {
		s.sensitive = append(s.sensitive[:len(s.sensitive):len(s.sensitive)], names...)
		return nil
	}}
}

// WithRetryOnConnectionFailure says whether a request is sent again after its
// exchange failed, where that is safe. Other addresses are tried in any case.
// Default true.
func WithRetryOnConnectionFailure(on bool) Option {
	return option{"WithRetryOnConnectionFailure", atChain, func(s *settings) error { s.retry = on; return nil }}
}

// WithIdempotent marks requests as safe to repeat whatever their method (RFC 9110
// section 9.2.2), as an Idempotency-Key header does. Meant for one call. Default
// false.
func WithIdempotent(on bool) Option {
	return option{"WithIdempotent", atChain, func(s *settings) error { s.idempotent = on; return nil }}
}

// WithFollowRedirects says whether [Client.Do] follows redirects (RFC 9110 section
// 15.4), at most 20 in a call. Default true. With false the response is returned.
// [Client.RoundTrip] never follows any.
func WithFollowRedirects(on bool) Option {
	return option{"WithFollowRedirects", atChain, func(s *settings) error { s.followRedirects = on; return nil }}
}

// WithFollowTLSRedirects says whether redirects between http and https are
// followed. Default true, but see [WithFollowDowngrades] for those to http.
func WithFollowTLSRedirects(on bool) Option {
	return option{"WithFollowTLSRedirects", atChain, func(s *settings) error { s.followTLS = on; return nil }}
}

// WithFollowDowngrades says whether redirects from https to http are followed,
// too. Default false: what was asked for in secret is not repeated in the open.
func WithFollowDowngrades(on bool) Option {
	return option{"WithFollowDowngrades", atChain, func(s *settings) error { s.followDowngrades = on; return nil }}
}

// WithCrossOriginBodies says whether a 307 or 308 redirect to another origin
// carries the request body there. Default true; with false the redirect is
// returned to the caller.
func WithCrossOriginBodies(on bool) Option {
	return option{"WithCrossOriginBodies", atChain, func(s *settings) error { s.crossBodies = on; return nil }}
}

// WithTransparentGzip says whether the client asks for gzip, if the request
// asks for no encoding itself, and then decompresses the response. Then its
// Uncompressed is true, its ContentLength is -1, and Content-Encoding and
// Content-Length are gone. A body that is cut short, or is followed by other
// bytes, is an error when it is read. Default true.
func WithTransparentGzip(on bool) Option {
	return option{"WithTransparentGzip", atChain, func(s *settings) error { s.gzip = on; return nil }}
}

// WithUserAgent sets the User-Agent of requests that have none. Default
// "okhttp-go/VERSION"; "" sends none.
func WithUserAgent(ua string) Option {
	return option{"WithUserAgent", atChain, func(s *settings) error { s.userAgent = ua; return nil }}
}

// WithHeaderOrder sets the order, and the exact case, in which HTTP/1 request
// headers are written; Host, Content-Length and Transfer-Encoding may be among
// them. Headers not named follow, sorted. Default: Host and User-Agent first,
// the rest sorted.
func WithHeaderOrder(names ...string) Option {
	return option{"WithHeaderOrder", atChain, func(s *settings) error {
		s.headerOrder = append([]string(nil), names...)
		return nil
	}}
}

// WithMaxResponseHead limits the bytes of all response heads and trailers of
// one exchange; more is a [*ProtocolError]. Default 256 KiB; it must be positive.
func WithMaxResponseHead(bytes int64) Option {
	return option{"WithMaxResponseHead", atChain, func(s *settings) error {
		if bytes <= 0 {
			return errors.New("not positive")
		}
		s.maxHead = bytes
		return nil
	}}
}

// WithLeakDetector reports response bodies that were never closed: report is
// called, on a goroutine of the runtime, some time after the garbage collector
// found such a response unreachable, with the place that made the call. The
// connection is closed. Costs a stack trace per call. Nil switches it off, which
// is the default.
func WithLeakDetector(report func(Leak)) Option {
	return option{"WithLeakDetector", atCall, func(s *settings) error { s.leaks = report; return nil }}
}

func timeoutOption(name string, latest place, d time.Duration, field func(*settings) *time.Duration) Option {
	return option{name, latest, func(s *settings) error {
		if d < 0 {
			return fmt.Errorf("negative duration %v", d)
		}
		*field(s) = d
		return nil
	}}
}

// WithCallTimeout bounds a whole call, from its start to the end of the response
// body, redirects and retries included, after which it fails with
// [ErrCallTimeout]. Default 0: none.
func WithCallTimeout(d time.Duration) Option {
	return timeoutOption("WithCallTimeout", atCall, d, func(s *settings) *time.Duration { return &s.callTimeout })
}

// WithQueueTimeInCallTimeout says whether the time that an enqueued call waits
// in the dispatcher counts into its call timeout. Default false.
func WithQueueTimeInCallTimeout(on bool) Option {
	return option{"WithQueueTimeInCallTimeout", atCall, func(s *settings) error { s.queueCounts = on; return nil }}
}

// WithConnectTimeout bounds the opening of one socket, and the TLS handshake
// again; the next address has its own time. It ends in [ErrConnectTimeout].
// Default 10 s; 0 means none.
func WithConnectTimeout(d time.Duration) Option {
	return timeoutOption("WithConnectTimeout", atChain, d, func(s *settings) *time.Duration { return &s.connectTimeout })
}

// WithReadTimeout bounds each wait for bytes of a response, so a long download
// that makes progress is not cut. It does not run while the request is still
// being sent. It ends in [ErrReadTimeout]. Default 10 s, where net/http has no
// such limit; 0 means none.
func WithReadTimeout(d time.Duration) Option {
	return timeoutOption("WithReadTimeout", atChain, d, func(s *settings) *time.Duration { return &s.readTimeout })
}

// WithWriteTimeout bounds each write of a request. It ends in [ErrWriteTimeout].
// Default 10 s; 0 means none.
func WithWriteTimeout(d time.Duration) Option {
	return timeoutOption("WithWriteTimeout", atChain, d, func(s *settings) *time.Duration { return &s.writeTimeout })
}

// WithExpectContinueTimeout bounds the wait for the answer to a request with
// Expect: 100-continue (RFC 9110 section 10.1.1); after it the body is sent.
// Default 1 s; 0 sends the body at once.
func WithExpectContinueTimeout(d time.Duration) Option {
	return timeoutOption("WithExpectContinueTimeout", atChain, d, func(s *settings) *time.Duration { return &s.expectTimeout })
}
