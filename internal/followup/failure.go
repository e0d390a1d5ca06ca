// Package followup decides what comes after an attempt: whether a request is
// sent again after a failure ([AfterFailure]), and whether a response asks for
// another request ([AfterResponse]).
//
// It is policy alone: plain facts in, a decision with its reason out. It knows
// no sockets, clocks or locks, and changes nothing that it is given.
package followup

// Failure is what is known of an attempt that ended without a response.
type Failure struct {
	RetryEnabled bool // resends are allowed at all

	// Whose fault it was. With none set, the connection broke.
	Canceled         bool // the call was canceled, or its context ended
	InterceptorFault bool // an interceptor failed, not the transport
	RequestFault     bool // the request cannot be put on the wire as it is
	BodyFault        bool // the request body's reader failed or gave another length
	CertificateFault bool // the peer's certificate, name or pin was not accepted
	Timeout          bool // one of the client's timeouts ran out
	Protocol         bool // the peer sent what the protocol forbids
	Calm             bool // the peer asks to be left alone: ENHANCE_YOUR_CALM

	// How far it got.
	Connected     bool // there was an exchange on a connection
	Reused        bool // that connection had been in use before this call took it
	Sent          bool // a byte of the request may have left
	Received      bool // a byte of a response, even an interim one, arrived
	RefusedByPeer bool // proven unprocessed: REFUSED_STREAM, or above GOAWAY's last stream
	RefusedBefore bool // as often before as is enough

	// What a resend has to work with.
	BodyRead       bool // a byte was read from the request body
	BodyReplayable bool // there is no body, or it can be had again (GetBody)
	Idempotent     bool // by method or by the caller's word: see Idempotent
	MoreRoutes     bool // another address has not been tried yet
}

// Decision is the answer to a [Failure].
type Decision struct {
	Retry  bool
	Reason string // a clause in plain words, never empty

	// UnknownOutcome says that the request left, no response came, and that
	// nothing shows whether the peer processed it, so that a caller who repeats
	// it may have it done twice. Never set together with Retry, and not for
	// timeouts and other faults, whose errors speak for themselves.
	UnknownOutcome bool
}

// AfterFailure decides whether the request is sent again. The first of the
// rules that applies wins; the last one always does.
func AfterFailure(f Failure) Decision {
	r := ruleFor(f)
	return Decision{
		Retry:          r.retry,
		Reason:         r.reason,
		UnknownOutcome: !r.retry && !r.fault && f.unknown(),
	}
}

// Unprocessed reports whether the peer provably did not process the request.
func (f Failure) Unprocessed() bool {
	return !f.Received && (!f.Sent || f.RefusedByPeer)
}

// unknown holds where a connection broke between request and response and a
// repetition is not known to be harmless and possible.
func (f Failure) unknown() bool {
	return f.Connected && f.Sent && !f.Received && !f.RefusedByPeer &&
		!(f.Idempotent && f.bodyLeft())
}

// bodyLeft reports whether the whole body can still be sent.
func (f Failure) bodyLeft() bool { return f.BodyReplayable || !f.BodyRead }

// rule is one line of the retry table.
type rule struct {
	name    string
	applies func(Failure) bool
	retry   bool
	fault   bool // not the connection's failure
	reason  string
}

// rules is the retry table, in order of precedence: first the failures which
// another connection would not mend, then what must not be sent twice, then
// what can be sent again.
var rules = []rule{
	{
		name:    "canceled",
		applies: func(f Failure) bool { return f.Canceled },
		fault:   true,
		reason:  "the call was canceled",
	},
	{
		name:    "interceptor fault",
		applies: func(f Failure) bool { return f.InterceptorFault },
		fault:   true,
		reason:  "an interceptor failed, not the connection",
	},
	{
		name:    "request fault",
		applies: func(f Failure) bool { return f.RequestFault },
		fault:   true,
		reason:  "the request cannot be sent as it is",
	},
	{
		name:    "body fault",
		applies: func(f Failure) bool { return f.BodyFault },
		fault:   true,
		reason:  "the request body failed, not the connection",
	},
	{
		name:    "certificate fault",
		applies: func(f Failure) bool { return f.CertificateFault },
		fault:   true,
		reason:  "the peer's certificate was not accepted",
	},
	{
		name:    "timeout",
		applies: func(f Failure) bool { return f.Timeout },
		fault:   true,
		reason:  "timeouts are not retried",
	},
	{
		name:    "protocol error",
		applies: func(f Failure) bool { return f.Protocol },
		fault:   true,
		reason:  "the peer broke the protocol",
	},
	{
		name:    "calm",
		applies: func(f Failure) bool { return f.Calm },
		fault:   true,
		reason:  "the peer asks for fewer requests",
	},
	{
		name:    "no connection",
		applies: func(f Failure) bool { return !f.Connected },
		fault:   true,
		reason:  "no connection could be made",
	},
	{
		name:    "response begun",
		applies: func(f Failure) bool { return f.Received },
		reason:  "a part of the response had arrived",
	},
	{
		name:    "retries off",
		applies: func(f Failure) bool { return !f.RetryEnabled },
		reason:  "retries are switched off",
	},
	{
		name:    "refused twice",
		applies: func(f Failure) bool { return f.RefusedByPeer && f.RefusedBefore },
		reason:  "the peer refused the request again",
	},
	{
		name:    "maybe processed",
		applies: func(f Failure) bool { return f.Sent && !f.RefusedByPeer && !f.Idempotent },
		reason:  "the peer may have processed the request, which is not idempotent",
	},
	{
		name:    "body used up",
		applies: func(f Failure) bool { return !f.bodyLeft() },
		reason:  "the request body was read and cannot be had again",
	},
	{
		name:    "refused",
		applies: func(f Failure) bool { return f.RefusedByPeer },
		retry:   true,
		reason:  "the peer refused the request without processing it",
	},
	{
		name:    "no other address",
		applies: func(f Failure) bool { return !f.Reused && !f.MoreRoutes },
		reason:  "a new connection broke and no other address is left",
	},
	{
		name:    "stale",
		applies: func(f Failure) bool { return f.Reused && !f.Sent },
		retry:   true,
		reason:  "the pooled connection was dead before the request was sent",
	},
	{
		name:    "stale, idempotent",
		applies: func(f Failure) bool { return f.Reused },
		retry:   true,
		reason:  "the pooled connection broke before any response, and the request is idempotent",
	},
	{
		name:    "other address",
		applies: func(f Failure) bool { return !f.Sent },
		retry:   true,
		reason:  "the connection broke before the request was sent, and another address is left",
	},
	{
		name:    "other address, idempotent",
		applies: func(Failure) bool { return true },
		retry:   true,
		reason:  "the connection broke before any response, the request is idempotent and another address is left",
	},
}

func ruleFor(f Failure) *rule {
	for i := range rules {
		if rules[i].applies(f) {
			return &rules[i]
		}
	}
	panic("BUG: the last rule must always apply")
}
