package followup

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// Request is what is known of the request that was answered.
type Request struct {
	Method string   // "" means GET
	URL    *url.URL // absolute, http or https

	HasBody        bool
	BodyRead       bool // a byte was read from the body
	BodyReplayable bool // there is no body, or it can be had again (GetBody)
	ExpectContinue bool // it was sent with Expect: 100-continue
}

// bodyLeft reports whether the request can be sent whole once more. A body of
// which nothing was read, because the server answered first, is still whole.
func (r Request) bodyLeft() bool { return !r.HasBody || r.BodyReplayable || !r.BodyRead }

// Response is what is known of its answer.
type Response struct {
	Status int
	Header http.Header

	PriorStatus  int  // the status that led to this request; 0 for the first request of a call
	Coalesced    bool // it came over a connection that was opened for another host
	ViaHTTPProxy bool // it came over the plaintext part of an HTTP proxy
}

// Policy is what the caller of the client allows. The zero value follows and
// repeats nothing but authentication and what the server asks for in plain words.
type Policy struct {
	RetryEnabled       bool // allows the repetition after 408
	FollowRedirects    bool
	FollowTLSRedirects bool     // between http and https, in both directions
	FollowDowngrades   bool     // from https to http; needs FollowTLSRedirects too
	CrossOriginBodies  bool     // 307 and 308 may carry the body to another origin
	SensitiveHeaders   []string // stripped across origins, with those that always are
}

// Action says what follows a response.
type Action uint8

const (
	// Return gives the response to the caller.
	Return Action = iota
	// Repeat sends the same request once more, less the headers in Strip.
	Repeat
	// Redirect sends the request that the other fields of the step describe.
	Redirect
	// AskAuthenticator sends what the authenticator makes of a 401.
	AskAuthenticator
	// AskProxyAuthenticator sends what the proxy authenticator makes of a 407.
	AskProxyAuthenticator
	// Fail ends the call with a protocol error that has the reason as its text.
	Fail
)

func (a Action) String() string {
	switch a {
	case Return:
		return "return"
	case Repeat:
		return "repeat"
	case Redirect:
		return "redirect"
	case AskAuthenticator:
		return "ask authenticator"
	case AskProxyAuthenticator:
		return "ask proxy authenticator"
	case Fail:
		return "fail"
	default:
		return "Action(" + strconv.Itoa(int(a)) + ")"
	}
}

// Step is the answer to a [Response].
type Step struct {
	Action Action
	Reason string // a clause in plain words, never empty

	Strip []string // canonical names of headers to remove, sorted; for Repeat and Redirect

	// The next request; for Redirect only.
	Method      string
	URL         *url.URL
	KeepBody    bool
	KeepHost    bool // Location named no host, so a Host that the caller had set stays
	CrossOrigin bool // scheme, host or port differ; the credentials are in Strip
}

// StripFrom removes the headers in Strip from h, in whatever case a caller
// wrote their names.
func (s Step) StripFrom(h http.Header) {
	if len(s.Strip) == 0 {
		return
	}
	for name := range h {
		if _, found := slices.BinarySearch(s.Strip, http.CanonicalHeaderKey(name)); found {
			delete(h, name)
		}
	}
}

// AfterResponse decides what follows a response. Counting the follow-ups of a
// call, and ending it when there are too many, is left to the caller.
func AfterResponse(req Request, resp Response, p Policy) Step {
	switch resp.Status {
	case http.StatusMultipleChoices, http.StatusMovedPermanently, http.StatusFound,
		http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return redirect(req, resp, p)
	case http.StatusUnauthorized:
		if !req.bodyLeft() {
			return stay(bodyGone)
		}
		return Step{Action: AskAuthenticator, Reason: "the server asks for credentials"}
	case http.StatusProxyAuthRequired:
		if !resp.ViaHTTPProxy {
			return Step{Action: Fail, Reason: "status 407 (proxy authentication required) from a server that is no proxy"}
		}
		if !req.bodyLeft() {
			return stay(bodyGone)
		}
		return Step{Action: AskProxyAuthenticator, Reason: "the proxy asks for credentials"}
	case http.StatusRequestTimeout:
		return after408(req, resp, p)
	case http.StatusExpectationFailed:
		return after417(req, resp)
	case http.StatusMisdirectedRequest:
		return after421(req, resp)
	case http.StatusServiceUnavailable:
		return after503(req, resp)
	default:
		return stay("status " + strconv.Itoa(resp.Status) + " asks for nothing more")
	}
}

// bodyGone is the reason why a request that is asked for is not made.
const bodyGone = "the request body was read and cannot be had again"

func stay(reason string) Step { return Step{Action: Return, Reason: reason} }

// after408: the server gave up waiting for a request (RFC 9110 section 15.5.9),
// which is what a server says on a connection that it is about to close for
// being idle.
func after408(req Request, resp Response, p Policy) Step {
	switch seconds, _ := RetryAfter(resp.Header); {
	case !p.RetryEnabled:
		return stay("retries are switched off")
	case resp.PriorStatus == http.StatusRequestTimeout:
		return stay("the server timed out twice in a row")
	case seconds > 0:
		return stay("the server asks to wait (Retry-After)")
	case !req.bodyLeft():
		return stay(bodyGone)
	default:
		return Step{Action: Repeat, Reason: "the server timed out waiting for the request"}
	}
}

// after417 repeats without the expectation, RFC 9110 section 10.1.1.
func after417(req Request, resp Response) Step {
	switch {
	case !req.ExpectContinue:
		return stay("status 417, but the request expected nothing")
	case resp.PriorStatus == http.StatusExpectationFailed:
		return stay("the server refused the expectation twice in a row")
	case !req.bodyLeft():
		return stay(bodyGone)
	default:
		return Step{Action: Repeat, Reason: "the server does not take Expect: 100-continue", Strip: []string{"Expect"}}
	}
}

// after421: the server does not speak for this host on this connection, RFC
// 9110 section 15.5.20. The repetition needs a connection that was opened for
// this host.
func after421(req Request, resp Response) Step {
	switch {
	case !resp.Coalesced:
		return stay("status 421 on a connection that was opened for this host")
	case !req.bodyLeft():
		return stay(bodyGone)
	default:
		return Step{Action: Repeat, Reason: "the server does not answer for this host on a shared connection"}
	}
}

// after503 repeats only when the server says in plain words that it may be now.
func after503(req Request, resp Response) Step {
	switch seconds, ok := RetryAfter(resp.Header); {
	case !ok:
		return stay("status 503 without Retry-After")
	case seconds != 0:
		return stay("the server asks to wait (Retry-After)")
	case resp.PriorStatus == http.StatusServiceUnavailable:
		return stay("the server was unavailable twice in a row")
	case !req.bodyLeft():
		return stay(bodyGone)
	default:
		return Step{Action: Repeat, Reason: "the server asks to try again at once (Retry-After: 0)"}
	}
}
