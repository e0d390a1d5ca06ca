package okhttp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/okhttp-go/okhttp/internal/connect"
)

// DialFunc opens a connection; it has the form of net.Dialer's DialContext.
type DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// Client makes calls. It is immutable and safe for concurrent use. Make one and
// keep it: its connections are what makes it fast. Variants of it come from
// [Client.With] and share them.
type Client struct {
	cfg  *settings
	life *lifetime
}

// lifetime is what a client and those derived from it end together.
type lifetime struct {
	closed     atomic.Bool
	pool       *Pool       // nil if it belongs to another
	dispatcher *Dispatcher // nil if it belongs to another
}

// New makes a client. It panics if an option is invalid; see [NewClient] for
// options that come from configuration.
func New(opts ...Option) *Client {
	c, err := NewClient(opts...)
	if err != nil {
		panic(err.Error())
	}
	return c
}

// NewClient makes a client, or returns what is wrong with the options.
func NewClient(opts ...Option) (*Client, error) {
	s := defaultSettings()
	cfg, err := s.derive(atClient, opts)
	if err != nil {
		return nil, optionError(err)
	}
	life := &lifetime{}
	if !cfg.poolGiven {
		life.pool = cfg.pool
	}
	if !cfg.dispatcherGiven {
		life.dispatcher = cfg.dispatcher
	}
	return &Client{cfg: cfg, life: life}, nil
}

func optionError(err error) error {
	return &Error{Phase: PhaseRequest, Err: err, safe: true}
}

// With derives a client that differs by the options and shares the pool, the
// dispatcher and the memory of failed routes, and is closed with c. It panics if
// an option is invalid. A connection is shared only between clients that
// connect in the same way (DNS, dialer, TLS). An option that changes the pool's
// limits gives the derived client a pool of its own, to be closed by itself.
func (c *Client) With(opts ...Option) *Client {
	cfg, err := c.cfg.derive(atClient, opts)
	if err != nil {
		panic(optionError(err).Error())
	}
	life := c.life
	if cfg.pool != c.cfg.pool && !cfg.poolGiven {
		life = &lifetime{pool: cfg.pool} // a pool of its own to close
	}
	return &Client{cfg: cfg, life: life}
}

// Do makes a call with the whole client: redirects, authentication, cookies,
// and recovery from connection failures. As with http.Client, an error means
// that there is no response, a status is never an error, and a response's body
// must be closed. The request's context bounds the call until then.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	call := newCall(c, c.cfg, req, wholeClient)
	call.hidden = true
	return call.execute()
}

// RoundTrip makes a call as an [http.RoundTripper]: without redirects,
// authentication and cookies, which are http.Client's, but with all the rest.
//
// It keeps to net/http where a program could tell: it reads Host, Content-Length,
// Transfer-Encoding and Trailer from the request's fields and not from its
// headers, does not ask for gzip in answer to HEAD, keeps Connection: close in a
// response's field Close and not in its header, and returns context.Canceled,
// and io.ErrUnexpectedEOF from a body that was cut off, as they are.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	call := newCall(c, c.cfg, req, roundTripper)
	call.hidden = true
	resp, err := call.execute()
	if err != nil {
		return nil, call.plain(err)
	}
	if resp.Close {
		call.hideClose(resp)
	}
	return resp, nil
}

// NewCall prepares a call of [Client.Do]'s kind, with options that hold for it
// alone. It does not start it. It panics if an option is invalid.
func (c *Client) NewCall(req *http.Request, opts ...Option) *Call {
	cfg := c.cfg
	if len(opts) > 0 {
		var err error
		if cfg, err = cfg.derive(atCall, opts); err != nil {
			panic(optionError(err).Error())
		}
	}
	return newCall(c, cfg, req, wholeClient)
}

// Get requests a URL. The context bounds the call until the response's body is
// closed. Errors are those of [Client.Do]; a URL that cannot be parsed is an
// [*Error] of [PhaseRequest].
func (c *Client) Get(ctx context.Context, url string) (*http.Response, error) {
	return c.send(ctx, http.MethodGet, url, "", nil)
}

// Head requests the headers of a URL (RFC 9110 section 9.3.2). See [Client.Get].
func (c *Client) Head(ctx context.Context, url string) (*http.Response, error) {
	return c.send(ctx, http.MethodHead, url, "", nil)
}

