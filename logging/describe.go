package logging

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"

	"github.com/okhttp-go/okhttp"
)

// Describe gives the name of an event, which is that of its type, and what is
// worth telling of it in one line: "ConnectEnd", "example.com:443 at 192.0.2.1
// http/1.1". There are no header values in it, and URLs are without user info
// and values of query parameters. call may be nil.
func Describe(call *okhttp.Call, event okhttp.Event) (name, details string) {
	all := detailsOf(call, event)
	texts := make([]string, 0, len(all))
	for _, d := range all {
		if d.text != "" {
			texts = append(texts, d.text)
		}
	}
	return eventName(event), strings.Join(texts, " ")
}

// detail is one fact of an event: a value under a key for structured logs, and a
// part of a line.
type detail struct {
	key   string
	value any
	text  string
}

func fact(key string, value any) detail { return detail{key, value, fmt.Sprint(value)} }

func bytes(n int64) []detail { return []detail{{"bytes", n, fmt.Sprintf("%d bytes", n)}} }

func yesNo(key string, value bool, yes, no string) detail {
	if value {
		return detail{key, value, yes}
	}
	return detail{key, value, no}
}

func reason(text string) detail { return detail{"reason", text, "(" + text + ")"} }

func eventName(event okhttp.Event) string {
	name := fmt.Sprintf("%T", event)
	return name[strings.LastIndexByte(name, '.')+1:]
}

// lowerName is an event's name in the form that OkHttp's logs have: connectEnd, dnsStart.
func lowerName(name string) string {
	letters := []rune(name)
	for i := range letters {
		if i > 0 && i+1 < len(letters) && unicode.IsLower(letters[i+1]) {
			break
		}
		letters[i] = unicode.ToLower(letters[i])
	}
	return string(letters)
}

func detailsOf(call *okhttp.Call, event okhttp.Event) []detail {
	switch e := event.(type) {
	case okhttp.CallStart:
		if call == nil || call.Request() == nil {
			return nil
		}
		req := call.Request()
		return []detail{fact("method", method(req.Method)), fact("url", requestURL(req, showNothing))}
	case okhttp.DispatcherQueueStart:
		return queue(e.Dispatcher)
	case okhttp.DispatcherQueueEnd:
		return queue(e.Dispatcher)
	case okhttp.ProxySelectStart:
		return []detail{fact("url", redactedURL(e.URL, showNothing))}
	case okhttp.ProxySelectEnd:
		return []detail{fact("proxies", proxies(e.Proxies))}
	case okhttp.DNSStart:
		return []detail{fact("host", e.Host)}
	case okhttp.DNSEnd:
		return []detail{fact("host", e.Host), fact("addresses", addresses(e.Addresses))}
	case okhttp.ConnectStart:
		return route(e.Route)
	case okhttp.SecureConnectStart:
		return route(e.Route)
	case okhttp.SecureConnectEnd:
		return append(route(e.Route), handshake(e)...)
	case okhttp.ConnectEnd:
		return append(route(e.Route), fact("protocol", e.Protocol))
	case okhttp.ConnectFailed:
		return append(route(e.Route), failure(e.Err)...)
	case okhttp.ConnectionDiscarded:
		return append(connection(e.Connection), failure(e.Reason)...)
	case okhttp.ConnectionAcquired:
		return append(connection(e.Connection), yesNo("reused", e.Reused, "reused", "new"))
	case okhttp.ConnectionReleased:
		return connection(e.Connection)
	case okhttp.RequestHeadersEnd:
		return []detail{fact("method", method(e.Request().Method)), fact("url", requestURL(e.Request(), showNothing))}
	case okhttp.RequestBodyEnd:
		return bytes(e.Bytes)
	case okhttp.RequestFailed:
		return failure(e.Err)
	case okhttp.InformationalResponse:
		return []detail{fact("status", e.Code)}
	case okhttp.ResponseHeadersEnd:
		return []detail{fact("protocol", e.Response.Proto), fact("status", e.Response.StatusCode)}
	case okhttp.ResponseBodyProgress:
		return append(bytes(e.Bytes), fact("total", e.Total))
	case okhttp.ResponseBodyEnd:
		return bytes(e.Bytes)
	case okhttp.ResponseFailed:
		return failure(e.Err)
	case okhttp.RetryDecision:
		return []detail{
			yesNo("retry", e.Retry, "retry", "no retry"), reason(e.Reason),
			{"error", errorText(e.Err), ""}, // the event of the failure itself has just told it
		}
	case okhttp.FollowUpDecision:
		return followUp(e)
	case okhttp.CallFailed:
		return failure(e.Err)
	default: // those that are their name and nothing else
		return nil
	}
}

func method(m string) string {
	if m == "" {
		return "GET"
	}
	return m
}

func queue(d *okhttp.Dispatcher) []detail {
	if d == nil {
		return nil
	}
	return []detail{{"waiting", d.Stats().Waiting, fmt.Sprintf("%d waiting", d.Stats().Waiting)}}
}

func proxies(all []*url.URL) string {
	if len(all) == 0 {
		return "direct"
	}
	texts := make([]string, len(all))
	for i, u := range all {
		texts[i] = redactedURL(u, showNothing)
	}
	return strings.Join(texts, " ")
}

func addresses(all []netip.Addr) string {
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = a.String()
	}
	return strings.Join(texts, " ")
}

func route(r okhttp.Route) []detail { return []detail{fact("route", r.String())} }

func handshake(e okhttp.SecureConnectEnd) []detail {
	if e.TLS == nil {
		return nil
	}
	return []detail{fact("tls", tls.VersionName(e.TLS.Version)), yesNo("resumed", e.TLS.DidResume, "resumed", "")}
}

func connection(c okhttp.Connection) []detail {
	if c.IsZero() {
		return []detail{{"connection", c.ID(), "none"}}
	}
	return []detail{{"connection", c.ID(), fmt.Sprintf("#%d", c.ID())}, fact("route", c.Route().String())}
}

func failure(err error) []detail {
	if err == nil {
		return nil
	}
	return []detail{fact("error", errorText(err))}
}

func followUp(e okhttp.FollowUpDecision) []detail {
	if e.Next == nil {
		return []detail{fact("next", "none"), reason(e.Reason)}
	}
	return []detail{fact("next", method(e.Next.Method)+" "+requestURL(e.Next, showNothing)), reason(e.Reason)}
}
