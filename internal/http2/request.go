package http2

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// WriteHead begins the stream: it puts the request's head into what is to be
// sent, and sends nothing yet. contentLength is -1 for a body of unknown length,
// 0 for none.
//
// The order of the fields: the pseudo-headers (:method, :path, :authority and
// :scheme), User-Agent, what is told of the body, what HeaderOrder lists, and the
// rest sorted. Headers that belong to a connection of HTTP/1 are left out (RFC
// 9113, 8.2.2).
func (s *Stream) WriteHead(req *http.Request, contentLength int64) error {
	if !s.options.Checked {
		if err := httpsem.CheckRequest(req, contentLength); err != nil {
			return err
		}
	}
	h := requestHead{stream: s, req: req, contentLength: contentLength, method: req.Method}
	if h.method == "" {
		h.method = http.MethodGet
	}
	var space [32]string
	names := h.collect(space[:0])

	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	if s.canceled {
		return errCanceled
	}
	if err := c.unusableLocked(); err != nil {
		return &httpsem.UnprocessedError{Err: err}
	}
	if c.peerList != math.MaxUint32 {
		if err := h.checkSize(names, c.peerList); err != nil {
			return err
		}
	}
	c.beginLocked()
	s.beginLocked(h.method, contentLength)
	if c.pushes != nil {
		s.asked = &origin{h.scheme(), httpsem.RequestHost(req)}
	}
	out := c.outLocked()
	s.start = c.taken + int64(len(*out))
	start := len(*out)
	h.b = frame.BeginHeaders(*out)
	h.encode(names)
	*out = frame.FinishHeaders(h.b, start, s.id, contentLength == 0, uint32(c.peerFrame))
	if contentLength == 0 {
		s.finished = true
	}
	return nil
}

// beginLocked gives the stream its number and its windows.
func (s *Stream) beginLocked(method string, contentLength int64) {
	c := s.conn
	s.id = c.nextID
	c.nextID += 2
	if s.id >= lastID {
		c.retireLocked(errExhausted.Error())
	}
	s.head, s.connect = method == http.MethodHead, method == http.MethodConnect
	s.bodyDue = contentLength != 0
	s.window = c.peerWindow
	s.recv.open(streamWindow)
	s.open = true
	s.began = c.now()
	c.streams[s.id] = s
}

// requestHead is a request's head on its way into a header block.
type requestHead struct {
	stream        *Stream
	req           *http.Request
	method        string
	contentLength int64
	b             []byte
}

// collect adds the names of the fields that are sent as they are, sorted. Like
// all of the head's methods it leaves names to its caller, on whose stack they are.
func (h *requestHead) collect(names []string) []string {
	connection := h.req.Header["Connection"]
	for name := range h.req.Header {
		if name == "User-Agent" || httpsem.IsFraming(name) || ofConnection(name) || len(connection) > 0 && httpsem.HasToken(connection, name) {
			continue
		}
		names = append(names, name)
	}
	for i := range h.stream.options.Extra {
		if name := h.stream.options.Extra[i].Name; name != "" && name != "User-Agent" && !ofConnection(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ofConnection reports whether a header says something about the connection to
// the next hop, in the ways of HTTP/1.
func ofConnection(name string) bool {
	switch len(name) {
	case len("Upgrade"):
		return httpsem.EqualFold(name, "Upgrade")
	case len("Connection"): // Keep-Alive is as long
		return httpsem.EqualFold(name, "Connection") || httpsem.EqualFold(name, "Keep-Alive")
	case len("HTTP2-Settings"):
		return httpsem.EqualFold(name, "HTTP2-Settings")
	case len("Proxy-Connection"):
		return httpsem.EqualFold(name, "Proxy-Connection")
	}
	return false
}

// encode appends all fields to the block.
func (h *requestHead) encode(names []string) {
	h.fields(names, func(name, value string) {
		h.b = h.stream.conn.encoder.AppendField(h.b, name, value, false)
	})
}

// checkSize refuses a head that the peer has said it would not take.
func (h *requestHead) checkSize(names []string, limit uint32) error {
	const overhead = 32 // of each field (RFC 9113, 6.5.2)
	size := uint64(0)
	h.fields(names, func(name, value string) { size += uint64(len(name)) + uint64(len(value)) + overhead })
	if size > uint64(limit) {
		return &httpsem.RequestError{Reason: "the request's headers are larger than the server takes: " +
			strconv.FormatUint(size, 10) + " of " + strconv.FormatUint(uint64(limit), 10) + " bytes"}
	}
	return nil
}

// fields gives all fields in their order.
func (h *requestHead) fields(names []string, put func(name, value string)) {
	req := h.req
	put(":method", h.method)
	if h.method == http.MethodConnect && req.URL.Path == "" {
		put(":authority", string(httpsem.AppendTarget(nil, req)))
	} else {
		put(":path", h.path())
		put(":authority", httpsem.RequestHost(req))
		put(":scheme", h.scheme())
	}
	if agents := req.Header["User-Agent"]; len(agents) > 0 {
		put("user-agent", httpsem.TrimSpace(agents[0]))
	} else if agent := h.extra("User-Agent"); agent != "" {
		put("user-agent", agent)
	}
	switch {
	case h.contentLength > 0, h.contentLength == 0 && httpsem.ExpectsLength(h.method):
		put("content-length", strconv.FormatInt(h.contentLength, 10))
	}
	if len(req.Trailer) > 0 && h.contentLength != 0 {
		put("trailer", httpsem.TrailerNames(req.Trailer))
	}
	order := h.stream.options.HeaderOrder
	for _, listed := range order {
		for _, name := range names {
			if httpsem.EqualFold(listed, name) {
				h.all(name, put)
			}
		}
	}
	for _, name := range names {
		if len(order) == 0 || !slices.ContainsFunc(order, func(l string) bool { return httpsem.EqualFold(l, name) }) {
			h.all(name, put)
		}
	}
}

func (h *requestHead) extra(name string) string {
	for i := range h.stream.options.Extra {
		if h.stream.options.Extra[i].Name == name {
			return h.stream.options.Extra[i].Value
		}
	}
	return ""
}

// all gives the fields of one name.
func (h *requestHead) all(name string, put func(name, value string)) {
	for _, v := range h.req.Header[name] {
		v = httpsem.TrimSpace(v)
		if len(name) == len("Te") && httpsem.EqualFold(name, "Te") && !httpsem.EqualFold(v, "trailers") {
			continue // the one that HTTP/2 knows
		}
		put(name, v)
	}
	if v := h.extra(name); v != "" {
		put(name, v)
	}
}

// scheme is the URL's; of a URL without one it is that of the connection.
func (h *requestHead) scheme() string {
	if h.req.URL.Scheme == "" {
		return "https"
	}
	return h.req.URL.Scheme
}

// path is the request's target. Of one that names a host, as for a proxy, the
// host is left out: it stands in :authority.
func (h *requestHead) path() string {
	u := h.req.URL
	if u.Opaque == "" && u.RawQuery == "" && !u.ForceQuery {
		switch path := u.EscapedPath(); {
		case path == "*", strings.HasPrefix(path, "/"):
			return path
		default:
			return "/" + path
		}
	}
	var space [128]byte
	target := string(httpsem.AppendTarget(space[:0], h.req))
	if rest, ok := strings.CutPrefix(target, u.Scheme+"://"); ok && u.Opaque != "" {
		if _, path, ok := strings.Cut(rest, "/"); ok {
			return "/" + path
		}
		return "/"
	}
	return target
}
