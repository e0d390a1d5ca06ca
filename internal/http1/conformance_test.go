package http1

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// The fixtures of llhttp, the parser of Node: response bytes and what it makes
// of them. Each agrees with this package or is listed below with the rule that
// decides. Read from ../shared, see shared/conformance/README.md.

const llhttpDir = "../../../shared/conformance/llhttp/response"

// exceptions are the fixtures that llhttp sees otherwise, by title, each with
// the rule of spec/core.md (or the RFC) that decides. One that starts to agree
// fails the test: then it must go from here.
var exceptions = map[string]string{
	"Only LFs present and no body":             "8.3: lines end with LF or CRLF",
	"Only LFs present":                         "8.3: lines end with LF or CRLF",
	"No carriage ret":                          "8.3: lines end with LF or CRLF",
	"Spaces in header name":                    "5.3: spaces within names are accepted",
	"RTSP response":                            "8.3: only HTTP/1.x, ICY and SOURCETABLE",
	"ICE response":                             "8.3: only HTTP/1.x, ICY and SOURCETABLE",
	"HTTP version 0.9":                         "8.3: only HTTP/1.x, ICY and SOURCETABLE",
	"HTTP 100 first, then 400":                 "8.3: nothing may come before the status line, not even after a 100",
	"Response starting with CRLF":              "8.3: nothing may come before the status line",
	"No extension after semicolon":             "8.6: extensions start with ';' and are not looked into",
	"Trailing space on chunked body":           "8.6: whitespace after the size is trimmed",
	"Unbalanced chunk extensions quoting":      "8.6: extensions start with ';' and are not looked into",
	"`chunked` before other transfer-encoding": "RFC 9112, 6.1: an unknown coding; reading on until close would guess",
	"multiple transfer-encoding where chunked is not the last one":         "RFC 9112, 6.1: an unknown coding; reading on until close would guess",
	"`chunkedchunked` transfer-encoding does not enable chunked enconding": "RFC 9112, 6.1: an unknown coding; reading on until close would guess",
}

// fixture is one block of HTTP with llhttp's log.
type fixture struct {
	title, meta string
	raw         string
	log         string
}

var fixtureParts = regexp.MustCompile("(?m)^#+ ([^\n]*)$|^<!-- meta=([^\n]*?) -->$|(?s:^```http\n(.*?)^```$)|(?s:^```log\n(.*?)^```$)")

func readFixtures(t *testing.T, file string) (list []fixture) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f fixture
	for _, m := range fixtureParts.FindAllSubmatchIndex(text, -1) {
		part := func(i int) (string, bool) {
			if m[2*i] < 0 {
				return "", false
			}
			return string(text[m[2*i]:m[2*i+1]]), true
		}
		if s, ok := part(1); ok {
			f.title = s
		} else if s, ok := part(2); ok {
			f.meta = s
		} else if s, ok := part(3); ok {
			f.raw = fixtureBytes(s)
		} else if s, ok := part(4); ok {
			f.log = s
			list = append(list, f)
		}
	}
	return list
}

// fixtureBytes gives a block the bytes it stands for: a line end is CRLF unless
// a backslash comes before it, and \r, \n and \t are escapes.
func fixtureBytes(s string) string {
	s = strings.TrimSuffix(s, "\n")
	s = strings.ReplaceAll(s, "\\\n", "")
	s = strings.ReplaceAll(s, "\n", "\r\n")
	return strings.NewReplacer(`\r`, "\r", `\n`, "\n", `\t`, "\t").Replace(s)
}

var (
	logStatus = regexp.MustCompile(`headers complete status=(\d+) v=1/(\d)`)
	logBody   = regexp.MustCompile(`(?m)^off=(\d+) len=(\d+) span\[body\]`)
	logError  = regexp.MustCompile(`(?m)^off=(\d+) error code=\d+ reason="(.*)"`)
)

// outcome is how far an exchange comes: the first final response.
type outcome struct {
	code     string
	minor    string
	body     string
	rejected bool // head or body
}

