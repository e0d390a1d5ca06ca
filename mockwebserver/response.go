package mockwebserver

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Response is what a server does with one request. It is a value: its With
// methods return a changed copy and leave the original as it is, so one
// response may be the base of many and may be used concurrently.
//
// The zero Response is "HTTP/1.1 200 OK" with no body.
//
// What is scripted goes out as it is, right or wrong; nothing is validated. The
// server adds only what frames the body, a Content-Length or
// "Transfer-Encoding: chunked" line behind the other header lines, and only
// where the script has neither.
type Response struct {
	statusLine    string // "" means 200 OK
	header        []Field
	noFraming     bool // add no framing header
	noCoding      bool // do not write the chunked coding
	body          []byte
	mode          bodyMode
	chunkSizes    []int
	bodyFunc      BodyFunc
	bodyLength    int64 // of bodyFunc; -1 if unknown
	trailer       []Field
	informational []Response
	socket        SocketHandler
	handler       http.Handler

	headDelay, bodyDelay, trailerDelay time.Duration
	throttle, requestThrottle          rate

	effects  []boundEffect
	reading  RequestReading
	keepOpen bool
}

type bodyMode int

const (
	bodyFixed      bodyMode = iota // body, with its length
	bodyChunked                    // body, in chunks of chunkSizes
	bodyUntilClose                 // body, then the end of the connection
	bodyStreamed                   // bodyFunc
	bodyRaw                        // body is the whole response, head included
	bodySocket                     // socket takes over after the head
	bodyHandler                    // handler writes the response
)

// BodyFunc writes a response body. Each Write goes out at once, in a chunk of
// its own if the length is unknown. The context ends when the server is closed.
// If the function fails the connection is closed, so that the client sees a
// body cut short.
type BodyFunc func(ctx context.Context, w io.Writer) error

// SocketHandler speaks freely on a connection after the head of a response was
// sent. Reads begin with what the client has sent behind its request. The
// context ends, and the connection is closed under it, when the server is
// closed; it is closed in any case when the function returns.
type SocketHandler func(ctx context.Context, conn net.Conn) error

// RequestReading says when a request's body is read, for Response.WithReading.
type RequestReading int

const (
	// ReadBeforeResponse reads the request in full before the response is
	// begun. This is the default.
	ReadBeforeResponse RequestReading = iota

	// ReadAfterResponse sends the response first, then reads the body.
	ReadAfterResponse

	// ReadNever sends the response and closes the connection, with the body
	// unread.
	ReadNever
)

// Text returns a 200 response with a body and no Content-Type.
func Text(body string) Response { return Response{}.WithBody(body) }

// Status returns a response with that status code and no body.
func Status(code int) Response { return Response{}.WithStatus(code) }

// Raw returns a response of exactly these bytes: head, framing and body are the
// script's business. The connection stays open afterwards unless an effect ends
// it. Of the With methods only delays, throttles, effects and reading apply.
func Raw(response string) Response {
	return Response{mode: bodyRaw, body: []byte(response)}
}

// WithStatus sets the status code, with its usual reason phrase.
func (r Response) WithStatus(code int) Response {
	r.statusLine = strings.TrimRight(fmt.Sprintf("HTTP/1.1 %03d %s", code, http.StatusText(code)), " ")
	if http.StatusText(code) == "" {
		r.statusLine += " Mock Response"
	}
	return r
}

// WithStatusLine sets the status line verbatim, without its line end:
// "HTTP/1.0 200 Fine", or anything else. After a well-formed HTTP/1.0 line the
// connection is closed unless the header says "Connection: keep-alive".
func (r Response) WithStatusLine(line string) Response {
	r.statusLine = line
	return r
}

// WithHeader sets a header line: it takes the place of the first one with that
// name, and other ones are removed. Name and value go out verbatim.
func (r Response) WithHeader(name, value string) Response {
	at := slices.IndexFunc(r.header, func(f Field) bool { return strings.EqualFold(f.Name, name) })
	header := make([]Field, 0, len(r.header)+1)
	for i, f := range r.header {
		switch {
		case i == at:
			header = append(header, Field{name, value})
		case !strings.EqualFold(f.Name, name):
			header = append(header, f)
		}
	}
	if at < 0 {
		header = append(header, Field{name, value})
	}
	r.header = header
	return r
}

