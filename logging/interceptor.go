package logging

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/okhttp-go/okhttp"
)

// Level says how much an [Interceptor] tells.
type Level int32

const (
	// LevelNone tells nothing.
	LevelNone Level = iota

	// LevelBasic tells one line for the request and one for the response:
	//
	//	--> POST https://example.com/greeting (3-byte body)
	//	<-- 200 OK https://example.com/greeting (22 ms, 6-byte body)
	LevelBasic

	// LevelHeaders adds the header lines, sorted by name.
	LevelHeaders

	// LevelBody adds the bodies, as far as they are text, up to a limit.
	LevelBody
)

// String gives "none", "basic", "headers" or "body".
func (l Level) String() string {
	switch l {
	case LevelNone:
		return "none"
	case LevelBasic:
		return "basic"
	case LevelHeaders:
		return "headers"
	case LevelBody:
		return "body"
	default:
		return fmt.Sprintf("Level(%d)", int32(l))
	}
}

// Interceptor tells requests and responses in text. As an application interceptor
// ([okhttp.WithInterceptor]) it sees what the program asked for and got; as a
// network interceptor ([okhttp.WithNetworkInterceptor]) what went over the wire:
// each redirect and repeat, the client's own headers, bodies still compressed.
//
// A request is one text and a response is another, each handed over at once, so
// the lines of concurrent calls do not mix. At [LevelBody] the text of a response
// comes when its body was read to the end or closed; else it comes with the head.
//
// No body is ever held as a whole, and none is read that the program does not
// read: of a response the interceptor keeps the first bytes that pass by; of a
// request it reads the first bytes of a second copy, if GetBody gives one. What is
// a stream stays one. An InfoOf a logged response works.
//
// It is safe for concurrent use.
type Interceptor struct {
	log    func(text string)
	level  atomic.Int32
	limit  int64
	header func(name string) bool // whether its values may be shown
	query  func(name string) bool
}

var _ okhttp.Interceptor = (*Interceptor)(nil)

// NewInterceptor makes an interceptor that gives its texts to log: several lines
// at [LevelHeaders] and [LevelBody], without a newline at the end. Without options
// it tells at [LevelBasic].
func NewInterceptor(log func(text string), opts ...Option) *Interceptor {
	s := settings{level: LevelBasic, limit: DefaultBodyLimit, hidden: map[string]bool{}, query: map[string]bool{}}
	for _, name := range credentials {
		s.hidden[name] = true
	}
	for _, o := range opts {
		o(&s)
	}
	i := &Interceptor{
		log: log, limit: s.limit,
		header: func(name string) bool { return !s.hidden[http.CanonicalHeaderKey(name)] },
		query:  func(name string) bool { return s.allQuery || s.query[name] },
	}
	i.SetLevel(s.level)
	return i
}

// SetLevel changes the level; calls in progress keep theirs.
func (i *Interceptor) SetLevel(l Level) { i.level.Store(int32(l)) }

// Level returns the level.
func (i *Interceptor) Level() Level { return Level(i.level.Load()) }

// Intercept tells the request, proceeds, and tells the response or the error.
func (i *Interceptor) Intercept(chain *okhttp.Chain) (*http.Response, error) {
	req, level := chain.Request(), i.Level()
	if level <= LevelNone {
		return chain.Proceed(req)
	}
	i.log(i.requestText(level, chain, req))
	start := time.Now()
	resp, err := chain.Proceed(req)
	if err != nil {
		i.log(fmt.Sprintf("<-- HTTP FAILED: %s. %s %s (%s)",
			errorText(err), method(req.Method), requestURL(req, i.query), millis(time.Since(start))))
		return nil, err
	}
	i.tellResponse(level, req, resp, time.Since(start))
	return resp, nil
}

func millis(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

// headers writes header lines, sorted by name, with hidden values hidden.
func (i *Interceptor) headers(b *strings.Builder, h http.Header) {
	for _, name := range sortedNames(h) {
		for _, value := range h[name] {
			switch canonical := http.CanonicalHeaderKey(name); {
			case !i.header(name):
				value = hidden
			case canonical == "Location", canonical == "Content-Location", canonical == "Referer":
				value = redactedText(value, i.query)
			}
			fmt.Fprintf(b, "\n%s: %s", name, printable(value))
		}
	}
}
