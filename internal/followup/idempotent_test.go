package followup

import (
	"net/http"
	"testing"
)

func TestIdempotent(t *testing.T) {
	tests := []struct {
		method string
		header http.Header
		want   bool
	}{
		{"", nil, true},
		{"GET", nil, true},
		{"HEAD", nil, true},
		{"OPTIONS", nil, true},
		{"TRACE", nil, true},
		{"PUT", nil, true},
		{"DELETE", nil, true},
		{"PROPFIND", nil, true},
		{"REPORT", nil, true},
		{"SEARCH", nil, true},
		{"QUERY", nil, true},
		{"POST", nil, false},
		{"PATCH", nil, false},
		{"CONNECT", nil, false},
		{"PROPPATCH", nil, false},
		{"LOCK", nil, false},
		{"MOVE", nil, false},
		{"get", nil, false}, // methods are case-sensitive
		{"POST", http.Header{"Idempotency-Key": {"1"}}, true},
		{"POST", http.Header{"X-Idempotency-Key": {"1"}}, true},
		{"POST", http.Header{"Idempotency-Key": {}}, true},
		{"POST", http.Header{"Idempotency-Key": nil}, true},
		{"POST", http.Header{"X-Idempotency-Key": nil}, true},
		{"POST", http.Header{"Idempotency": {"1"}}, false},
	}
	for _, test := range tests {
		req := &http.Request{Method: test.method, Header: test.header}
		if got := Idempotent(req); got != test.want {
			t.Errorf("Idempotent(%q, %v) = %t, want %t", test.method, test.header, got, test.want)
		}
	}
}
