package mockwebserver

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/okhttp-go/okhttp/internal/http2/hpack"
)

// h2Header copies a header list that was received.
func h2Header(fields []hpack.Field) Header {
	if len(fields) == 0 {
		return nil
	}
	header := make(Header, len(fields))
	for i, f := range fields {
		header[i] = Field{f.Name, f.Value}
	}
	return header
}

// setHead fills the request with a header list: ":method" and ":path" become
// Method and Target, all others stay in Header.
func (r *RecordedRequest) setHead(fields []hpack.Field) {
	r.Version = "HTTP/2.0"
	for _, f := range h2Header(fields) {
		switch {
		case f.Name == ":method" && r.Method == "":
			r.Method = f.Value
		case f.Name == ":path" && r.Target == "":
			r.Target = f.Value
		default:
			r.Header = append(r.Header, f)
		}
	}
	if r.Method == http.MethodConnect && r.Target == "" {
		r.Target = r.Header.Get(":authority")
	}
}

// mendHTTP2Header takes pseudo-headers out of a header and joins the crumbs of
// its cookies (RFC 9113, 8.2.3).
func mendHTTP2Header(header http.Header) {
	for name := range header {
		if strings.HasPrefix(name, ":") {
			delete(header, name)
		}
	}
	if crumbs := header["Cookie"]; len(crumbs) > 1 {
		header.Set("Cookie", strings.Join(crumbs, "; "))
	}
}

// headFlaw tells what makes a request malformed (RFC 9113, 8.1.1 and 8.3.1); ""
// is nothing. The length is that of the body as declared, -1 if it is not.
func headFlaw(fields []hpack.Field, extendedConnect bool) (length int64, flaw string) {
	seen := make(map[string]string)
	length = -1
	for i, f := range fields {
		switch {
		case !f.IsPseudo():
		case i > 0 && !fields[i-1].IsPseudo():
			return length, f.Name + " comes after other fields"
		case !slices.Contains([]string{":method", ":scheme", ":authority", ":path", ":protocol"}, f.Name):
			return length, "the pseudo-header " + strconv.Quote(f.Name) + " is not one of a request"
		default:
			if _, again := seen[f.Name]; again {
				return length, f.Name + " comes twice"
			}
			seen[f.Name] = f.Value
			continue
		}
		if flaw := fieldFlaw(f); flaw != "" {
			return length, flaw
		}
		if f.Name == "content-length" {
			n, err := strconv.ParseUint(f.Value, 10, 63)
			if err != nil || length >= 0 && length != int64(n) {
				return length, "the content-length is none"
			}
			length = int64(n)
		}
	}
	return length, pseudoFlaw(seen, extendedConnect)
}

func pseudoFlaw(seen map[string]string, extendedConnect bool) string {
	required := []string{":method", ":scheme", ":path"}
	_, protocol := seen[":protocol"]
	switch {
	case protocol && (!extendedConnect || seen[":method"] != http.MethodConnect):
		return ":protocol was not asked for"
	case seen[":method"] == http.MethodConnect && !protocol:
		if seen[":scheme"] != "" || seen[":path"] != "" {
			return "CONNECT has a :scheme or :path"
		}
		required = []string{":authority"}
	}
	for _, name := range required {
		if seen[name] == "" {
			return name + " is missing"
		}
	}
	return ""
}

// fieldFlaw tells what is wrong with a field that is no pseudo-header (RFC 9113,
// 8.2).
func fieldFlaw(f hpack.Field) string {
	switch {
	case f.Flaws&hpack.NameCase != 0:
		return "the name " + strconv.Quote(f.Name) + " has capital letters"
	case f.Flaws&hpack.NameBytes != 0:
		return "a field cannot be called " + strconv.Quote(f.Name)
	case f.Flaws&hpack.ValueBytes != 0:
		return "the value of " + f.Name + " has control characters"
	case isConnectionHeader(f.Name):
		return f.Name + " is for HTTP/1 only"
	case f.Name == "te" && !strings.EqualFold(f.Value, "trailers"):
		return "te is not \"trailers\""
	}
	return ""
}

func trailerFlaw(fields []hpack.Field) string {
	for _, f := range fields {
		if f.IsPseudo() {
			return f.Name + " is in the trailer"
		}
		if flaw := fieldFlaw(f); flaw != "" {
			return flaw
		}
	}
	return ""
}

// isConnectionHeader reports whether a field is about an HTTP/1 connection, and
// has no place in HTTP/2 (RFC 9113, 8.2.2).
func isConnectionHeader(name string) bool {
	return slices.ContainsFunc(connectionHeaders, func(c string) bool { return strings.EqualFold(c, name) })
}

var connectionHeaders = []string{"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}
