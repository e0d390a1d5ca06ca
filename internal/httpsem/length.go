package httpsem

import (
	"math"
	"strings"
)

// ParseContentLength reads the values of all Content-Length fields of one
// message. Equal ones, on several lines or joined with commas, count as one
// (RFC 9110, 8.6). Anything else that is not one plain decimal number is
// refused, and never guessed at: two readers who disagree about a length are an
// opening for smuggling. There must be at least one value.
func ParseContentLength(values []string) (n int64, ok bool) {
	n = -1
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			m, ok := parseDecimal(TrimSpace(part))
			if !ok || n >= 0 && m != n {
				return 0, false
			}
			n = m
		}
	}
	return n, n >= 0
}

func parseDecimal(s string) (int64, bool) {
	if s == "" {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		d := s[i] - '0'
		if d > 9 || n > (math.MaxInt64-int64(d))/10 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	return n, true
}
