package http1

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// WriteHead encodes the request line and the headers into the write buffer.
// contentLength is -1 for a body of unknown length, 0 for none. A trailer goes
// out with a body of unknown length only: no other framing has a place for it.
//
// The order is net/http's, byte for byte: Host, User-Agent, Connection, framing,
// and the rest sorted. Names that HeaderOrder lists stand after Host (unless it
// lists that too), in its order and its case.
func (c *Conn) WriteHead(req *http.Request, contentLength int64) error {
	if !c.options.Checked {
		if err := httpsem.CheckRequest(req, contentLength); err != nil {
			return err
		}
	}
	out := c.output()
	b := (*out)[:0]
	method := req.Method
	if method == "" {
		method = http.MethodGet
	}
	b = append(append(b, method...), ' ')
	b = httpsem.AppendTarget(b, req)
	b = append(b, " HTTP/1.1\r\n"...)

	h := head{b: b, req: req, extra: &c.options.Extra, contentLength: contentLength, method: method}
	if len(c.options.HeaderOrder) == 0 {
		h.appendPlain()
	} else {
		h.appendOrdered(c.options.HeaderOrder)
	}
	*out = append(h.b, "\r\n"...)

	c.bodyDue = contentLength != 0
	c.tunnel = h.tunnels()
	c.reqClose = req.Close || h.close || c.tunnel
	return nil
}

// head is a request head that is being encoded.
type head struct {
	b             []byte
	req           *http.Request
	extra         *[3]httpsem.Field
	method        string
	contentLength int64
	close         bool // the caller's own headers ask to close
}

func (h *head) field(name, value string) {
	h.b = append(h.b, name...)
	h.b = append(h.b, ": "...)
	h.b = append(h.b, httpsem.TrimSpace(value)...)
	h.b = append(h.b, "\r\n"...)
}

// keys returns the names of the caller's headers, sorted, but for those that the
// codec writes itself. It notes what Connection says.
func (h *head) keys(buf []string) []string {
	for name, values := range h.req.Header {
		if httpsem.IsFraming(name) {
			continue
		}
		if httpsem.EqualFold(name, "Connection") && httpsem.HasToken(values, "close") {
			h.close = true
		}
		buf = append(buf, name)
	}
	for i := range h.extra {
		if name := h.extra[i].Name; name != "" {
			buf = append(buf, name)
		}
	}
	slices.Sort(buf)
	return buf
}

// all writes the fields of one name, in the case of as.
func (h *head) all(name, as string) {
	for _, v := range h.req.Header[name] {
		h.field(as, v)
	}
	for i := range h.extra {
		if h.extra[i].Name == name {
			h.field(as, h.extra[i].Value)
		}
	}
}

func (h *head) appendPlain() {
	var buf [32]string
	keys := h.keys(buf[:0])
	h.field("Host", httpsem.RequestHost(h.req))
	if ua := h.req.Header["User-Agent"]; len(ua) > 0 {
		h.field("User-Agent", ua[0]) // it is no list: the first counts, as in net/http
	} else {
		h.all("User-Agent", "User-Agent")
	}
	for _, name := range ownNames[1:] {
		h.own(name, name)
	}
	for _, name := range keys {
		if name != "User-Agent" {
			h.all(name, name)
		}
	}
}

// own writes one of the codec's own fields, in the case of as, if the request
// has it.
func (h *head) own(name, as string) {
	switch name {
	case "Host":
		h.field(as, httpsem.RequestHost(h.req))
	case "Connection":
		if h.req.Close && !h.close {
			h.field(as, "close")
		}
	case "Content-Length":
		if h.contentLength > 0 || h.contentLength == 0 && httpsem.ExpectsLength(h.method) {
			h.b = append(append(h.b, as...), ": "...)
			h.b = strconv.AppendInt(h.b, h.contentLength, 10)
			h.b = append(h.b, "\r\n"...)
		}
	case "Transfer-Encoding":
		if h.contentLength < 0 && !h.tunnels() {
			h.field(as, "chunked")
		}
	case "Trailer":
		if h.contentLength < 0 && len(h.req.Trailer) > 0 {
			h.field(as, httpsem.TrailerNames(h.req.Trailer))
		}
	}
}

// tunnels reports whether what follows the head is no body but the bytes of a
// tunnel, which go out as they come (RFC 9110, 9.3.6).
func (h *head) tunnels() bool { return h.method == http.MethodConnect && h.contentLength < 0 }

// ownNames are the fields that the codec writes, in their usual order.
var ownNames = []string{"Host", "Connection", "Content-Length", "Transfer-Encoding", "Trailer"}

func (h *head) appendOrdered(order []string) {
	var buf [32]string
	keys := h.keys(buf[:0])
	written := make([]bool, len(keys))
	ownWritten := make([]bool, len(ownNames))
	if !slices.ContainsFunc(order, func(s string) bool { return httpsem.EqualFold(s, "Host") }) {
		h.own("Host", "Host")
		ownWritten[0] = true
	}
	for _, listed := range order {
		for i, name := range ownNames {
			if !ownWritten[i] && httpsem.EqualFold(listed, name) {
				ownWritten[i] = true
				h.own(name, listed)
			}
		}
		for i, name := range keys {
			if !written[i] && httpsem.EqualFold(listed, name) {
				written[i] = true
				h.all(name, listed)
			}
		}
	}
	for i, name := range ownNames {
		if !ownWritten[i] {
			h.own(name, name)
		}
	}
	for i, name := range keys {
		if !written[i] {
			h.all(name, name)
		}
	}
}

// Flush sends what is buffered. It completes a request without a body.
func (c *Conn) Flush() error {
	if c.sendErr != nil {
		return c.sendErr
	}
	if c.out != nil && len(*c.out) > 0 {
		if _, err := c.writeSocket(*c.out); err != nil {
			return err
		}
		*c.out = (*c.out)[:0]
	}
	if !c.bodyDue {
		c.finishSend()
	}
	return nil
}

// finishSend notes that the request is complete, and gives the buffer back: the
// response may take long.
func (c *Conn) finishSend() {
	c.sendDone = true
	c.freeOut()
}
