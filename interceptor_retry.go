package okhttp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"

	"github.com/okhttp-go/okhttp/internal/connect"
	"github.com/okhttp-go/okhttp/internal/followup"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// retryAndFollowUp makes one exchange after the other until a response asks for
// nothing more or a failure cannot be mended. What to do after each is decided
// by package followup; here it is done.
func (c *Call) retryAndFollowUp(cfg *settings, req *http.Request) (*http.Response, error) {
	hop := hop{call: c, cfg: cfg, req: req}
	if err := c.beginExchanges(req); err != nil {
		return nil, err
	}
	for {
		if err := hop.ended(nil); err != nil {
			return nil, err
		}
		resp, err := c.bridge(cfg, hop.req)
		if err != nil {
			if err := hop.recover(err); err != nil {
				return nil, err
			}
			continue
		}
		c.spoke = true
		resp.Request = c.userRequest(hop.req)
		next, err := hop.followUp(resp)
		if err != nil || next == nil {
			if err != nil {
				resp.Body.Close()
				return nil, err
			}
			return resp, nil
		}
		hop.req = next
	}
}

// beginExchanges readies the call for the exchanges of one Proceed.
func (c *Call) beginExchanges(req *http.Request) error {
	if c.first.call != nil && c.openExchange() != nil {
		return &InterceptorError{Reason: "proceeded while the body of the call's previous response was open: close it first"}
	}
	c.prior, c.planner, c.fresh = nil, nil, false
	c.attempt = c.attemptOf(req)
	return c.body.replace(req)
}

// userRequest is the request that a response shows as its own: the caller's,
// where no interceptor replaced it.
func (c *Call) userRequest(req *http.Request) *http.Request {
	if c.original.URL == req.URL && c.original.Method == req.Method && len(c.cfg.applicationInterceptors) == 0 {
		return c.original
	}
	return req
}

// hop is the state of the loop: the request to make now, and how it got there.
type hop struct {
	call *Call
	cfg  *settings
	req  *http.Request

	failures    []error // of this call's exchanges, all retried
	refused     int     // how often the peer has surely not processed it; see enoughRefusals
	followUps   int
	priorStatus int
}

// recover returns nil if the request is to be sent again, else the error to
// fail with.
func (h *hop) recover(err error) error {
	c := h.call
	f := h.failure(err, h.ended(err) != nil)
	d := followup.AfterFailure(f)
	if d.Retry {
		if err := c.body.rewind(); err != nil {
			d = followup.Decision{Reason: "the request body could not be had again"}
		}
	}
	wrapped := h.wrap(err, f, d)
	emit(c, RetryDecision{Err: wrapped, Retry: d.Retry, Reason: d.Reason})
	if !d.Retry {
		return wrapped
	}
	c.spoke = c.spoke || !f.Unprocessed()
	h.failures = append(h.failures, wrapped)
	h.refused += refusalWeight(err)
	var broken *exchangeError
	if errors.As(err, &broken) {
		broken.exchange.abandon()
		if wantsHTTP1(err) {
			h.cfg.pool.p.RequireHTTP1(broken.exchange.conn.Address())
		}
		c.fresh = !broken.exchange.shared() // another stream may do as well as another connection
		if broken.exchange.reused && c.planner == nil {
			c.planner = connect.NewPlanner(broken.exchange.conn.Address(), h.cfg.memory)
		}
		if broken.exchange.conn.Served() > 0 && c.planner != nil {
			// It worked before, so the route is good: no need to ask for another.
			c.planner.RetryRoute(broken.exchange.conn.Route())
		}
	}
	return nil
}

// ended is why the call was canceled, or the attempt in which err came about has
// ended; nil if neither is so.
func (h *hop) ended(err error) error {
	if err != nil {
		var broken *exchangeError
		if errors.As(err, &broken) {
			return broken.exchange.ended()
		}
	}
	if cause := h.call.canceledErr(); cause != nil {
		return cause
	}
	return h.call.attempt.err()
}

