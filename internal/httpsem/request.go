package httpsem

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// CheckRequest reports, as a *RequestError, why a request cannot be put on the
// wire. contentLength is -1 for a body of unknown length, 0 for none. The codec
// makes this check before it writes; to make it earlier as well saves a dial.
func CheckRequest(req *http.Request, contentLength int64) error {
	if req.URL == nil {
		return &RequestError{Reason: "the request has no URL"}
	}
	if req.Method != "" && !IsToken(req.Method) {
		return &RequestError{Reason: fmt.Sprintf("invalid method %.40q", req.Method)}
	}
	if err := checkHost(req); err != nil {
		return err
	}
	if !IsTarget(req.URL.Scheme) || !IsTarget(req.URL.Opaque) || !IsTarget(req.URL.EscapedPath()) || !IsTarget(req.URL.RawQuery) {
		return &RequestError{Reason: "the URL holds a space or a control character"}
	}
	for _, te := range req.TransferEncoding {
		if !EqualFold(te, "chunked") && !EqualFold(te, "identity") {
			return &RequestError{Reason: "the only transfer coding of a request is chunked"}
		}
	}
	for name, values := range req.Header {
		if err := CheckField(name, values); err != nil {
			return err
		}
		if err := checkFraming(req, contentLength, name, values); err != nil {
			return err
		}
	}
	for name, values := range req.Trailer {
		if err := CheckTrailerName(name); err != nil {
			return err
		}
		for _, v := range values { // those that are known already
			if !IsValue(v) {
				return &RequestError{Reason: "invalid trailer field value for " + strconv.Quote(name)}
			}
		}
	}
	return nil
}

// CheckField reports, as a *RequestError, why a header cannot be sent. The
// message names the header and never its value.
func CheckField(name string, values []string) error {
	if !IsToken(name) {
		return &RequestError{Reason: fmt.Sprintf("invalid header field name %.60q", name)}
	}
	for _, v := range values {
		if !IsValue(v) {
			return &RequestError{Reason: "invalid header field value for " + strconv.Quote(name)}
		}
	}
	return nil
}

// IsTarget reports whether s may be part of a request target: no byte that ends
// the word or the line. Bytes above ASCII pass, as in net/http.
func IsTarget(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// RequestHost returns what belongs into the Host field: req.Host, else the
// URL's, without the zone of an IPv6 address, which means something on this
// machine only (RFC 6874).
func RequestHost(req *http.Request) string {
	host := req.Host
	if host == "" {
		host = req.URL.Host
	}
	if strings.HasPrefix(host, "[") {
		end := strings.LastIndexByte(host, ']')
		if zone := strings.IndexByte(host, '%'); zone >= 0 && zone < end {
			return host[:zone] + host[end:]
		}
	}
	return host
}

// checkHost refuses what would end the Host field or the authority early, and
// what servers might read as another host.
func checkHost(req *http.Request) error {
	host := RequestHost(req)
	if host == "" {
		return &RequestError{Reason: "no Host in request URL"}
	}
	for i := range len(host) {
		switch b := host[i]; {
		case b <= ' ' || b == 0x7f:
			return &RequestError{Reason: "the host holds a space or a control character"}
		case b >= 0x80:
			return &RequestError{Reason: "the host is not in ASCII form"}
		case strings.IndexByte(`@/\?#,<>"`, b) >= 0:
			return &RequestError{Reason: fmt.Sprintf("the host holds the character %q", b)}
		}
	}
	return nil
}

// IsFraming reports whether the codec writes the header of that name itself,
// from the request's fields and the length of its body.
func IsFraming(name string) bool {
	switch len(name) {
	case len("Host"):
		return EqualFold(name, "Host")
	case len("Trailer"):
		return EqualFold(name, "Trailer")
	case len("Content-Length"):
		return EqualFold(name, "Content-Length")
	case len("Transfer-Encoding"):
		return EqualFold(name, "Transfer-Encoding")
	}
	return false
}

// ExpectsLength reports whether servers want to be told even that there is no
// body.
func ExpectsLength(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// checkFraming lets a caller's framing header pass if it says what the codec
// will say anyway. Two that disagree are how requests are smuggled.
func checkFraming(req *http.Request, contentLength int64, name string, values []string) error {
	if len(values) == 0 || !IsFraming(name) {
		return nil
	}
	agrees := false
	switch len(name) {
	case len("Host"):
		host := RequestHost(req)
		agrees = all(values, func(v string) bool { return EqualFold(v, host) })
	case len("Content-Length"):
		n, ok := ParseContentLength(values)
		agrees = ok && n == contentLength
	case len("Transfer-Encoding"):
		agrees = contentLength < 0 && len(values) == 1 && EqualFold(TrimSpace(values[0]), "chunked")
	case len("Trailer"):
		agrees = sameNames(values, req.Trailer)
	}
	if !agrees {
		return &RequestError{Reason: "header " + strconv.Quote(name) + " contradicts the request, which determines it"}
	}
	return nil
}

func all(values []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !ok(v) })
}

func sameNames(lists []string, trailer http.Header) bool {
	said := map[string]bool{}
	for _, list := range lists {
		for name := range strings.SplitSeq(list, ",") {
			if name = TrimSpace(name); name != "" {
				said[http.CanonicalHeaderKey(name)] = true
			}
		}
	}
	meant := map[string]bool{}
	for name := range trailer {
		meant[http.CanonicalHeaderKey(name)] = true
	}
	return maps.Equal(said, meant)
}

// CheckTrailerName refuses, as a *RequestError, trailers that would change how the message is read
// (RFC 9110, 6.5.1).
func CheckTrailerName(name string) error {
	if !IsToken(name) {
		return &RequestError{Reason: fmt.Sprintf("invalid trailer field name %.60q", name)}
	}
	if IsFraming(name) {
		return &RequestError{Reason: "header " + strconv.Quote(name) + " cannot be a trailer"}
	}
	return nil
}

// AppendTarget appends what stands between the method and the version: the path
// and query, the authority of a CONNECT, or the URL's opaque part as it is. An
// absolute target, for a proxy, is an opaque part that starts with two slashes,
// as in net/http.
func AppendTarget(dst []byte, req *http.Request) []byte {
	u := req.URL
	switch {
	case req.Method == http.MethodConnect && u.Path == "":
		if u.Opaque != "" {
			return append(dst, u.Opaque...)
		}
		return append(dst, RequestHost(req)...)
	case u.Opaque != "":
		if strings.HasPrefix(u.Opaque, "//") {
			dst = append(append(dst, u.Scheme...), ':')
		}
		dst = append(dst, u.Opaque...)
	default:
		dst = appendPath(dst, u)
	}
	if u.ForceQuery || u.RawQuery != "" {
		dst = append(append(dst, '?'), u.RawQuery...)
	}
	return dst
}

func appendPath(dst []byte, u *url.URL) []byte {
	path := u.EscapedPath()
	if path != "*" && !strings.HasPrefix(path, "/") {
		dst = append(dst, '/')
	}
	return append(dst, path...)
}
