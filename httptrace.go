package okhttp

import (
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/okhttp-go/okhttp/internal/connect"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// tracer serves the httptrace.ClientTrace in a request's context: it listens to
// the call and calls the hooks as net/http does. Where net/http would call a
// hook from a goroutine that outlives the call, ours is not called any more.
type tracer struct {
	hooks *httptrace.ClientTrace

	mu        sync.Mutex
	resolving bool // DNSStart was reported, its end was not
}

func (t *tracer) getConn(hostPort string) {
	if t.hooks.GetConn != nil {
		t.hooks.GetConn(hostPort)
	}
}

func (t *tracer) wait100Continue() {
	if t.hooks.Wait100Continue != nil {
		t.hooks.Wait100Continue()
	}
}

func (t *tracer) got1xx(code int, h http.Header) error {
	if code == http.StatusContinue && t.hooks.Got100Continue != nil {
		t.hooks.Got100Continue()
	}
	if t.hooks.Got1xxResponse != nil {
		return t.hooks.Got1xxResponse(code, textproto.MIMEHeader(h))
	}
	return nil
}

// OnEvent translates events into hooks.
func (t *tracer) OnEvent(call *Call, event Event) {
	h := t.hooks
	switch e := event.(type) {
	case DNSStart:
		t.setResolving(true)
		if h.DNSStart != nil {
			h.DNSStart(httptrace.DNSStartInfo{Host: e.Host})
		}
	case DNSEnd:
		t.setResolving(false)
		if h.DNSDone != nil {
			addrs := make([]net.IPAddr, len(e.Addresses))
			for i, a := range e.Addresses {
				addrs[i] = net.IPAddr{IP: a.AsSlice(), Zone: a.Zone()}
			}
			h.DNSDone(httptrace.DNSDoneInfo{Addrs: addrs})
		}
	case RetryDecision:
		if t.setResolving(false) && h.DNSDone != nil {
			h.DNSDone(httptrace.DNSDoneInfo{Err: e.Err})
		}
	case ConnectStart:
		if h.ConnectStart != nil {
			h.ConnectStart("tcp", dialed(e.Route))
		}
	case SecureConnectStart:
		if h.ConnectDone != nil {
			h.ConnectDone("tcp", dialed(e.Route), nil)
		}
		if h.TLSHandshakeStart != nil {
			h.TLSHandshakeStart()
		}
	case SecureConnectEnd:
		if h.TLSHandshakeDone != nil {
			h.TLSHandshakeDone(*e.TLS, nil)
		}
	case ConnectEnd:
		if h.ConnectDone != nil && e.Route.Scheme == "http" {
			h.ConnectDone("tcp", dialed(e.Route), nil)
		}
	case ConnectFailed:
		t.connectFailed(e)
	case ConnectionAcquired:
		t.acquired(e)
	case ConnectionReleased:
		if h.PutIdleConn != nil {
			h.PutIdleConn(notKept(call))
		}
	case RequestHeadersEnd:
		t.wroteHeaders(e.Request())
	case RequestBodyEnd:
		t.wroteRequest(nil)
	case RequestFailed:
		t.wroteRequest(e.Err)
	case ResponseHeadersStart:
		if h.GotFirstResponseByte != nil {
			h.GotFirstResponseByte()
		}
	}
}

// notKept says why a released connection did not go back to the pool, nil if it did.
func notKept(call *Call) error {
	call.mu.Lock()
	defer call.mu.Unlock()
	if call.reusable {
		return nil
	}
	return errors.New("connection not kept: " + call.reason)
}

func (t *tracer) setResolving(on bool) (was bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was, t.resolving = t.resolving, on
	return was
}

// dialed is the address that net/http would name.
func dialed(r Route) string {
	if r.Addr.IsValid() {
		return r.Addr.String()
	}
	return r.Host
}

func (t *tracer) connectFailed(e ConnectFailed) {
	if connectPhase(e.Err) == PhaseTLS {
		if t.hooks.TLSHandshakeDone != nil {
			t.hooks.TLSHandshakeDone(tls.ConnectionState{}, cause(e.Err))
		}
		return
	}
	if t.hooks.ConnectDone != nil {
		t.hooks.ConnectDone("tcp", dialed(e.Route), cause(e.Err))
	}
}

func (t *tracer) acquired(e ConnectionAcquired) {
	if t.hooks.GotConn == nil {
		return
	}
	info := httptrace.GotConnInfo{Conn: e.Connection.c.Link().Conn, Reused: e.Reused}
	if since := e.Connection.c.IdleSince(); e.Reused && !since.IsZero() {
		info.WasIdle, info.IdleTime = true, time.Since(since)
	}
	t.hooks.GotConn(info)
}

func (t *tracer) wroteHeaders(req *http.Request) {
	if t.hooks.WroteHeaderField != nil {
		for _, f := range wireFields(req) {
			t.hooks.WroteHeaderField(f.name, f.values)
		}
	}
	if t.hooks.WroteHeaders != nil {
		t.hooks.WroteHeaders()
	}
	if bodyLength(req) == 0 {
		t.wroteRequest(nil)
	}
}

type wireField struct {
	name   string
	values []string
}

// wireFields lists the headers of a request, with those that the codec writes of
// its own, in the usual order.
func wireFields(req *http.Request) []wireField {
	fields := []wireField{{"Host", []string{httpsem.RequestHost(req)}}}
	if ua := req.Header["User-Agent"]; len(ua) > 0 {
		fields = append(fields, wireField{"User-Agent", ua[:1]})
	}
	if req.Close && !httpsem.HasToken(req.Header["Connection"], "close") {
		fields = append(fields, wireField{"Connection", []string{"close"}})
	}
	switch length := bodyLength(req); {
	case length > 0 || length == 0 && httpsem.ExpectsLength(req.Method):
		fields = append(fields, wireField{"Content-Length", []string{strconv.FormatInt(length, 10)}})
	case length < 0 && req.Method != http.MethodConnect:
		fields = append(fields, wireField{"Transfer-Encoding", []string{"chunked"}})
	}
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		if name != "User-Agent" && !httpsem.IsFraming(name) {
			fields = append(fields, wireField{name, req.Header[name]})
		}
	}
	return fields
}

func (t *tracer) wroteRequest(err error) {
	if t.hooks.WroteRequest != nil {
		t.hooks.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
}

// cause is the error that net/http would report: not where it happened, which
// the hook says already.
func cause(err error) error {
	var dial *connect.ConnectError
	if errors.As(err, &dial) {
		return dial.Err
	}
	return err
}

// connectPhase tells a failed handshake from a failed dial.
func connectPhase(err error) Phase {
	var dial *connect.ConnectError
	if errors.As(err, &dial) {
		return Phase(dial.Phase)
	}
	return PhaseConnect
}
