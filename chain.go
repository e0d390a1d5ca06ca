package okhttp

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
)

// Interceptor observes, changes or answers requests.
//
// Intercept is given a chain and returns a response or an error, usually those
// of chain.Proceed. An application interceptor may call Proceed never, once, or
// again after it has closed the response before. A network interceptor must
// call it exactly once, and keep the request's host and port. One interceptor
// serves many calls at once.
//
// A request's body may be wrapped or replaced; both bodies are closed in the end.
// A response's body may be wrapped, too: with a method Unwrap() io.ReadCloser on
// the wrapper, [InfoOf] still finds what it needs.
type Interceptor interface {
	Intercept(chain *Chain) (*http.Response, error)
}

// InterceptorFunc makes an Interceptor of a function.
type InterceptorFunc func(chain *Chain) (*http.Response, error)

// Intercept calls f.
func (f InterceptorFunc) Intercept(chain *Chain) (*http.Response, error) { return f(chain) }

// Chain is what an interceptor is given: its request, and the way on. It is
// valid until Intercept returns.
type Chain struct {
	req  *http.Request
	call *Call
	cfg  *settings
	next func(*settings, *http.Request) (*http.Response, error)

	network  bool
	exchange *exchange // of a network interceptor
	late     string    // why options cannot hold
	proceeds *atomic.Int32
}

// Request is the request that the interceptor is to handle. It must not be
// changed: clone it. Its context is the call's.
func (ch *Chain) Request() *http.Request { return ch.req }

// Call is the call, nil in a chain made by [NewChain].
func (ch *Chain) Call() *Call { return ch.call }

// Connection is the connection on which the request will go out, for a network
// interceptor; none for an application interceptor.
func (ch *Chain) Connection() Connection {
	if ch.exchange == nil {
		return Connection{}
	}
	return Connection{ch.exchange.conn}
}

// Proceed handles the request by what is below, and returns its response. If the
// request has another context than the chain's, one with a timeout for this try,
// say, then its end ends what is below, up to the end of the response's body, and
// not the call: Proceed fails, is not retried below, and may be called again.
func (ch *Chain) Proceed(req *http.Request) (*http.Response, error) {
	if req == nil || req.URL == nil {
		return nil, &InterceptorError{Reason: "called Proceed with no request or no URL"}
	}
	if ch.late != "" {
		return nil, &InterceptorError{Reason: "gave options to its chain that cannot hold: " + ch.late}
	}
	if n := ch.proceeds.Add(1); ch.network && n > 1 {
		return nil, &InterceptorError{Reason: "called Proceed more than once"}
	}
	return ch.next(ch.cfg, req)
}

// With returns a chain on which the options hold for everything below Proceed,
// for this call only. In a network interceptor, and for options that cannot
// change any more, it is too late: Proceed then fails and says so.
func (ch *Chain) With(opts ...Option) *Chain {
	n := *ch
	if ch.network {
		n.late = "it is too late for them in a network interceptor: " + optionNames(opts)
		return &n
	}
	if ch.cfg == nil {
		return &n // a chain made by NewChain has no settings
	}
	cfg, err := ch.cfg.derive(atChain, opts)
	if err != nil {
		n.late = err.Error()
		return &n
	}
	n.cfg = cfg
	return &n
}

func optionNames(opts []Option) string {
	var names []string
	for _, o := range opts {
		if o, ok := o.(option); ok {
			names = append(names, o.name)
		}
	}
	return strings.Join(names, ", ")
}

// NewChain makes a chain to test an interceptor with: Proceed calls next.
func NewChain(req *http.Request, next func(*http.Request) (*http.Response, error)) *Chain {
	return &Chain{req: req, proceeds: new(atomic.Int32),
		next: func(_ *settings, req *http.Request) (*http.Response, error) { return next(req) }}
}

// Middleware makes an interceptor of a RoundTripper wrapper, as many packages
// have them: next, which wrap is given, proceeds. wrap is called once per
// request, so it should be cheap and keep no state of its own in what it returns.
func Middleware(wrap func(next http.RoundTripper) http.RoundTripper) Interceptor {
	return InterceptorFunc(func(ch *Chain) (*http.Response, error) {
		return wrap(roundTripFunc(ch.Proceed)).RoundTrip(ch.Request())
	})
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// intercept runs one interceptor and holds it to its contract.
func (ch *Chain) intercept(i Interceptor) (*http.Response, error) {
	resp, err := i.Intercept(ch)
	var fault *InterceptorError
	if errors.As(err, &fault) && fault.Interceptor == "" {
		fault.Interceptor = interceptorName(i)
	}
	reason := ""
	switch {
	case err != nil:
	case resp == nil:
		reason = "returned neither a response nor an error"
	case ch.network && ch.proceeds.Load() == 0:
		reason = "must call Proceed exactly once"
	}
	if reason != "" {
		if resp != nil && resp.Body != nil {
			resp.Body.Close()
		}
		return nil, &InterceptorError{Interceptor: interceptorName(i), Reason: reason}
	}
	if resp != nil && resp.Body == nil {
		resp.Body = http.NoBody
	}
	return resp, err
}

func interceptorName(i Interceptor) string {
	return strings.TrimPrefix(reflect.TypeOf(i).String(), "*")
}
