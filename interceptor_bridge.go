package okhttp

import (
	"net/http"
	"strings"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// Values that many requests share. Nobody may change them; requests that
// network interceptors see get copies.
var (
	keepAliveValue = []string{"Keep-Alive"}
	gzipValue      = []string{"gzip"}
)

// bridge turns the user's request into what goes over the network, and the
// network's response into what the user meant: default headers, cookies, gzip.
func (c *Call) bridge(cfg *settings, user *http.Request) (*http.Response, error) {
	c.phase = PhaseRequest
	wire, unzip := c.networkRequest(cfg, user)
	if err := httpsem.CheckRequest(wire, bodyLength(user)); err != nil {
		return nil, err
	}
	resp, err := c.connectTo(cfg, wire)
	if err != nil {
		return nil, err
	}
	if c.door == wholeClient && cfg.jar != nil {
		if cookies := resp.Cookies(); len(cookies) > 0 {
			cfg.jar.SetCookies(user.URL, cookies)
		}
	}
	if unzip && gzipped(resp) {
		if e := exchangeOf(resp); e == nil || e.hasBody {
			decompress(resp)
		}
	}
	return resp, nil
}

// networkRequest returns the request with the client's own headers. unzip says
// that the client asked for gzip by itself, and so has to undo it.
func (c *Call) networkRequest(cfg *settings, user *http.Request) (wire *http.Request, unzip bool) {
	if c.prior == nil && c.wireReq.URL == nil {
		wire = &c.wireReq
	} else {
		wire = new(http.Request)
	}
	*wire = *user
	shared := len(c.cfg.networkInterceptors) == 0 // nobody but us touches the values
	h := make(http.Header, len(user.Header)+4)
	for name, values := range user.Header {
		if !shared {
			values = append([]string(nil), values...)
		}
		h[name] = values
	}
	wire.Header = h
	if wire.Method == "" {
		wire.Method = http.MethodGet
	}
	if wire.Host == "" {
		wire.Host = wire.URL.Host
	}
	set := func(name string, values []string) {
		if !shared {
			values = append([]string(nil), values...)
		}
		h[name] = values
	}
	if _, ok := h["Connection"]; !ok && !wire.Close {
		set("Connection", keepAliveValue)
	}
	if cfg.gzip && !has(h, "Accept-Encoding") && !has(h, "Range") {
		set("Accept-Encoding", gzipValue)
		unzip = true
	}
	if c.door == wholeClient && cfg.jar != nil {
		if cookies := cfg.jar.Cookies(user.URL); len(cookies) > 0 {
			h["Cookie"] = []string{cookieHeader(cookies)}
		}
	}
	switch ua, ok := h["User-Agent"]; {
	case ok && (len(ua) == 0 || ua[0] == ""):
		delete(h, "User-Agent") // net/http's way to ask for none
	case !ok && cfg.userAgent != "":
		set("User-Agent", cfg.userAgentValue)
	}
	return wire, unzip
}

func has(h http.Header, canonical string) bool {
	if _, ok := h[canonical]; ok {
		return true
	}
	for name := range h { // a caller may have kept its own case
		if len(name) == len(canonical) && strings.EqualFold(name, canonical) {
			return true
		}
	}
	return false
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
