package httpsem

import (
	"net/http"
	"testing"
)

func TestToken(t *testing.T) {
	for s, want := range map[string]bool{
		"GET": true, "x-1_2.3~!#$%&'*+^`|": true,
		"": false, "a b": false, "a:": false, "a\r": false, "a\x00": false, "\x7f": false, "ä": false, "(": false, "a,b": false,
	} {
		if IsToken(s) != want || IsToken([]byte(s)) != want {
			t.Errorf("%q: not %v", s, want)
		}
	}
}

func TestValue(t *testing.T) {
	for s, want := range map[string]bool{
		"": true, "a b\tc": true, "ä\xff": true, ":": true,
		"\r": false, "a\nb": false, "\x00": false, "\x1f": false, "\x7f": false,
	} {
		if IsValue(s) != want {
			t.Errorf("%q: not %v", s, want)
		}
	}
}

func TestCanonicalize(t *testing.T) {
	for _, s := range []string{"content-type", "CONTENT-TYPE", "eTAG", "x--y", "-a", "a-", "dnt", "a_B-c", "with space", "uml\xe4ut", "br[a]cket", "1a-2B", ""} {
		b := []byte(s)
		Canonicalize(b)
		if want := http.CanonicalHeaderKey(s); string(b) != want {
			t.Errorf("%q: got %q, want %q", s, b, want)
		}
	}
}

func TestEqualFold(t *testing.T) {
	if !EqualFold("Keep-Alive", "kEEP-aLIVE") || EqualFold("Keep", "\u212Aeep") || EqualFold("a", "ab") || EqualFold("@", "`") {
		t.Error("wrong")
	}
}

func TestHasToken(t *testing.T) {
	for _, tt := range []struct {
		values []string
		want   bool
	}{
		{nil, false},
		{[]string{"close"}, true},
		{[]string{"a, \tCLOSE ,b"}, true},
		{[]string{"a", "close"}, true},
		{[]string{"closed", "a close", "\"close\""}, false},
	} {
		if HasToken(tt.values, "close") != tt.want {
			t.Errorf("%q: not %v", tt.values, tt.want)
		}
	}
}

func TestParseContentLength(t *testing.T) {
	for _, tt := range []struct {
		values []string
		n      int64
		ok     bool
	}{
		{[]string{"0"}, 0, true},
		{[]string{" 42\t"}, 42, true},
		{[]string{"9223372036854775807"}, 1<<63 - 1, true},
		{[]string{"5", "5"}, 5, true},
		{[]string{"5, 05"}, 5, true},
		{nil, 0, false},
		{[]string{""}, 0, false},
		{[]string{"5", ""}, 0, false},
		{[]string{"5", "6"}, 0, false},
		{[]string{"0", "6"}, 0, false},
		{[]string{"5,"}, 0, false},
		{[]string{"-5"}, 0, false},
		{[]string{"+5"}, 0, false},
		{[]string{"5 5"}, 0, false},
		{[]string{"0x5"}, 0, false},
		{[]string{"5.0"}, 0, false},
		{[]string{"9223372036854775808"}, 0, false},
		{[]string{"99999999999999999999999"}, 0, false},
	} {
		if n, ok := ParseContentLength(tt.values); ok != tt.ok || ok && n != tt.n {
			t.Errorf("%q: got %d, %v", tt.values, n, ok)
		}
	}
}