// Post sends a body, with a Content-Type unless that is "". If the body is an
// io.Closer it is closed, whatever happens. A bytes.Buffer, bytes.Reader or
// strings.Reader can be sent again after a redirect or a failure, other readers
// only if nothing of them was read. See [Client.Get].
func (c *Client) Post(ctx context.Context, url, contentType string, body io.Reader) (*http.Response, error) {
	return c.send(ctx, http.MethodPost, url, contentType, body)
}

// PostForm sends values as application/x-www-form-urlencoded. See [Client.Post].
func (c *Client) PostForm(ctx context.Context, url string, values url.Values) (*http.Response, error) {
	return c.send(ctx, http.MethodPost, url, "application/x-www-form-urlencoded", strings.NewReader(values.Encode()))
}

func (c *Client) send(ctx context.Context, method, url, contentType string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, &Error{Phase: PhaseRequest, Err: urlFault(err), safe: true}
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return c.Do(req)
}

// urlFault says what is wrong with a URL without repeating any of it: it may
// hold a secret, and not only where one would look for it.
func urlFault(err error) error {
	var u *url.Error
	if !errors.As(err, &u) {
		return err
	}
	switch cause := u.Err.(type) {
	case url.EscapeError:
		return errors.New("the URL has an invalid escape")
	case url.InvalidHostError:
		return errors.New("the URL has an invalid character in its host")
	default:
		reason, _, _ := strings.Cut(cause.Error(), `"`) // package url quotes what it repeats
		return errors.New("the URL is invalid: " + strings.TrimRight(strings.TrimPrefix(reason, "net/url: "), ": "))
	}
}

// CloseIdleConnections closes the connections that no call holds. http.Client
// calls it, too.
func (c *Client) CloseIdleConnections() { c.cfg.pool.CloseIdle() }

// Close ends all that the client owns: calls in progress fail with [ErrClosed],
// connections are closed, and when it returns no goroutine of the client is
// left. Later calls fail with ErrClosed. Derived clients are closed with it;
// a pool or dispatcher that was given to it stays open. It must not be called
// from a callback of the client. It always returns nil, and may be called twice.
func (c *Client) Close() error {
	c.life.closed.Store(true)
	if d := c.life.dispatcher; d != nil {
		d.close()
	}
	if p := c.life.pool; p != nil {
		p.p.Close()
	}
	if d := c.life.dispatcher; d != nil {
		d.wait()
	}
	return nil
}

// Pool returns the client's connection pool. Clients derived from each other
// have the same one, unless an option gave one of them its own.
func (c *Client) Pool() *Pool { return c.cfg.pool }

// Dispatcher returns the client's dispatcher, whose limits can be changed at any
// time. Clients derived from each other have the same one.
func (c *Client) Dispatcher() *Dispatcher { return c.cfg.dispatcher }

// PoolConfig configures a pool made by [NewPool]. Zero fields mean the defaults.
type PoolConfig struct {
	MaxIdle    int           // idle connections in all; default 256, negative keeps none
	KeepAlive  time.Duration // idle time; default 5 minutes, negative means for ever
	MaxPerHost int           // connections per origin, open and opening; default no limit
	MaxAge     time.Duration // age of a connection, less up to a tenth at random; default no limit
}

// NewPool makes a pool for [WithConnectionPool], to be shared among clients. It
// stays open when they are closed; [Pool.Close] ends it.
func NewPool(c PoolConfig) *Pool {
	l := connect.Limits{MaxIdle: c.MaxIdle, KeepAlive: c.KeepAlive, MaxPerHost: max(c.MaxPerHost, 0), MaxAge: max(c.MaxAge, 0)}
	if l.MaxIdle == 0 {
		l.MaxIdle = DefaultMaxIdle
	}
	if l.KeepAlive == 0 {
		l.KeepAlive = DefaultKeepAlive
	}
	l.MaxIdle, l.KeepAlive = max(l.MaxIdle, 0), max(l.KeepAlive, 0)
	return &Pool{p: connect.NewPool(l)}
}

// Close ends the pool and every connection in it, whoever uses it, and waits for
// attempts to connect to end. Later calls that need the pool fail with
// [ErrClosed]. It may be called twice.
func (p *Pool) Close() { p.p.Close() }
