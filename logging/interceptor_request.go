package logging

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/okhttp-go/okhttp"
)

// requestText tells a request.
func (i *Interceptor) requestText(level Level, chain *okhttp.Chain, req *http.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--> %s %s", method(req.Method), requestURL(req, i.query))
	if c := chain.Connection(); !c.IsZero() {
		b.WriteString(" " + c.Protocol())
	}
	hasBody := req.Body != nil && req.Body != http.NoBody
	if level == LevelBasic {
		if hasBody {
			b.WriteString(" (" + size(requestLength(req)) + " body)")
		}
		return b.String()
	}
	if n := requestLength(req); hasBody && n >= 0 && req.Header.Get("Content-Length") == "" {
		fmt.Fprintf(&b, "\nContent-Length: %d", n)
	}
	i.headers(&b, req.Header)
	if level == LevelBody && hasBody {
		shown, end := i.requestBody(req)
		if shown != "" {
			b.WriteString("\n\n" + shown)
		}
		fmt.Fprintf(&b, "\n--> END %s (%s)", method(req.Method), end)
		return b.String()
	}
	fmt.Fprintf(&b, "\n--> END %s", method(req.Method))
	return b.String()
}

// requestLength is a request's body length, -1 where it is not known.
func requestLength(req *http.Request) int64 {
	if req.ContentLength > 0 {
		return req.ContentLength
	}
	return -1
}

// requestBody shows a body that can be had twice. The one that will be sent is
// not touched.
func (i *Interceptor) requestBody(req *http.Request) (shown, end string) {
	if req.GetBody == nil {
		return "", "one-shot body omitted"
	}
	body, err := req.GetBody()
	if err != nil {
		return "", "unreadable body"
	}
	defer body.Close()
	head, err := io.ReadAll(io.LimitReader(body, i.limit+1))
	if err != nil {
		return "", "unreadable body"
	}
	p := piece{bytes: head, total: requestLength(req), whole: int64(len(head)) <= i.limit}
	if p.whole {
		p.total = int64(len(head))
	} else {
		p.bytes = head[:i.limit]
	}
	return p.show(req.Header, i.limit)
}

func sortedNames(h http.Header) []string {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// size names a number of bytes, or that it is not known.
func size(n int64) string {
	if n < 0 {
		return "unknown-length"
	}
	return fmt.Sprintf("%d-byte", n)
}
