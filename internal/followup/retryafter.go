package followup

import (
	"math"
	"net/http"
)

// RetryAfter reads the Retry-After header (RFC 9110 section 10.2.3) as seconds
// and reports whether there is one. What is no plain number, a date for one,
// and what is too large counts as math.MaxInt32; of several the longest counts.
func RetryAfter(h http.Header) (seconds int, ok bool) {
	values := h["Retry-After"]
	for _, v := range values {
		seconds = max(seconds, parseSeconds(v))
	}
	return seconds, len(values) > 0
}

func parseSeconds(s string) int {
	if s == "" {
		return math.MaxInt32
	}
	n := int64(0)
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return math.MaxInt32
		}
		n = min(10*n+int64(c-'0'), math.MaxInt32)
	}
	return int(n)
}