// WithAddedHeader adds a header line at the end, also where one with that name
// exists.
func (r Response) WithAddedHeader(name, value string) Response {
	r.header = append(slices.Clip(r.header), Field{name, value})
	return r
}

// WithHeaderLine adds a line verbatim, without its line end, also one that is
// no header at all.
func (r Response) WithHeaderLine(line string) Response {
	name, value, _ := strings.Cut(line, ":")
	if line == name+": "+value[min(1, len(value)):] {
		return r.WithAddedHeader(name, value[1:])
	}
	r.header = append(slices.Clip(r.header), Field{rawLine, line})
	return r
}

// rawLine is the name of a Field whose value is a whole line.
const rawLine = "\x00"

// WithoutHeader removes all header lines with that name. For Content-Length
// and Transfer-Encoding it also keeps the server from adding one.
func (r Response) WithoutHeader(name string) Response {
	r.header = slices.DeleteFunc(slices.Clone(r.header), func(f Field) bool { return strings.EqualFold(f.Name, name) })
	if strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "Transfer-Encoding") {
		r.noFraming = true
	}
	return r
}

// WithHeaders sets the whole list of header lines. The server adds nothing to
// it, so a body needs a line here that frames it.
func (r Response) WithHeaders(fields ...Field) Response {
	r.header, r.noFraming = slices.Clone(fields), true
	return r
}

// WithBody sets a body, sent with its length. No body is sent in answer to a
// HEAD request, in this and the following forms; Raw sends one.
func (r Response) WithBody(body string) Response { return r.WithBodyBytes([]byte(body)) }

// WithBodyBytes is WithBody for bytes, which must not be changed afterwards.
func (r Response) WithBodyBytes(body []byte) Response {
	r.mode, r.body = bodyFixed, body
	return r
}

// WithChunkedBody sets a body sent in chunks of these sizes; the last size
// repeats until the body ends. Without sizes the body is one chunk.
func (r Response) WithChunkedBody(body string, sizes ...int) Response {
	for _, size := range sizes {
		if size <= 0 {
			panic("mockwebserver: a chunk size must be positive")
		}
	}
	r.mode, r.body, r.chunkSizes = bodyChunked, []byte(body), slices.Clone(sizes)
	return r
}

// WithBodyUntilClose sets a body without a length: its end is the end of the
// connection.
func (r Response) WithBodyUntilClose(body string) Response {
	r.mode, r.body = bodyUntilClose, []byte(body)
	return r
}

// WithBodyFunc sets a body that a function writes while it is sent. length is
// its length, or -1 if that is not known, which makes it chunked.
func (r Response) WithBodyFunc(length int64, write BodyFunc) Response {
	r.mode, r.bodyFunc, r.bodyLength = bodyStreamed, write, length
	return r
}

// WithGzip compresses the body and sets "Content-Encoding: gzip". It must come
// after the body was set; a streamed body cannot be compressed.
func (r Response) WithGzip() Response {
	if r.mode > bodyUntilClose {
		panic("mockwebserver: WithGzip needs a body that is known")
	}
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	_, _ = zw.Write(r.body) // into memory: cannot fail
	_ = zw.Close()
	r.body = buf.Bytes()
	return r.WithHeader("Content-Encoding", "gzip")
}

// WithTrailer adds a trailer line, sent after a chunked body. It is not
// announced: for that, set a Trailer header.
func (r Response) WithTrailer(name, value string) Response {
	r.trailer = append(slices.Clip(r.trailer), Field{name, value})
	return r
}

// WithInformational adds responses that are sent before this one, such as
// Status(103) with Link headers. Each may have a head delay and header lines of
// its own. They are sent as soon as the dispatcher knows the response: a Queue
// that is not empty knows it before the request body is read.
func (r Response) WithInformational(responses ...Response) Response {
	r.informational = append(slices.Clip(r.informational), responses...)
	return r
}

// WithContinue adds the informational response "100 Continue".
func (r Response) WithContinue() Response { return r.WithInformational(Status(http.StatusContinue)) }

// WithSocketHandler hands the connection to a function once the head is sent,
// as after a successful CONNECT.
func (r Response) WithSocketHandler(handler SocketHandler) Response {
	r.mode, r.socket = bodySocket, handler
	return r
}

