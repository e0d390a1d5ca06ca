package followup

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestRedirectMethods(t *testing.T) {
	type want struct {
		method string
		body   bool
	}
	get, keep := want{"GET", false}, func(m string) want { return want{m, true} }
	tests := []struct {
		method  string
		hasBody bool
		codes   map[int]want
	}{
		{"", false, map[int]want{300: get, 301: get, 302: get, 303: get, 307: get, 308: get}},
		{"GET", false, map[int]want{300: get, 301: get, 302: get, 303: get, 307: get, 308: get}},
		{"GET", true, map[int]want{300: keep("GET"), 301: keep("GET"), 302: keep("GET"), 303: get, 307: keep("GET"), 308: keep("GET")}},
		{"HEAD", false, map[int]want{300: {"HEAD", false}, 301: {"HEAD", false}, 302: {"HEAD", false}, 303: {"HEAD", false}, 307: {"HEAD", false}, 308: {"HEAD", false}}},
		{"POST", true, map[int]want{300: get, 301: get, 302: get, 303: get, 307: keep("POST"), 308: keep("POST")}},
		{"POST", false, map[int]want{303: get, 307: {"POST", false}, 308: {"POST", false}}},
		{"PUT", true, map[int]want{300: get, 301: get, 302: get, 303: get, 307: keep("PUT"), 308: keep("PUT")}},
		{"DELETE", false, map[int]want{301: get, 303: get, 307: {"DELETE", false}, 308: {"DELETE", false}}},
		{"OPTIONS", false, map[int]want{302: get, 303: get, 307: {"OPTIONS", false}}},
		{"PROPFIND", true, map[int]want{300: keep("PROPFIND"), 301: keep("PROPFIND"), 302: keep("PROPFIND"), 303: keep("PROPFIND"), 307: keep("PROPFIND"), 308: keep("PROPFIND")}},
		{"QUERY", true, map[int]want{300: keep("QUERY"), 301: keep("QUERY"), 302: keep("QUERY"), 303: get, 307: keep("QUERY"), 308: keep("QUERY")}},
	}
	for _, test := range tests {
		for code, want := range test.codes {
			req := Request{Method: test.method, URL: mustURL(t, "http://h/a"), HasBody: test.hasBody, BodyReplayable: true, BodyRead: test.hasBody}
			got := AfterResponse(req, Response{Status: code, Header: http.Header{"Location": {"/b"}}}, lenient)
			if got.Action != Redirect || got.Method != want.method || got.KeepBody != want.body {
				t.Errorf("%s (body %t) on %d: %v %s, body %t; want %s, body %t",
					test.method, test.hasBody, code, got.Action, got.Method, got.KeepBody, want.method, want.body)
			}
			if got.URL == nil || got.URL.String() != "http://h/b" {
				t.Errorf("%s on %d goes to %v", test.method, code, got.URL)
			}
			for _, name := range []string{"Content-Length", "Content-Type", "Transfer-Encoding"} {
				if slices.Contains(got.Strip, name) == want.body {
					t.Errorf("%s on %d: strips %q although body kept is %t", test.method, code, got.Strip, want.body)
				}
			}

			// The same with a body that is gone.
			req.BodyReplayable = false
			got = AfterResponse(req, Response{Status: code, Header: http.Header{"Location": {"/b"}}}, lenient)
			wantAction := Redirect
			if want.body {
				wantAction = Return
			}
			if got.Action != wantAction {
				t.Errorf("%s on %d with a one-shot body: %v, want %v", test.method, code, got.Action, wantAction)
			}
		}
	}
}

