package okhttp

import (
	"net/http"
	"strings"
	"sync"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// bridge turns the user's request into what goes over the network, and the
// network's response into what the user meant: default headers, cookies, gzip.
func (c *Call) bridge(cfg *settings, user *http.Request) (*http.Response, error) {
	c.phase = PhaseRequest
	d := defaultsFor(cfg, user)
	if c.door == roundTripper {
		d.asNetHTTP(user)
	}
	var cookies []*http.Cookie
	if c.door == wholeClient && cfg.jar != nil {
		cookies = cfg.jar.Cookies(user.URL)
	}
	blank := mayBeBlank(user) && c.body.peek()
	wire := user
	if blank || c.wireIsSeen() || len(cookies) > 0 || d.noUserAgent || d.framing || !isASCII(user.URL.Host) || !isASCII(user.Host) {
		var err error
		if wire, err = d.apply(user, cookies); err != nil {
			return nil, err
		}
		clear(d.fields[:])
		if blank {
			wire.Body, wire.GetBody, wire.ContentLength, wire.TransferEncoding = http.NoBody, nil, 0, nil
		} else if body := c.body.present(); body != nil {
			wire.Body = body // for network interceptors that read from it
		}
	}
	if err := httpsem.CheckRequest(wire, bodyLength(wire)); err != nil {
		if _, unsupported := schemeOf(user.URL); unsupported != nil {
			return nil, unsupported // which explains why there is no host
		}
		return nil, err
	}
	resp, err := c.connectTo(cfg, wire, &d.fields)
	if err != nil {
		return nil, err
	}
	if c.door == wholeClient && cfg.jar != nil {
		if cookies := resp.Cookies(); len(cookies) > 0 {
			cfg.jar.SetCookies(user.URL, cookies)
		}
	}
	if d.unzip && gzipped(resp) {
		if e := exchangeOf(resp); e == nil || e.hasBody {
			decompress(resp)
		}
	}
	return resp, nil
}

// wireIsSeen reports whether anybody gets to see the network's request. Where
// nobody does it need not exist: the codec writes the user's, and the client's
// own headers with it.
func (c *Call) wireIsSeen() bool { return len(c.cfg.networkInterceptors) > 0 }

// sentRequest is a request as it went over the network, for listeners that ask
// for it.
type sentRequest struct {
	user  *http.Request
	extra [3]httpsem.Field // the client's own headers

	once sync.Once
	wire *http.Request
}

func (s *sentRequest) request() *http.Request {
	s.once.Do(func() {
		if s.extra[0].Name == "" {
			s.wire = s.user
			return
		}
		d := defaults{fields: s.extra}
		for d.n < len(d.fields) && d.fields[d.n].Name != "" {
			d.n++
		}
		wire, err := d.apply(s.user, nil)
		if err != nil { // cannot be: it was sent
			wire = s.user
		}
		s.wire = wire
	})
	return s.wire
}

// defaults are the headers that the client adds to a request.
type defaults struct {
	fields      [3]httpsem.Field
	n           int
	unzip       bool // the client asks for gzip by itself, and so has to undo it
	noUserAgent bool // the user asks, in net/http's way, to send none
	ownFraming  bool // the user's headers have some that net/http ignores
	framing     bool // and they are to be ignored here, too
}

func (d *defaults) add(name, value string) {
	d.fields[d.n] = httpsem.Field{Name: name, Value: value}
	d.n++
}

func defaultsFor(cfg *settings, user *http.Request) (d defaults) {
	connection, encoding, agent := user.Close, !cfg.gzip, cfg.userAgent == ""
	for name, values := range user.Header { // in any case: callers may keep their own
		switch len(name) {
		case len("Connection"): // and User-Agent
			connection = connection || strings.EqualFold(name, "Connection")
			if strings.EqualFold(name, "User-Agent") {
				agent = true
				d.noUserAgent = len(values) == 0 || values[0] == ""
			}
		case len("Accept-Encoding"):
			encoding = encoding || strings.EqualFold(name, "Accept-Encoding")
		case len("Host"), len("Trailer"), len("Content-Length"), len("Transfer-Encoding"):
			d.ownFraming = d.ownFraming || ignoredByNetHTTP(name)
		case len("Range"):
			encoding = encoding || strings.EqualFold(name, "Range")
		}
	}
	if !connection {
		d.add("Connection", "Keep-Alive")
	}
	if !encoding {
		d.add("Accept-Encoding", "gzip")
		d.unzip = true
	}
	if !agent {
		d.add("User-Agent", cfg.userAgent)
	}
	return d
}

// asNetHTTP takes back what net/http would not do: ask for gzip in answer to
// HEAD, whose point may be the Content-Length; or heed the headers which the
// request's fields determine, and which a program may have copied from another
// message together with all the rest. Written in another case they are still
// refused if they contradict.
func (d *defaults) asNetHTTP(user *http.Request) {
	if d.unzip && user.Method == http.MethodHead {
		d.unzip = false
		kept := d.fields[:0]
		for _, f := range d.fields[:d.n] {
			if f.Name != "Accept-Encoding" {
				kept = append(kept, f)
			}
		}
		clear(d.fields[len(kept):])
		d.n = len(kept)
	}
	d.framing = d.ownFraming
}

func ignoredByNetHTTP(name string) bool {
	switch name {
	case "Host", "Content-Length", "Transfer-Encoding", "Trailer":
		return true
	}
	return false
}

// apply makes the network's request, which shares nothing with the user's that
// an interceptor might change.
func (d *defaults) apply(user *http.Request, cookies []*http.Cookie) (*http.Request, error) {
	wire := new(http.Request)
	*wire = *user
	wire.Header = make(http.Header, len(user.Header)+d.n+1)
	values := make([]string, 0, len(user.Header)+d.n)
	for name, from := range user.Header {
		if d.noUserAgent && strings.EqualFold(name, "User-Agent") || d.framing && ignoredByNetHTTP(name) {
			continue
		}
		start := len(values)
		values = append(values, from...)
		wire.Header[name] = values[start:len(values):len(values)]
	}
	for _, f := range d.fields[:d.n] {
		values = append(values, f.Value)
		wire.Header[f.Name] = values[len(values)-1 : len(values) : len(values)]
	}
	if len(cookies) > 0 {
		wire.Header["Cookie"] = []string{cookieHeader(cookies)}
	}
	if wire.Method == "" {
		wire.Method = http.MethodGet
	}
	if wire.Host == "" {
		wire.Host = wire.URL.Host
	}
	if !isASCII(wire.Host) {
		host, err := asciiAuthority(wire.Host)
		if err != nil {
			return nil, err
		}
		wire.Host = host
	}
	return wire, nil
}

func cookieHeader(cookies []*http.Cookie) string {
	var b strings.Builder
	for i, cookie := range cookies {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(cookie.Name + "=" + cookieValue(cookie))
	}
	return b.String()
}

func cookieValue(cookie *http.Cookie) string {
	if cookie.Quoted {
		return `"` + cookie.Value + `"`
	}
	return cookie.Value
}
