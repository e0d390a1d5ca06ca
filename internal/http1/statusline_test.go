package http1

import (
	"errors"
	"testing"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

func TestStatusLine(t *testing.T) {
	for _, tt := range []struct {
		line   string
		minor  int
		code   int
		status string
	}{
		{"HTTP/1.1 200 OK", 1, 200, "200 OK"},
		{"HTTP/1.0 200 OK", 0, 200, "200 OK"},
		{"HTTP/1.1 200", 1, 200, "200"},
		{"HTTP/1.1 200 ", 1, 200, "200 "},
		{"HTTP/1.1 200  OK", 1, 200, "200  OK"},
		{"HTTP/1.1 200 Temporary Redirect: it's here", 1, 200, "200 Temporary Redirect: it's here"},
		{"HTTP/1.1 500 Ori\xc3\xabntatie\tprobleem", 1, 500, "500 Ori\xc3\xabntatie\tprobleem"},
		{"HTTP/1.1 999 Odd", 1, 999, "999 Odd"},
		{"ICY 200 OK", 0, 200, "200 OK"},
		{"SOURCETABLE 200 OK", 1, 200, "200 OK"},
	} {
		got, err := parseStatusLine([]byte(tt.line))
		if err != nil || got.minor != tt.minor || got.code != tt.code || tt.line[got.status:] != tt.status {
			t.Errorf("%q: got %+v, %v", tt.line, got, err)
		}
	}
	for _, line := range []string{
		"", " ", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 2000 OK", "HTTP/1.1 20 OK",
		"HTTP/1.1  200 OK", " HTTP/1.1 200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 200\tOK", "HTTP/1.1 -20 OK", "HTTP/1.1 +20 OK",
		"HTTP/1.1 2x0 OK", "HTTP/1.1 000 OK", "HTTP/1.1 099 OK", "HTTP/2.0 200 OK", "HTTP/2 200 OK", "HTTP/1.2 200 OK",
		"HTTP/0.9 200 OK", "HTTP/11.1 200 OK", "http/1.1 200 OK", "HTTP/1.1 200 O\rK", "HTTP/1.1 200 O\x00K", "HTTP/1.1 200 O\x7fK",
		"ICY", "ICY  200 OK", "ICE/1.1 200 OK", "RTSP/1.0 200 OK", "SOURCETABLE", "junk",
	} {
		var pe *httpsem.ProtocolError
		if got, err := parseStatusLine([]byte(line)); !errors.As(err, &pe) {
			t.Errorf("%q: got %+v, %v", line, got, err)
		}
	}
}

func FuzzStatusLine(f *testing.F) {
	for _, s := range []string{"HTTP/1.1 200 OK", "HTTP/1.0 301", "ICY 200 OK", "SOURCETABLE 200 OK", "HTTP/1.1 2x0", "HTTP/1.1 200 \x00", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := parseStatusLine(line)
		if err != nil {
			return
		}
		if got.code < 100 || got.code > 999 || got.minor != 0 && got.minor != 1 {
			t.Fatalf("%q: %+v", line, got)
		}
		if status := line[got.status:]; len(status) < 3 || !httpsem.IsValue(status) {
			t.Fatalf("%q: status %q", line, status)
		}
	})
}
