package followup

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"testing"
)

var lenient = Policy{RetryEnabled: true, FollowRedirects: true, FollowTLSRedirects: true, FollowDowngrades: true, CrossOriginBodies: true}

func mustURL(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestStatusTable(t *testing.T) {
	get := Request{Method: "GET"}
	post := Request{Method: "POST", HasBody: true, BodyRead: true, BodyReplayable: true}
	oneShot := Request{Method: "POST", HasBody: true, BodyRead: true}
	unread := Request{Method: "POST", HasBody: true, ExpectContinue: true}
	after := func(seconds string) http.Header { return http.Header{"Retry-After": {seconds}} }
	noRetry := lenient
	noRetry.RetryEnabled = false

	tests := []struct {
		name   string
		req    Request
		resp   Response
		policy Policy
		want   Action
	}{
		{"200", get, Response{Status: 200}, lenient, Return},
		{"204", get, Response{Status: 204}, lenient, Return},
		{"304", get, Response{Status: 304, Header: http.Header{"Location": {"/x"}}}, lenient, Return},
		{"305", get, Response{Status: 305, Header: http.Header{"Location": {"/x"}}}, lenient, Return},
		{"306", get, Response{Status: 306, Header: http.Header{"Location": {"/x"}}}, lenient, Return},
		{"201 with a Location", post, Response{Status: 201, Header: http.Header{"Location": {"/x"}}}, lenient, Return},
		{"404", get, Response{Status: 404}, lenient, Return},
		{"500", get, Response{Status: 500, Header: after("0")}, lenient, Return},

		{"401", get, Response{Status: 401}, lenient, AskAuthenticator},
		{"401, body replayable", post, Response{Status: 401}, lenient, AskAuthenticator},
		{"401, one-shot body", oneShot, Response{Status: 401}, lenient, Return},
		{"401, body untouched", unread, Response{Status: 401}, lenient, AskAuthenticator},
		{"401 again", get, Response{Status: 401, PriorStatus: 401}, lenient, AskAuthenticator},
		{"407 from a proxy", get, Response{Status: 407, ViaHTTPProxy: true}, lenient, AskProxyAuthenticator},
		{"407 from a proxy, one-shot body", oneShot, Response{Status: 407, ViaHTTPProxy: true}, lenient, Return},
		{"407 from a server", get, Response{Status: 407}, lenient, Fail},

		{"408", get, Response{Status: 408}, lenient, Repeat},
		{"408, body replayable", post, Response{Status: 408}, lenient, Repeat},
		{"408, one-shot body", oneShot, Response{Status: 408}, lenient, Return},
		{"408 twice in a row", get, Response{Status: 408, PriorStatus: 408}, lenient, Return},
		{"408 after 503", get, Response{Status: 408, PriorStatus: 503}, lenient, Repeat},
		{"408, retries off", get, Response{Status: 408}, noRetry, Return},
		{"408, Retry-After: 0", get, Response{Status: 408, Header: after("0")}, lenient, Repeat},
		{"408, Retry-After: 1", get, Response{Status: 408, Header: after("1")}, lenient, Return},
		{"408, Retry-After a date", get, Response{Status: 408, Header: after("Wed, 21 Oct 2015 07:28:00 GMT")}, lenient, Return},

		{"417 after Expect", unread, Response{Status: 417}, lenient, Repeat},
		{"417 after Expect, body read and gone", Request{Method: "PUT", HasBody: true, BodyRead: true, ExpectContinue: true}, Response{Status: 417}, lenient, Return},
		{"417 without Expect", post, Response{Status: 417}, lenient, Return},
		{"417 twice in a row", unread, Response{Status: 417, PriorStatus: 417}, lenient, Return},

		{"421 on a shared connection", get, Response{Status: 421, Coalesced: true}, lenient, Repeat},
		{"421 on a shared connection, one-shot body", oneShot, Response{Status: 421, Coalesced: true}, lenient, Return},
		{"421 on its own connection", get, Response{Status: 421}, lenient, Return},

		{"503", get, Response{Status: 503}, lenient, Return},
		{"503, Retry-After: 0", get, Response{Status: 503, Header: after("0")}, lenient, Repeat},
		{"503, Retry-After: 0, retries off", get, Response{Status: 503, Header: after("0")}, noRetry, Repeat},
		{"503, Retry-After: 0, body replayable", post, Response{Status: 503, Header: after("0")}, lenient, Repeat},
		{"503, Retry-After: 0, one-shot body", oneShot, Response{Status: 503, Header: after("0")}, lenient, Return},
		{"503, Retry-After: 1", get, Response{Status: 503, Header: after("1")}, lenient, Return},
		{"503, Retry-After a date", get, Response{Status: 503, Header: after("Wed, 21 Oct 2015 07:28:00 GMT")}, lenient, Return},
		{"503, Retry-After empty", get, Response{Status: 503, Header: after("")}, lenient, Return},
		{"503 twice in a row", get, Response{Status: 503, PriorStatus: 503, Header: after("0")}, lenient, Return},
		{"503 after 408", get, Response{Status: 503, PriorStatus: 408, Header: after("0")}, lenient, Repeat},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.req.URL = mustURL(t, "https://example.com/")
			got := AfterResponse(test.req, test.resp, test.policy)
			if got.Action != test.want {
				t.Errorf("got %v (%s), want %v", got.Action, got.Reason, test.want)
			}
			if got.Reason == "" {
				t.Error("no reason")
			}
		})
	}
}