// failure states the facts of an attempt that failed with err.
func (h *hop) failure(err error, canceled bool) followup.Failure {
	c := h.call
	f := followup.Failure{
		RetryEnabled:   h.cfg.retry,
		Canceled:       canceled || errors.Is(err, ErrClosed) || errors.Is(err, connect.ErrPoolClosed),
		RefusedBefore:  h.refused >= enoughRefusals,
		BodyRead:       c.body.wasRead(),
		BodyReplayable: c.body.replayable(),
		Idempotent:     h.cfg.idempotent || followup.Idempotent(h.req),
		MoreRoutes:     c.planner != nil && c.planner.HasNext(),
	}
	var (
		broken   *exchangeError
		request  *httpsem.RequestError
		refusal  *RequestError
		body     *httpsem.BodyError
		protocol *httpsem.ProtocolError
	)
	if errors.As(err, &broken) {
		f.Connected = true
		f.Reused = broken.exchange.reused
		f.Sent, f.Received = broken.sent, broken.received
	} else {
		var dial *connect.ConnectError
		var fault *InterceptorError
		f.InterceptorFault = errors.As(err, &fault) || !errors.As(err, &dial) && !isTimeout(err)
	}
	f.RequestFault = errors.As(err, &request) || errors.As(err, &refusal)
	f.BodyFault = errors.As(err, &body)
	f.InterceptorFault = f.InterceptorFault && !f.RequestFault && !f.BodyFault
	f.Protocol = errors.As(err, &protocol)
	f.RefusedByPeer = refusalWeight(err) > 0
	f.Calm = asksForCalm(err)
	f.Timeout = isTimeout(err)
	f.CertificateFault = certificateFault(err)
	return f
}

// enoughRefusals is when a request is not sent again though the peer has surely
// not processed it. A peer that refuses it by itself is asked once more (RFC 9113
// section 8.7); one that closes a connection, or lowers its limit, just when a
// request comes may do so a few times in good faith, but not for ever.
const enoughRefusals = 5

// refusalWeight weighs an error of a request that was surely not processed, 0 for others.
func refusalWeight(err error) int {
	var unprocessed *httpsem.UnprocessedError
	var stream *httpsem.StreamError
	switch {
	case !errors.As(err, &unprocessed):
		return 0
	case errors.As(err, &stream) && stream.Code == httpsem.CodeRefusedStream:
		return enoughRefusals
	default:
		return 1
	}
}

// asksForCalm reports whether a peer has had too much from us.
func asksForCalm(err error) bool {
	var stream *httpsem.StreamError
	var away *httpsem.GoAwayError
	return errors.As(err, &stream) && stream.Remote && stream.Code == httpsem.CodeEnhanceYourCalm ||
		errors.As(err, &away) && away.Code == httpsem.CodeEnhanceYourCalm
}

// wantsHTTP1 reports whether a peer will not serve the request over HTTP/2.
func wantsHTTP1(err error) bool {
	var stream *httpsem.StreamError
	return errors.As(err, &stream) && stream.Remote && stream.Code == httpsem.CodeHTTP11Required
}

func certificateFault(err error) bool {
	var verify *tls.CertificateVerificationError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var authority x509.UnknownAuthorityError
	return errors.As(err, &verify) || errors.As(err, &host) || errors.As(err, &invalid) || errors.As(err, &authority)
}

// wrap gives the error its place, and says what is known of the outcome.
func (h *hop) wrap(err error, f followup.Failure, d followup.Decision) error {
	c := h.call
	var fault *InterceptorError
	if errors.As(err, &fault) {
		return err
	}
	e := &Error{Phase: c.phase, Host: hostPort(h.req), Prior: h.failures}
	var broken *exchangeError
	var own *Error
	if errors.As(err, &own) && h.ended(err) == nil {
		return err // of another call, that an interceptor made
	}
	if errors.As(err, &broken) {
		e.Addr = broken.exchange.addr()
	}
	if cause := h.ended(err); cause != nil {
		e = c.located(e, cause)
	} else if broken != nil {
		e.Err = translate(broken.err)
		if broken.also != nil {
			e.Prior = append(e.Prior[:len(e.Prior):len(e.Prior)], broken.also)
		}
	} else {
		e = c.located(e, err)
	}
	if d.UnknownOutcome {
		e.Err = &causeError{ErrOutcomeUnknown, e.Err}
	}
	e.safe = e.safe || f.Unprocessed() && !c.spoke
	return e
}

