package logging

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// hidden stands for what is not shown.
const hidden = "██"

// credentials are the headers whose values are not shown unless asked for.
var credentials = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"}

// redactedURL is a URL without user info and fragment, and with the values of its
// query parameters hidden unless show says otherwise. Names stay as they were
// escaped. A part that is no name=value is hidden whole: it may be a token.
func redactedURL(u *url.URL, show func(name string) bool) string {
	if u == nil {
		return ""
	}
	plain := *u
	plain.User, plain.Fragment, plain.RawFragment = nil, "", ""
	plain.RawQuery, plain.ForceQuery = "", false
	text := plain.String()
	if u.RawQuery == "" {
		return text
	}
	parts := strings.Split(u.RawQuery, "&")
	for i, part := range parts {
		name, _, isPair := strings.Cut(part, "=")
		switch {
		case part == "" || show(unescaped(name)):
		case isPair:
			parts[i] = name + "=" + hidden
		default:
			parts[i] = hidden
		}
	}
	return text + "?" + strings.Join(parts, "&")
}

func unescaped(name string) string {
	if plain, err := url.QueryUnescape(name); err == nil {
		return plain
	}
	return name
}

func showNothing(string) bool { return false }

// redactedText is redactedURL for a URL in text form, as in a Location header.
func redactedText(text string, show func(string) bool) string {
	u, err := url.Parse(text)
	if err != nil {
		return hidden
	}
	return redactedURL(u, show)
}

// errorText is an error's text. A *url.Error quotes the URL, which may hold a
// secret. The errors of the client itself hold none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	var u *url.Error
	if errors.As(err, &u) && u.URL != "" {
		text = strings.ReplaceAll(text, u.URL, redactedText(u.URL, showNothing))
	}
	return text
}

// requestURL is the URL that a request shows in logs.
func requestURL(req *http.Request, show func(string) bool) string {
	if req == nil {
		return ""
	}
	return redactedURL(req.URL, show)
}
