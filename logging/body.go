package logging

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece is the beginning of a body.
type piece struct {
	bytes []byte
	total int64 // of the body, -1 where it is not known
	whole bool  // bytes are all of it
}

// show gives the text of a body, "" where it is none, and a note of what it is.
func (p piece) show(h http.Header, limit int64) (text, note string) {
	switch coding := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding"))); coding {
	case "", "identity":
	case "gzip", "x-gzip":
		return p.showGzip(h, limit)
	default:
		return "", fmt.Sprintf("encoded %s body omitted", size(p.total))
	}
	text, ok := decode(p.bytes, h, p.whole)
	if !ok {
		return "", fmt.Sprintf("binary %s body omitted", size(p.total))
	}
	return text, p.note(size(p.total)+" body", len(p.bytes))
}

func (p piece) note(note string, shown int) string {
	if p.whole {
		return note
	}
	return fmt.Sprintf("%s, of which %d bytes are shown", note, shown)
}

// showGzip shows as much of a compressed body as its beginning gives.
func (p piece) showGzip(h http.Header, limit int64) (text, note string) {
	plain, ended, err := unzip(p.bytes, limit)
	if err != nil {
		return "", fmt.Sprintf("invalid %s body omitted", strings.Replace(size(p.total), "byte", "gzipped-byte", 1))
	}
	gzipped := strings.Replace(size(p.total), "byte", "gzipped-byte", 1)
	text, ok := decode(plain, h, ended)
	switch {
	case !ok:
		return "", fmt.Sprintf("binary %s body omitted", gzipped)
	case ended && p.whole:
		return text, fmt.Sprintf("%d-byte, %s body", len(plain), gzipped)
	default:
		return text, fmt.Sprintf("%s body, of which %d bytes are shown", gzipped, len(plain))
	}
}

// unzip decompresses up to limit bytes. ended says that these are all.
func unzip(b []byte, limit int64) (plain []byte, ended bool, err error) {
	zr, err := gzip.NewReader(strings.NewReader(string(b)))
	if err != nil {
		return nil, false, err
	}
	plain, err = io.ReadAll(io.LimitReader(zr, limit+1))
	switch {
	case int64(len(plain)) > limit:
		return plain[:limit], false, nil
	case errors.Is(err, io.ErrUnexpectedEOF): // cut by the limit, or by the server
		return plain, false, nil
	}
	return plain, err == nil, err
}

// decode gives bytes as text, or false if they are none: if they are not valid in
// their charset, or hold control characters. A character that was cut in two at
// the end of a beginning is left out. Charsets other than UTF-8, US-ASCII and
// ISO-8859-1 are not known, and their bytes taken for UTF-8.
func decode(b []byte, h http.Header, whole bool) (string, bool) {
	_, params, _ := mime.ParseMediaType(h.Get("Content-Type"))
	text := string(b)
	switch strings.ToLower(params["charset"]) {
	case "iso-8859-1", "latin1":
		letters := make([]rune, len(b))
		for i, c := range b {
			letters[i] = rune(c)
		}
		text = string(letters)
	default:
		if !whole {
			text = withoutCutRune(text)
		}
		if !utf8.ValidString(text) {
			return "", false
		}
	}
	for _, r := range text {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return "", false
		}
	}
	return text, true
}

// withoutCutRune drops an incomplete character at the end.
func withoutCutRune(s string) string {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		tail := s[len(s)-n:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				return s[:len(s)-n]
			}
			return s
		}
	}
	return s
}

// printable is a header value on one line.
func printable(value string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return '�'
		}
		return r
	}, value)
}
