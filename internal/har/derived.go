package har

import (
	"net/http"
	"net/url"
	"strings"
)

// Derive fills in what the format repeats of the URL and the headers: cookies,
// query parameters, the redirect URL and the total time. Whatever is to be
// hidden must be hidden before.
func (e *Entry) Derive() {
	e.Time = e.Timings.Total()
	e.Request.QueryString = queryFields(e.Request.URL)
	e.Request.Cookies = requestCookies(e.Request.Headers)
	e.Response.Cookies = responseCookies(e.Response.Headers)
	e.Response.RedirectURL = ""
	if e.Response.Status/100 == 3 {
		for _, f := range e.Response.Headers {
			if strings.EqualFold(f.Name, "Location") && f.Encoding == "" {
				e.Response.RedirectURL = f.Value
			}
		}
	}
}

// queryFields returns the parameters of a URL in their order.
func queryFields(address string) List[Field] {
	_, query, _ := strings.Cut(address, "?")
	query, _, _ = strings.Cut(query, "#")
	var fields List[Field]
	for part := range strings.SplitSeq(query, "&") {
		if part == "" || len(fields) == maxList {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		fields = append(fields, NewField(unescape(name), unescape(value)))
	}
	return fields
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

func requestCookies(headers List[Field]) List[Cookie] {
	var cookies List[Cookie]
	for _, f := range headers {
		if !strings.EqualFold(f.Name, "Cookie") || f.Encoding != "" {
			continue
		}
		parsed, err := http.ParseCookie(f.Value)
		if err != nil {
			continue // the header itself stands in the file
		}
		for _, c := range parsed {
			cookies = append(cookies, Cookie{Name: c.Name, Value: c.Value})
		}
	}
	return cookies
}

func responseCookies(headers List[Field]) List[Cookie] {
	var cookies List[Cookie]
	for _, f := range headers {
		if !strings.EqualFold(f.Name, "Set-Cookie") || f.Encoding != "" {
			continue
		}
		c, err := http.ParseSetCookie(f.Value)
		if err != nil {
			continue // the header itself stands in the file
		}
		cookie := Cookie{Name: c.Name, Value: c.Value, Path: c.Path, Domain: c.Domain, HTTPOnly: c.HttpOnly, Secure: c.Secure}
		if !c.Expires.IsZero() {
			cookie.Expires = c.Expires.UTC().Format("2006-01-02T15:04:05.000Z07:00")
		}
		cookies = append(cookies, cookie)
	}
	return cookies
}