func TestRepetitionAfter417DropsTheExpectation(t *testing.T) {
	req := Request{Method: "PUT", URL: mustURL(t, "http://h/"), HasBody: true, ExpectContinue: true}
	got := AfterResponse(req, Response{Status: 417}, lenient)
	if !slices.Equal(got.Strip, []string{"Expect"}) {
		t.Errorf("strips %q", got.Strip)
	}
}

func TestRetryAfter(t *testing.T) {
	tests := []struct {
		values []string
		want   int
		ok     bool
	}{
		{nil, 0, false},
		{[]string{"0"}, 0, true},
		{[]string{"000"}, 0, true},
		{[]string{"120"}, 120, true},
		{[]string{"2147483647"}, math.MaxInt32, true},
		{[]string{"2147483648"}, math.MaxInt32, true},
		{[]string{"99999999999999999999999999999999"}, math.MaxInt32, true},
		{[]string{""}, math.MaxInt32, true},
		{[]string{"-0"}, math.MaxInt32, true},
		{[]string{"+0"}, math.MaxInt32, true},
		{[]string{"0.0"}, math.MaxInt32, true},
		{[]string{" 0"}, math.MaxInt32, true},
		{[]string{"Wed, 21 Oct 2015 07:28:00 GMT"}, math.MaxInt32, true},
		{[]string{"0", "7"}, 7, true},
	}
	for _, test := range tests {
		got, ok := RetryAfter(http.Header{"Retry-After": test.values})
		if test.values == nil {
			got, ok = RetryAfter(nil)
		}
		if got != test.want || ok != test.ok {
			t.Errorf("RetryAfter(%q) = %d, %t, want %d, %t", test.values, got, ok, test.want, test.ok)
		}
	}
}

func TestStripFrom(t *testing.T) {
	h := http.Header{
		"Authorization": {"a"}, "authorization": {"b"}, "COOKIE": {"c"}, "x-aPI-key": {"d"},
		"Accept": {"e"}, "accept": {"f"},
	}
	Step{}.StripFrom(h)
	if len(h) != 6 {
		t.Fatalf("a step that strips nothing left %v", h)
	}
	Step{Strip: []string{"Authorization", "Cookie", "X-Api-Key"}}.StripFrom(h)
	if len(h) != 2 || len(h.Values("Accept")) != 1 {
		t.Errorf("left %v", h)
	}
}
