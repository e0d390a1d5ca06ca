package followup

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// credentials are the headers that never cross origins.
var credentials = []string{"Authorization", "Cookie", "Proxy-Authorization"}

// bodyHeaders describe a request body; they go when the body goes.
var bodyHeaders = []string{
	"Content-Digest", "Content-Encoding", "Content-Language", "Content-Length",
	"Content-Location", "Content-Md5", "Content-Range", "Content-Type",
	"Digest", "Expect", "Repr-Digest", "Trailer", "Transfer-Encoding",
}

// redirect decides on a 3xx that may carry a Location.
func redirect(req Request, resp Response, p Policy) Step {
	if !p.FollowRedirects {
		return stay("redirects are not followed")
	}
	location, reason := readLocation(resp.Header)
	if reason != "" {
		return stay(reason)
	}
	target, reason := resolve(req.URL, location)
	if reason != "" {
		return stay(reason)
	}

	from, to := strings.ToLower(req.URL.Scheme), target.Scheme
	switch {
	case from != to && !p.FollowTLSRedirects:
		return stay("redirects between http and https are not followed")
	case from == "https" && to == "http" && !p.FollowDowngrades:
		return stay("redirects from https to http are not followed")
	}

	method, keepBody := nextMethod(req, resp.Status)
	crossOrigin := !sameOrigin(req.URL, target)
	switch {
	case keepBody && !req.bodyLeft():
		return stay(bodyGone)
	case keepBody && crossOrigin && !p.CrossOriginBodies:
		return stay("the request body is not sent to another origin")
	}

	var strip []string
	if !keepBody {
		strip = append(strip, bodyHeaders...)
	}
	keepHost := !namesAuthority(location)
	if !keepHost {
		strip = append(strip, "Host")
	}
	if crossOrigin {
		strip = append(strip, credentials...)
		for _, name := range p.SensitiveHeaders {
			strip = append(strip, http.CanonicalHeaderKey(name))
		}
	}
	slices.Sort(strip)

	return Step{
		Action:      Redirect,
		Reason:      redirectReason(resp.Status, crossOrigin),
		Strip:       slices.Compact(strip),
		Method:      method,
		URL:         target,
		KeepBody:    keepBody,
		KeepHost:    keepHost,
		CrossOrigin: crossOrigin,
	}
}

func redirectReason(status int, crossOrigin bool) string {
	if crossOrigin {
		return "redirected (" + strconv.Itoa(status) + ") to another origin"
	}
	return "redirected (" + strconv.Itoa(status) + ")"
}

// nextMethod says how a redirect with this status is asked for, and whether the
// body goes along.
//
// GET and HEAD stay what they are. A 307 and a 308 keep any method. The others
// turn a method into GET, for which 303 was made and which 300 to 302 mean in
// practice; except that PROPFIND is always kept, and QUERY on 300 to 302, since
// those two ask for nothing to be changed.
func nextMethod(req Request, status int) (method string, keepBody bool) {
	method = req.Method
	if method == "" {
		method = http.MethodGet
	}
	switch {
	case status == http.StatusTemporaryRedirect, status == http.StatusPermanentRedirect:
		return method, req.HasBody
	case method == methodPropfind:
		return method, req.HasBody
	case method == methodQuery && status != http.StatusSeeOther:
		return method, req.HasBody
	case method == http.MethodGet, method == http.MethodHead:
		return method, req.HasBody && status != http.StatusSeeOther
	default:
		return http.MethodGet, false
	}
}

// readLocation returns the one Location of a response, or why there is none.
func readLocation(h http.Header) (location, reason string) {
	values := h["Location"]
	if len(values) == 0 || values[0] == "" {
		return "", "the response has no Location"
	}
	location = values[0]
	for _, other := range values[1:] {
		if other != location {
			return "", "the response has several Locations"
		}
	}
	for _, c := range []byte(location) {
		if c < 0x20 || c == 0x7f {
			return "", "the Location has a control character"
		}
	}
	return location, ""
}

// resolve makes an absolute URL of a Location, or says why it cannot be one. A
// Location without a fragment takes over that of the request, RFC 9110 section
// 10.2.2.
func resolve(base *url.URL, location string) (target *url.URL, reason string) {
	ref, err := url.Parse(location)
	if err != nil {
		return nil, "the Location is no valid URL"
	}
	target = base.ResolveReference(ref)
	target.Scheme = strings.ToLower(target.Scheme)
	switch {
	case target.Scheme != "http" && target.Scheme != "https":
		return nil, "the Location is neither http nor https"
	case target.Hostname() == "":
		return nil, "the Location names no host"
	case !validPort(target.Port()):
		return nil, "the Location has an impossible port"
	}
	if !strings.Contains(location, "#") {
		target.Fragment, target.RawFragment = base.Fragment, base.RawFragment
	}
	target.RawQuery = escapeQuery(target.RawQuery)
	return target, ""
}

// namesAuthority reports whether a Location has a host of its own.
func namesAuthority(location string) bool {
	ref, err := url.Parse(location)
	return err != nil || ref.Scheme != "" || ref.Host != ""
}

func validPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n != 0
}

// sameOrigin compares scheme, host and port (RFC 6454), with the default ports
// filled in.
func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) &&
		strings.EqualFold(a.Hostname(), b.Hostname()) &&
		effectivePort(a) == effectivePort(b)
}

func effectivePort(u *url.URL) string {
	if port := strings.TrimLeft(u.Port(), "0"); port != "" {
		return port
	}
	if strings.EqualFold(u.Scheme, "https") {
		return "443"
	}
	return "80"
}

// escapeQuery encodes what a server put into a Location's query although a
// request line cannot hold it: spaces above all. package url leaves the query
// as it finds it.
func escapeQuery(query string) string {
	const hex = "0123456789ABCDEF"
	mustEscape := func(c byte) bool {
		return c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>'
	}
	first := 0
	for first < len(query) && !mustEscape(query[first]) {
		first++
	}
	if first == len(query) {
		return query
	}
	out := []byte(query[:first])
	for _, c := range []byte(query[first:]) {
		if mustEscape(c) {
			out = append(out, '%', hex[c>>4], hex[c&15])
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}