// WithUpgrade makes a "101 Switching Protocols" response to that protocol, and
// hands the connection to a function once it is sent.
func (r Response) WithUpgrade(protocol string, handler SocketHandler) Response {
	return r.WithStatus(http.StatusSwitchingProtocols).
		WithHeader("Connection", "Upgrade").
		WithHeader("Upgrade", protocol).
		WithSocketHandler(handler)
}

// WithHeadDelay waits before the status line is sent. Closing the server ends
// this and the following delays.
func (r Response) WithHeadDelay(d time.Duration) Response {
	r.headDelay = d
	return r
}

// WithBodyDelay waits between the head, which is flushed, and the body.
func (r Response) WithBodyDelay(d time.Duration) Response {
	r.bodyDelay = d
	return r
}

// WithTrailerDelay waits between a chunked body, which is flushed, and its end.
func (r Response) WithTrailerDelay(d time.Duration) Response {
	r.trailerDelay = d
	return r
}

// WithThrottle sends the body slowly: at most so many bytes at once, and a
// pause of that length before the next ones. Zero bytes mean no limit.
func (r Response) WithThrottle(bytes int64, period time.Duration) Response {
	r.throttle = rate{bytes, period}
	return r
}

// WithRequestThrottle reads the body of the request slowly, as WithThrottle
// sends. The dispatcher must know the response before the body is read, as a
// Queue that is not empty does.
func (r Response) WithRequestThrottle(bytes int64, period time.Duration) Response {
	r.requestThrottle = rate{bytes, period}
	return r
}

// WithEffect adds effects that happen at a trigger, in order, after those
// already there. Effects before AtRequestEnd need a dispatcher that knows the
// response early; see Peeker.
func (r Response) WithEffect(at Trigger, effects ...Effect) Response {
	r.effects = slices.Clip(r.effects)
	for _, effect := range effects {
		r.effects = append(r.effects, boundEffect{at, effect})
	}
	return r
}

// WithReading says when the body of the request is read. Other than by default,
// the dispatcher must know the response before the body is read, as a Queue
// that is not empty does.
func (r Response) WithReading(reading RequestReading) Response {
	r.reading = reading
	return r
}

// WithKeepOpen leaves the connection open after the response even where HTTP
// says that a server closes it: after "Connection: close", HTTP/1.0, or a body
// that ends with the connection.
func (r Response) WithKeepOpen() Response {
	r.keepOpen = true
	return r
}

// StatusLine returns the status line as it will be sent.
func (r Response) StatusLine() string {
	if r.statusLine == "" {
		return "HTTP/1.1 200 OK"
	}
	return r.statusLine
}

// Header returns the header lines as they will be sent, the framing included.
func (r Response) Header() Header {
	h := Header(slices.Clip(r.header))
	if r.noFraming || h.Has("Content-Length") || h.Has("Transfer-Encoding") {
		return h
	}
	length := int64(len(r.body))
	switch r.mode {
	case bodyStreamed:
		length = r.bodyLength
	case bodyChunked:
		length = -1
	case bodyFixed:
		if length == 0 && r.statusHasNoBody() {
			return h
		}
	case bodyUntilClose, bodyRaw, bodySocket, bodyHandler:
		return h
	}
	if length < 0 {
		return append(h, Field{"Transfer-Encoding", "chunked"})
	}
	return append(h, Field{"Content-Length", strconv.FormatInt(length, 10)})
}

// statusHasNoBody reports whether the status is one that never has a body.
func (r Response) statusHasNoBody() bool {
	code := r.statusCode()
	return code == "204" || code == "304" || len(code) == 3 && code[0] == '1'
}

// statusCode returns the second word of the status line.
func (r Response) statusCode() string {
	line := r.StatusLine()
	if r.mode == bodyRaw {
		line, _, _ = strings.Cut(string(r.body[:min(len(r.body), 64)]), "\r\n")
	}
	_, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(rest, " ")
	return code
}

// chunked reports whether the server has to write the chunked coding.
func (r Response) chunked() bool {
	return !r.noCoding && (r.mode == bodyChunked || r.mode == bodyStreamed && r.bodyLength < 0)
}

// has reports whether there is an effect at the trigger.
func (r Response) has(at Trigger) bool {
	return slices.ContainsFunc(r.effects, func(e boundEffect) bool { return e.at == at })
}

// endsAt reports whether an effect at the trigger leaves nothing to come.
func (r Response) endsAt(at Trigger) bool {
	return slices.ContainsFunc(r.effects, func(e boundEffect) bool { return e.at == at && e.terminal() })
}
