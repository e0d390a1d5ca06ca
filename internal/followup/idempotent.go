package followup

import "net/http"

// Idempotent reports whether sending req twice has the effect of sending it
// once: by its method, or because the caller marked it with an Idempotency-Key
// or X-Idempotency-Key header. As in net/http the presence of the key counts,
// even with a nil or empty list of values, which marks the request without
// sending anything.
func Idempotent(req *http.Request) bool {
	if idempotentMethod(req.Method) {
		return true
	}
	if _, ok := req.Header["Idempotency-Key"]; ok {
		return true
	}
	_, ok := req.Header["X-Idempotency-Key"]
	return ok
}

// idempotentMethod knows the methods of RFC 9110 section 9.2.2 and the safe
// ones with a body. Of the other WebDAV methods some are idempotent by their
// registration, but a repetition that finds the work done answers with an
// error, so they need the caller's word.
func idempotentMethod(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace,
		http.MethodPut, http.MethodDelete,
		methodPropfind, methodReport, methodSearch, methodQuery:
		return true
	default:
		return false
	}
}

// Methods that net/http has no names for.
const (
	methodPropfind = "PROPFIND" // RFC 4918 section 9.1
	methodReport   = "REPORT"   // RFC 3253 section 3.6
	methodSearch   = "SEARCH"   // RFC 5323
	methodQuery    = "QUERY"    // safe, with a body: draft-ietf-httpbis-safe-method-w-body
)
