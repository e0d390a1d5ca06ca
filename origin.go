package okhttp

import (
	"net/url"
	"strings"

	"golang.org/x/net/idna"

	"github.com/okhttp-go/okhttp/internal/connect"
)

// hostAndPort is what a network interceptor must keep.
type hostAndPort struct{ host, port string }

func origin(u *url.URL) hostAndPort {
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = defaultPort(u.Scheme)
	}
	return hostAndPort{strings.ToLower(host), port}
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// addressOf names the connections that can serve a URL.
func addressOf(u *url.URL, how *connect.Config) (connect.Address, error) {
	a := connect.Address{Config: how}
	var err error
	if a.Scheme, err = schemeOf(u); err != nil {
		return a, err
	}
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return a, err
	}
	a.Host, a.Port = host, u.Port()
	if a.Port == "" {
		a.Port = defaultPort(a.Scheme)
	}
	return a, nil
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// asciiAuthority is asciiHost for a host with, perhaps, a port.
func asciiAuthority(hostport string) (string, error) {
	u := url.URL{Host: hostport}
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return "", err
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return host, nil
}

// schemeOf returns "http" or "https".
func schemeOf(u *url.URL) (string, error) {
	switch u.Scheme {
	case "http", "https":
		return u.Scheme, nil
	}
	scheme := strings.ToLower(u.Scheme)
	if scheme != "http" && scheme != "https" {
		return "", &RequestError{reason: "unsupported protocol scheme " + quoteScheme(u.Scheme)}
	}
	return scheme, nil
}

func quoteScheme(s string) string {
	if len(s) > 32 {
		s = s[:32] + "…"
	}
	return `"` + s + `"`
}

// hostProfile is UTS 46 as browsers apply it. Underscores and "--" in the third
// and fourth place occur in real hosts, so they are let through.
var hostProfile = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.CheckHyphens(false),
	idna.CheckJoiners(true), idna.BidiRule(), idna.StrictDomainName(false), idna.VerifyDNSLength(false))

// asciiHost gives a host the form in which it is resolved and compared: lower
// case, international names in Punycode.
func asciiHost(host string) (string, error) {
	if host == "" {
		return "", &RequestError{reason: "request URL has no host"}
	}
	plain := true
	for i := 0; i < len(host); i++ {
		switch c := host[i]; {
		case c >= 0x80:
			ascii, err := hostProfile.ToASCII(host)
			if err != nil || ascii == "" {
				return "", &RequestError{reason: "request URL has an invalid international host name"}
			}
			return ascii, nil
		case c <= ' ' || c == 0x7f:
			return "", &RequestError{reason: "request URL has an invalid host"}
		case 'A' <= c && c <= 'Z':
			plain = false
		}
	}
	if plain {
		return host, nil
	}
	return strings.ToLower(host), nil
}