// followUp returns the request that follows from a response, nil if none does,
// or the error to fail with. If there is a next request the response is closed.
func (h *hop) followUp(resp *http.Response) (*http.Request, error) {
	c := h.call
	if c.door == roundTripper {
		emit(c, FollowUpDecision{Response: resp, Reason: "redirects and challenges are the caller's"})
		return nil, nil
	}
	step := followup.AfterResponse(h.facts(), followup.Response{
		Status: resp.StatusCode, Header: resp.Header, PriorStatus: h.priorStatus, Coalesced: h.misdirected(resp),
	}, followup.Policy{
		RetryEnabled: h.cfg.retry, FollowRedirects: h.cfg.followRedirects,
		FollowTLSRedirects: h.cfg.followTLS, FollowDowngrades: h.cfg.followDowngrades,
		CrossOriginBodies: h.cfg.crossBodies, SensitiveHeaders: h.cfg.sensitive,
	})
	next, reason, err := h.nextRequest(step, resp)
	if err != nil {
		return nil, err
	}
	if next == nil {
		emit(c, FollowUpDecision{Response: resp, Reason: reason})
		return nil, nil
	}
	if h.followUps >= DefaultMaxFollowUps {
		emit(c, FollowUpDecision{Response: resp, Reason: "too many follow-ups"})
		c.phase = PhaseFollowUp
		return nil, ErrTooManyFollowUps
	}
	resp.Body.Close() // drains a little, so that the connection can be used again
	if open := c.openExchange(); open != nil {
		open.abandon() // an interceptor replaced the body and did not close it
	}
	emit(c, FollowUpDecision{Response: resp, Next: next, Reason: reason})
	h.followUps++
	h.priorStatus = resp.StatusCode
	c.prior = closedCopy(resp)
	c.planner, c.fresh = nil, false
	if err := c.body.adopt(next); err != nil {
		return nil, err
	}
	return next, nil
}

// misdirected reports whether a 421 came over a connection that was opened for
// another host. Then that connection serves no other host any more.
func (h *hop) misdirected(resp *http.Response) bool {
	if resp.StatusCode != http.StatusMisdirectedRequest {
		return false
	}
	e := exchangeOf(resp)
	if e == nil {
		return false
	}
	own, err := addressOf(e.request.URL, h.cfg.connect)
	if err != nil || e.conn.Address() == own {
		return false
	}
	e.conn.ForbidCoalescing()
	return true
}

func (h *hop) facts() followup.Request {
	c := h.call
	return followup.Request{
		Method: h.req.Method, URL: h.req.URL,
		HasBody: !c.body.empty(), BodyRead: c.body.wasRead(), BodyReplayable: c.body.replayable(),
		ExpectContinue: expectsContinue(h.req),
	}
}

func expectsContinue(req *http.Request) bool {
	for _, v := range req.Header["Expect"] {
		if strings.EqualFold(strings.TrimSpace(v), "100-continue") {
			return true
		}
	}
	return false
}

// nextRequest builds what a step asks for.
func (h *hop) nextRequest(step followup.Step, resp *http.Response) (*http.Request, string, error) {
	switch step.Action {
	case followup.Repeat:
		next := h.req.Clone(h.req.Context())
		step.StripFrom(next.Header)
		return h.withBody(next, step.Reason)
	case followup.Redirect:
		next := h.req.Clone(h.req.Context())
		next.URL, next.Method = step.URL, step.Method
		if !step.KeepHost {
			next.Host = ""
		}
		step.StripFrom(next.Header)
		if !step.KeepBody {
			next.Body, next.GetBody, next.ContentLength, next.TransferEncoding, next.Trailer = nil, nil, 0, nil, nil
			return next, step.Reason, nil
		}
		return h.withBody(next, step.Reason)
	case followup.AskAuthenticator:
		return h.authenticate(resp, step.Reason)
	case followup.Fail:
		h.call.phase = PhaseFollowUp
		return nil, "", &httpsem.ProtocolError{Reason: step.Reason}
	default:
		return nil, step.Reason, nil
	}
}

// withBody gives next a body of its own where the one of the request before is
// read already.
func (h *hop) withBody(next *http.Request, reason string) (*http.Request, string, error) {
	if h.call.body.empty() || !h.call.body.wasRead() {
		return next, reason, nil
	}
	again := next.GetBody
	if again == nil { // an authenticator's, around the body of the request before
		again = h.call.body.req.GetBody
	}
	body, err := again()
	if err != nil {
		return nil, "", &httpsem.BodyError{Err: err}
	}
	next.Body = body
	return next, reason, nil
}

func (h *hop) authenticate(resp *http.Response, reason string) (*http.Request, string, error) {
	if h.cfg.authenticator == nil {
		return nil, reason + ", and there is no authenticator", nil
	}
	var route Route
	if info := InfoOf(resp); info != nil {
		route = info.Route
	}
	next, err := h.cfg.authenticator.Authenticate(route, resp)
	if err != nil {
		h.call.phase = PhaseFollowUp
		return nil, "", err
	}
	if next == nil {
		return nil, "the authenticator gives up", nil
	}
	if next.Body != nil && sameBody(next, h.req) {
		return h.withBody(next, reason)
	}
	return next, reason, nil
}

// closedCopy is what later responses show of an earlier one.
func closedCopy(resp *http.Response) *http.Response {
	c := *resp
	c.Body = closedBody{info: InfoOf(resp)}
	return &c
}
