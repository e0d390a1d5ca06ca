package okhttp

import "net/http"

// Authenticator answers challenges.
//
// Authenticate is given the route of the connection (zero if the response did
// not come from one) and the 401 response, whose request it answers. It returns
// the request to make next, usually a clone of resp.Request with an
// Authorization header, or nil to give up; then the caller gets the 401. It is
// asked again if the answer is challenged too, so it should give up when
// resp.Request carries what it would send. It must not touch the response's
// body. An error fails the call.
type Authenticator interface {
	Authenticate(route Route, resp *http.Response) (*http.Request, error)
}

// AuthenticatorFunc makes an Authenticator of a function.
type AuthenticatorFunc func(route Route, resp *http.Response) (*http.Request, error)

// Authenticate calls f.
func (f AuthenticatorFunc) Authenticate(route Route, resp *http.Response) (*http.Request, error) {
	return f(route, resp)
}