func TestRedirectTargets(t *testing.T) {
	const from = "http://example.com:80/dir/page?q=1#part"
	tests := []struct {
		location string
		want     string // "" means not followed
		keepHost bool
	}{
		{"/x", "http://example.com:80/x#part", true},
		{"x", "http://example.com:80/dir/x#part", true},
		{"../x", "http://example.com:80/x#part", true},
		{"?r=2", "http://example.com:80/dir/page?r=2#part", true},
		{"/x#own", "http://example.com:80/x#own", true},
		{"/x#", "http://example.com:80/x", true}, // an empty fragment is a fragment
		{"#only", "http://example.com:80/dir/page?q=1#only", true},
		{"//other.example/x", "http://other.example/x#part", false},
		{"http://example.com/x", "http://example.com/x#part", false},
		{"HTTPS://other.example", "https://other.example#part", false},
		{"http://user:pass@other.example/x", "http://user:pass@other.example/x#part", false},
		{"/a b?c d", "http://example.com:80/a%20b?c%20d#part", true},
		{"/caf\xc3\xa9?caf\xc3\xa9", "http://example.com:80/caf%C3%A9?caf%C3%A9#part", true},
		{`/x?"<>'`, "http://example.com:80/x?%22%3C%3E'#part", true},
		{`/\evil.example/`, "http://example.com:80/%5Cevil.example/#part", true},
		{"http://[::1]:8080/x", "http://[::1]:8080/x#part", false},

		{"", "", false},
		{"ftp://other.example/", "", false},
		{"file:///etc/passwd", "", false},
		{"javascript:alert(1)", "", false},
		{"mailto:a@example.com", "", false},
		{"http:opaque", "", false},
		{"http://", "", false},
		{"http:///path", "", false},
		{"http://:80/", "", false},
		{"http://other.example:0/", "", false},
		{"http://other.example:65536/", "", false},
		{"http://other.example:port/", "", false},
		{"http://a b/", "", false},
		{`http://good.example\@evil.example/`, "", false},
		{"http://%zz/", "", false},
		{"/x\r\nSet-Cookie: a=b", "", false},
		{"/x\ty", "", false},
		{"/x\x00", "", false},
		{"/x\x7f", "", false},
		{":", "", false},
	}
	for _, test := range tests {
		req := Request{Method: "GET", URL: mustURL(t, from)}
		got := AfterResponse(req, Response{Status: 302, Header: http.Header{"Location": {test.location}}}, lenient)
		if test.want == "" {
			if got.Action != Return || got.URL != nil {
				t.Errorf("Location %q: followed to %v", test.location, got.URL)
			}
			continue
		}
		if got.Action != Redirect {
			t.Errorf("Location %q: not followed: %s", test.location, got.Reason)
			continue
		}
		if got.URL.String() != test.want {
			t.Errorf("Location %q: goes to %q, want %q", test.location, got.URL, test.want)
		}
		if got.KeepHost != test.keepHost || slices.Contains(got.Strip, "Host") == test.keepHost {
			t.Errorf("Location %q: KeepHost %t, want %t", test.location, got.KeepHost, test.keepHost)
		}
		if req.URL.String() != from {
			t.Fatalf("Location %q: the request's URL was changed to %v", test.location, req.URL)
		}
	}
}

func TestRedirectWithoutOneLocation(t *testing.T) {
	req := Request{Method: "GET", URL: mustURL(t, "http://h/")}
	for _, h := range []http.Header{
		nil,
		{"Location": nil},
		{"Location": {"/a", "/b"}},
	} {
		if got := AfterResponse(req, Response{Status: 301, Header: h}, lenient); got.Action != Return {
			t.Errorf("headers %v: %v", h, got.Action)
		}
	}
	got := AfterResponse(req, Response{Status: 301, Header: http.Header{"Location": {"/a", "/a"}}}, lenient)
	if got.Action != Redirect {
		t.Errorf("the same Location twice: %v (%s)", got.Action, got.Reason)
	}
}

func TestRedirectCredentials(t *testing.T) {
	tests := []struct {
		from, to    string
		crossOrigin bool
	}{
		{"http://h/a", "/b", false},
		{"http://h/a", "http://h/b", false},
		{"http://h/a", "http://H:80/b", false},
		{"HTTP://h/a", "http://h/b", false},
		{"https://h/a", "https://h:443/b", false},
		{"https://h:8443/a", "https://h:8443/b", false},
		{"http://[::1]/a", "http://[::1]:80/b", false},
		{"http://h/a", "//h/b", false},

		{"http://h/a", "https://h/b", true},           // scheme, and so the port
		{"https://h/a", "http://h/b", true},           // downgrade
		{"http://h:8443/a", "https://h:8443/b", true}, // scheme alone
		{"http://h/a", "http://h:8080/b", true},       // port
		{"http://h/a", "http://h:443/b", true},
		{"http://h/a", "http://i/b", true},     // host
		{"http://h/a", "http://sub.h/b", true}, // a subdomain is another host
		{"http://sub.h/a", "http://h/b", true},
		{"http://h/a", "//i/b", true},
	}
	policy := lenient
	policy.SensitiveHeaders = []string{"x-api-key", "Cookie"}
	for _, test := range tests {
		for _, status := range []int{300, 301, 302, 303, 307, 308} {
			req := Request{Method: "POST", URL: mustURL(t, test.from), HasBody: true, BodyRead: true, BodyReplayable: true}
			got := AfterResponse(req, Response{Status: status, Header: http.Header{"Location": {test.to}}}, policy)
			if got.Action != Redirect {
				t.Fatalf("%s to %s: %s", test.from, test.to, got.Reason)
			}
			if got.CrossOrigin != test.crossOrigin {
				t.Errorf("%s to %s: CrossOrigin %t", test.from, test.to, got.CrossOrigin)
			}
			for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key"} {
				if slices.Contains(got.Strip, name) != test.crossOrigin {
					t.Errorf("%d from %s to %s: strips %q", status, test.from, test.to, got.Strip)
				}
			}
			if slices.Contains(got.Strip, "Accept") {
				t.Errorf("strips an ordinary header: %q", got.Strip)
			}
			if !slices.IsSorted(got.Strip) || len(slices.Compact(slices.Clone(got.Strip))) != len(got.Strip) {
				t.Errorf("Strip is not a sorted set: %q", got.Strip)
			}
			for _, name := range got.Strip {
				if name != http.CanonicalHeaderKey(name) {
					t.Errorf("%q is not canonical", name)
				}
			}
		}
	}
}

