package followup

import "testing"

// broken is a failure of a reused connection which nothing stands against
// retrying: nothing had left, and nothing of the body was read.
func broken(change func(*Failure)) Failure {
	f := Failure{
		RetryEnabled:   true,
		Connected:      true,
		Reused:         true,
		BodyReplayable: true,
		MoreRoutes:     true,
	}
	if change != nil {
		change(&f)
	}
	return f
}

func TestRetryTable(t *testing.T) {
	const (
		no      = 0
		yes     = 1
		unknown = 2 // no, and nobody knows whether it was processed
	)
	tests := []struct {
		name   string
		rule   string
		want   int
		change func(*Failure)
	}{
		// Faults that another connection does not mend.
		{"canceled", "canceled", no, func(f *Failure) { f.Canceled = true }},
		{"canceled after sending", "canceled", no, func(f *Failure) { f.Canceled, f.Sent = true, true }},
		{"interceptor failed", "interceptor fault", no, func(f *Failure) { f.InterceptorFault = true }},
		{"header that cannot be sent", "request fault", no, func(f *Failure) { f.RequestFault = true }},
		{"body reader failed", "body fault", no, func(f *Failure) { f.BodyFault, f.Sent, f.BodyRead = true, true, true }},
		{"wrong host in the certificate", "certificate fault", no, func(f *Failure) { f.CertificateFault = true }},
		{"read timeout of a GET", "timeout", no, func(f *Failure) { f.Timeout, f.Sent, f.Idempotent = true, true, true }},
		{"read timeout of a POST", "timeout", no, func(f *Failure) { f.Timeout, f.Sent = true, true }},
		{"write timeout", "timeout", no, func(f *Failure) { f.Timeout, f.Sent = true, true }},
		{"garbage for a status line", "protocol error", no, func(f *Failure) { f.Protocol, f.Sent, f.Received = true, true, true }},
		{"told to be calm", "calm", no, func(f *Failure) { f.Calm, f.Sent, f.Idempotent = true, true, true }},
		{"no address could be reached", "no connection", no, func(f *Failure) { f.Connected, f.Reused, f.MoreRoutes = false, false, false }},

		// A response had begun.
		{"closed within the head", "response begun", no, func(f *Failure) { f.Sent, f.Received, f.Idempotent = true, true, true }},
		{"refused after an interim response", "response begun", no, func(f *Failure) { f.Sent, f.Received, f.RefusedByPeer = true, true, true }},

		// Retries off.
		{"retries off, nothing sent", "retries off", no, func(f *Failure) { f.RetryEnabled = false }},
		{"retries off, GET sent", "retries off", no, func(f *Failure) { f.RetryEnabled, f.Sent, f.Idempotent = false, true, true }},
		{"retries off, POST sent", "retries off", unknown, func(f *Failure) { f.RetryEnabled, f.Sent = false, true }},
		{"retries off, refused", "retries off", no, func(f *Failure) { f.RetryEnabled, f.Sent, f.RefusedByPeer = false, true, true }},

		// (a) A pooled connection that was dead before the first byte left.
		{"stale, GET", "stale", yes, func(f *Failure) { f.Idempotent = true }},
		{"stale, POST", "stale", yes, nil},
		{"stale, POST with a one-shot body not yet read", "stale", yes, func(f *Failure) { f.BodyReplayable = false }},
		{"stale, POST with a one-shot body that was read", "body used up", no, func(f *Failure) { f.BodyRead, f.BodyReplayable = true, false }},
		{"stale, body read and replayable", "stale", yes, func(f *Failure) { f.BodyRead = true }},
		{"stale, the only address", "stale", yes, func(f *Failure) { f.MoreRoutes = false }},

		// (b) A new connection that broke before a byte left.
		{"new, nothing sent, another address", "other address", yes, func(f *Failure) { f.Reused = false }},
		{"new, nothing sent, one-shot unread, another address", "other address", yes, func(f *Failure) { f.Reused, f.BodyReplayable = false, false }},
		{"new, nothing sent, one-shot read, another address", "body used up", no, func(f *Failure) { f.Reused, f.BodyReplayable, f.BodyRead = false, false, true }},
		{"new, nothing sent, no other address", "no other address", no, func(f *Failure) { f.Reused, f.MoreRoutes = false, false }},

		// (c) Bytes had left a pooled connection, nothing came back.
		{"pooled, GET sent", "stale, idempotent", yes, func(f *Failure) { f.Sent, f.Idempotent = true, true }},
		{"pooled, GET sent, the only address", "stale, idempotent", yes, func(f *Failure) { f.Sent, f.Idempotent, f.MoreRoutes = true, true, false }},
		{"pooled, PUT sent, body replayable", "stale, idempotent", yes, func(f *Failure) { f.Sent, f.Idempotent, f.BodyRead = true, true, true }},
		{"pooled, PUT sent, one-shot body read", "body used up", unknown, func(f *Failure) { f.Sent, f.Idempotent, f.BodyRead, f.BodyReplayable = true, true, true, false }},
		{"pooled, PUT head sent, one-shot body unread", "stale, idempotent", yes, func(f *Failure) { f.Sent, f.Idempotent, f.BodyReplayable = true, true, false }},
		{"pooled, POST sent", "maybe processed", unknown, func(f *Failure) { f.Sent = true }},
		{"pooled, POST head sent, body unread", "maybe processed", unknown, func(f *Failure) { f.Sent, f.BodyReplayable = true, false }},

		// A new connection that broke on its first exchange.
		{"new, GET sent, another address", "other address, idempotent", yes, func(f *Failure) { f.Reused, f.Sent, f.Idempotent = false, true, true }},
		{"new, GET sent, no other address", "no other address", no, func(f *Failure) { f.Reused, f.Sent, f.Idempotent, f.MoreRoutes = false, true, true, false }},
		{"new, POST sent, another address", "maybe processed", unknown, func(f *Failure) { f.Reused, f.Sent = false, true }},

		// Proven unprocessed by the peer's own word.
		{"refused, POST", "refused", yes, func(f *Failure) { f.Sent, f.RefusedByPeer, f.BodyRead = true, true, true }},
		{"refused, POST with a one-shot body read", "body used up", no, func(f *Failure) { f.Sent, f.RefusedByPeer, f.BodyRead, f.BodyReplayable = true, true, true, false }},
		{"refused, POST with a one-shot body unread", "refused", yes, func(f *Failure) { f.Sent, f.RefusedByPeer, f.BodyReplayable = true, true, false }},
		{"refused, new connection, the only address", "refused", yes, func(f *Failure) { f.Reused, f.Sent, f.RefusedByPeer, f.MoreRoutes = false, true, true, false }},
		{"refused twice", "refused twice", no, func(f *Failure) { f.Sent, f.RefusedByPeer, f.RefusedBefore = true, true, true }},
		{"refused before, broken now, GET", "stale, idempotent", yes, func(f *Failure) { f.Sent, f.Idempotent, f.RefusedBefore = true, true, true }},
	}

	tested := map[string]bool{}
	for _, test := range tests {
		f := broken(test.change)
		r, got := ruleFor(f), AfterFailure(f)
		tested[r.name] = true
		t.Run(test.name, func(t *testing.T) {
			if r.name != test.rule {
				t.Errorf("decided by rule %q, want %q", r.name, test.rule)
			}
			if got.Retry != (test.want == yes) || got.UnknownOutcome != (test.want == unknown) {
				t.Errorf("got %+v, want retry %t, unknown %t", got, test.want == yes, test.want == unknown)
			}
			if got.Reason != r.reason || got.Reason == "" {
				t.Errorf("reason %q, want that of the rule, %q", got.Reason, r.reason)
			}
		})
	}
	for _, r := range rules {
		if !tested[r.name] {
			t.Errorf("no test for rule %q", r.name)
		}
	}
}