// theirs reads from the log what llhttp made of the first final response.
func (f *fixture) theirs() (o outcome) {
	// The messages of the log; a final one ends what we look at.
	for _, message := range strings.Split(f.log, "message begin\n")[1:] {
		o = outcome{}
		if m := logStatus.FindStringSubmatch(message); m != nil {
			o.code, o.minor = m[1], m[2]
		}
		for _, m := range logBody.FindAllStringSubmatch(message, -1) {
			off, n := atoi(m[1]), atoi(m[2])
			o.body += f.raw[off : off+n]
		}
		done := strings.Contains(message, "message complete")
		if logError.MatchString(message) && !done {
			o.rejected = true // after the end it is about what follows, or a pause
		}
		if !done || o.code != "100" && o.code != "103" {
			break
		}
	}
	return o
}

func atoi(s string) (n int) {
	for _, d := range s {
		n = n*10 + int(d-'0')
	}
	return n
}

func (f *fixture) ours(t *testing.T, reads []string) (o outcome, reusable bool) {
	method := "GET"
	if strings.Contains(f.meta, "skipBody") {
		method = "HEAD"
	}
	c, _ := script(reads...)
	a := exchange(c, request(t, method, "http://a", nil), httpsem.ExchangeOptions{})
	if a.headErr && errors.Is(a.err, io.ErrUnexpectedEOF) {
		// Cut within a line: llhttp judges by the byte, we by the line.
		c, _ = script(f.raw + "\r\n\r\n")
		a = exchange(c, request(t, method, "http://a", nil), httpsem.ExchangeOptions{})
	}
	// A fixture may just stop; that is no verdict on what came before.
	var pe *httpsem.ProtocolError
	if errors.As(a.err, &pe) && !strings.Contains(pe.Reason, "end of stream") {
		o.rejected = true
	}
	if !a.headErr {
		o.code, o.minor, o.body = a.resp.Status[:3], string('0'+rune(a.resp.ProtoMinor)), a.body
	}
	return o, a.reusable
}

func TestLLHTTPResponses(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(llhttpDir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		if os.Getenv("OKHTTP_REQUIRE_SHARED") == "1" {
			t.Fatalf("no fixtures in %s", llhttpDir)
		}
		t.Skipf("no fixtures in %s: they are not part of this repository", llhttpDir)
	}
	seen := map[string]bool{}
	count := 0
	for _, file := range files {
		for _, f := range readFixtures(t, file) {
			if strings.Contains(f.meta, "lenient") {
				// Modes that must be asked for, which we do not have: the strict twin
				// beside each, where there is one, says what holds.
				continue
			}
			count++
			seen[f.title] = true
			theirs := f.theirs()
			for _, reads := range [][]string{{f.raw}, bytewise(f.raw)} {
				ours, _ := f.ours(t, reads)
				agrees := ours == theirs || ours.rejected && theirs.rejected
				rule, listed := exceptions[f.title]
				switch {
				case agrees && listed:
					t.Errorf("%s: agrees now; take it off the list (%s)", f.title, rule)
				case !agrees && !listed:
					t.Errorf("%s: ours %+v, theirs %+v", f.title, ours, theirs)
				}
			}
		}
	}
	for title := range exceptions {
		if !seen[title] {
			t.Errorf("%s: listed, but there is no such fixture", title)
		}
	}
	if count < 60 {
		t.Errorf("only %d fixtures were found", count)
	}
}

// What llhttp refuses after a response, or reads as the next one, must never
// answer the next request.
func TestLLHTTPLeftovers(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(llhttpDir, "*.md"))
	for _, file := range files {
		for _, f := range readFixtures(t, file) {
			if o, reusable := f.ours(t, []string{f.raw}); reusable {
				rest := f.raw[bytes.LastIndex([]byte(f.raw), []byte(o.body))+len(o.body):]
				if strings.Contains(rest, "HTTP/1.") && o.body != "" {
					t.Errorf("%s: reusable with %q left", f.title, rest)
				}
			}
		}
	}
}