func TestRedirectPolicy(t *testing.T) {
	without := func(change func(*Policy)) Policy {
		p := lenient
		change(&p)
		return p
	}
	tests := []struct {
		name     string
		from, to string
		status   int
		policy   Policy
		want     Action
	}{
		{"redirects off", "http://h/", "/x", 302, without(func(p *Policy) { p.FollowRedirects = false }), Return},
		{"http to https off", "http://h/", "https://h/", 302, without(func(p *Policy) { p.FollowTLSRedirects = false }), Return},
		{"https to http off", "https://h/", "http://h/", 302, without(func(p *Policy) { p.FollowTLSRedirects = false }), Return},
		{"no scheme change", "https://h/", "https://i/", 302, without(func(p *Policy) { p.FollowTLSRedirects = false }), Redirect},
		{"https to http as a downgrade", "https://h/", "http://h/", 302, without(func(p *Policy) { p.FollowDowngrades = false }), Return},
		{"http to https is no downgrade", "http://h/", "https://h/", 302, without(func(p *Policy) { p.FollowDowngrades = false }), Redirect},
		{"body to another origin", "https://h/", "https://i/", 307, without(func(p *Policy) { p.CrossOriginBodies = false }), Return},
		{"body to the same origin", "https://h/", "https://h/x", 307, without(func(p *Policy) { p.CrossOriginBodies = false }), Redirect},
		{"no body to another origin", "https://h/", "https://i/", 303, without(func(p *Policy) { p.CrossOriginBodies = false }), Redirect},
		{"all", "https://h/", "http://i/", 308, lenient, Redirect},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := Request{Method: "POST", URL: mustURL(t, test.from), HasBody: true, BodyReplayable: true}
			got := AfterResponse(req, Response{Status: test.status, Header: http.Header{"Location": {test.to}}}, test.policy)
			if got.Action != test.want {
				t.Errorf("got %v (%s), want %v", got.Action, got.Reason, test.want)
			}
		})
	}
}

// FuzzRedirect checks what must hold of any Location that is followed.
func FuzzRedirect(f *testing.F) {
	for _, seed := range []string{"/x", "//h", "http://h:1/?a b", "https://u:p@h/#f", "\x00", "http:x", "?\xff", `\\h`, "http://[::1%25eth0]/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, location string) {
		req := Request{Method: "GET", URL: mustURL(t, "https://example.com/a?b#c")}
		got := AfterResponse(req, Response{Status: 302, Header: http.Header{"Location": {location}}}, lenient)
		if got.Action != Redirect {
			return
		}
		if got.URL.Scheme != "http" && got.URL.Scheme != "https" || got.URL.Hostname() == "" {
			t.Fatalf("%q goes to %q", location, got.URL)
		}
		if uri := got.URL.RequestURI(); strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%q gives the request target %q", location, uri)
		}
		if !got.CrossOrigin && (got.URL.Scheme != "https" || !strings.EqualFold(got.URL.Hostname(), "example.com")) {
			t.Fatalf("%q counts as the same origin: %q", location, got.URL)
		}
		if got.CrossOrigin && !slices.Contains(got.Strip, "Authorization") {
			t.Fatalf("%q carries credentials to %q", location, got.URL)
		}
	})
}