// fields lists every fact of a Failure.
func fields(f *Failure) []*bool {
	return []*bool{
		&f.RetryEnabled,
		&f.Canceled, &f.InterceptorFault, &f.RequestFault, &f.BodyFault,
		&f.CertificateFault, &f.Timeout, &f.Protocol,
		&f.Connected, &f.Reused, &f.Sent, &f.Received, &f.RefusedByPeer, &f.RefusedBefore,
		&f.BodyRead, &f.BodyReplayable, &f.Idempotent, &f.MoreRoutes,
	}
}

// TestRetryInvariants holds for every combination of facts, also for those that
// cannot occur.
func TestRetryInvariants(t *testing.T) {
	var probe Failure
	combinations := 1 << len(fields(&probe))
	for bits := range combinations {
		var f Failure
		for i, field := range fields(&f) {
			*field = bits>>i&1 == 1
		}
		d := AfterFailure(f)

		faulty := f.Canceled || f.InterceptorFault || f.RequestFault || f.BodyFault ||
			f.CertificateFault || f.Timeout || f.Protocol
		broken := func(invariant string) { t.Fatalf("%s\n%+v\n%+v", invariant, f, d) }

		switch {
		case d.Reason == "":
			broken("every decision has a reason")
		case d.Retry && d.UnknownOutcome:
			broken("what is sent again is not reported as unknown")
		}
		if d.Retry {
			switch {
			case !f.RetryEnabled:
				broken("never retry when retries are off")
			case faulty:
				broken("never retry a fault that is not the connection's")
			case !f.Connected:
				broken("never retry without a connection that failed")
			case f.Received:
				broken("never retry once a byte of a response came")
			case f.Sent && !f.Idempotent && !f.RefusedByPeer:
				broken("never retry what may have been processed and is not idempotent")
			case f.BodyRead && !f.BodyReplayable:
				broken("never retry with half a body")
			case !f.Reused && !f.MoreRoutes && !f.RefusedByPeer:
				broken("never retry a new connection on the same address")
			case f.RefusedByPeer && f.RefusedBefore:
				broken("never retry a second refusal")
			}
		}
		if d.UnknownOutcome {
			switch {
			case !f.Sent, f.Received, f.RefusedByPeer:
				broken("the outcome is known when nothing left, something came, or the peer said so")
			case f.Unprocessed():
				broken("unknown and unprocessed exclude each other")
			case faulty:
				broken("a fault has its own error")
			}
		}
		if !d.Retry && !faulty && f.Connected && f.Sent && !f.Received && !f.RefusedByPeer &&
			!f.Idempotent && !d.UnknownOutcome {
			broken("a request that broke without an answer and cannot be repeated has an unknown outcome")
		}
		if f.Unprocessed() && f.Received {
			broken("a response shows that the request was processed")
		}
	}
}
