// Package okhttp is an HTTP client: OkHttp's design, native to Go.
//
// A [Client] is an [http.RoundTripper], so one line changes an existing program:
//
//	client := http.Client{Transport: okhttp.New()}
//
// Connections that the server has closed are noticed before they are used,
// every address of a host is tried, failed exchanges are repeated where that is
// provably safe, and each step is reported as an event. [Client.Do] is the
// whole client: it also follows redirects, answers authentication challenges
// and keeps cookies.
//
// # The way of a call
//
// A call is a chain of interceptors:
//
//	application interceptors        WithInterceptor: see one request and one response
//	retry and follow-up             repeats after failures, redirects, challenges
//	bridge                          default headers, cookies, gzip
//	connect                         a connection, pooled or new
//	network interceptors            WithNetworkInterceptor: see what is on the wire
//	exchange                        sends the request, receives the response
//
// # Errors
//
// Every error of a call is an [*Error] that names the phase, the host and, once
// there is one, the address. [errors.As] finds [*TimeoutError],
// [*ProtocolError], [*BodyError], [*RequestError] and [*InterceptorError] in
// it; [SafeToRetry] says whether the server can have seen the request.
//
// # Timeouts
//
// Opening a connection, each wait for bytes of the response and each write are
// limited to 10 seconds, unlike in net/http: see [WithConnectTimeout],
// [WithReadTimeout] and [WithWriteTimeout]. A whole call has no limit but its
// context, unless [WithCallTimeout] sets one.
//
// # Events
//
// [EventListener] has one method, and each step of a call is an [Event] of a type
// of its own. Package logging shows them; docs/events.md lists them. Package
// mockwebserver is a server for tests of programs that use this one.
//
// # Concurrency
//
// A Client is immutable and safe for concurrent use; so are the values that it
// hands out, unless their comment says otherwise. Work is done on the caller's
// goroutine. [Client.Close] ends everything that the client started.
package okhttp

// Version is the version of this module, as sent in the default User-Agent.
const Version = "0.1.0"
