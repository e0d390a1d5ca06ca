package http1

import (
	"bytes"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// statusLine is the first line of a response, taken apart.
type statusLine struct {
	minor  int // of the version: 0 or 1
	code   int
	status int // where code and reason begin
}

// versions are the words that a status line may begin with. Beside HTTP itself
// these are the two that streaming servers of old send in its place.
var versions = []struct {
	prefix []byte
	minor  int
}{
	{[]byte("HTTP/1.1 "), 1},
	{[]byte("HTTP/1.0 "), 0},
	{[]byte("ICY "), 0},
	{[]byte("SOURCETABLE "), 1},
}

// parseStatusLine reads a status line without its end. The reason, and the
// space before it, may be missing.
func parseStatusLine(line []byte) (statusLine, error) {
	for _, v := range versions {
		if !bytes.HasPrefix(line, v.prefix) {
			continue
		}
		rest := line[len(v.prefix):]
		if len(rest) < 3 || len(rest) > 3 && rest[3] != ' ' {
			break
		}
		code := 0
		for _, b := range rest[:3] {
			if b < '0' || b > '9' {
				return statusLine{}, errStatusLine()
			}
			code = code*10 + int(b-'0')
		}
		if code < 100 || !httpsem.IsValue(rest) {
			break
		}
		return statusLine{minor: v.minor, code: code, status: len(v.prefix)}, nil
	}
	return statusLine{}, errStatusLine()
}

func errStatusLine() error {
	return &httpsem.ProtocolError{Reason: "malformed status line"}
}
