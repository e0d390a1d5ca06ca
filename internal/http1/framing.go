package http1

import (
	"net/http"
	"strings"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// responseState says how far the response has come, and how its body is framed
// (RFC 9112, 6.3).
type responseState uint8

const (
	// beforeHead: no final head was read. Ends with one.
	beforeHead responseState = iota

	// fixedLength: response.left bytes of the body are to come. Ends with the last.
	fixedLength

	// inChunks: the body is chunked; response.chunks knows where in it we are.
	// Ends after the trailers.
	inChunks

	// untilClose: the body ends when the peer closes. Never reusable.
	untilClose

	// complete: there is no body, or it was read to its end.
	complete

	// switched: HTTP is over on this connection (101, or a CONNECT's 2xx after
	// Hijack).
	switched
)

// response is the receiving half's knowledge of the current response.
type response struct {
	state        responseState
	left         int64 // fixedLength: bytes to come
	chunks       chunks
	trailer      http.Header
	err          error  // why the response cannot be read on; sticky
	closes       bool   // the peer will not keep the connection alive
	endedByClose bool   // the body ended because the peer closed
	faulty       string // why the framing is in doubt though the message could be read
}

// fail makes an error of the receiving half stick.
func (c *Conn) fail(err error) error {
	c.response.err = err
	return err
}

// frame decides from a head how its body is framed, and sets the fields of resp
// that depend on it. The header then holds what net/http would leave in it,
// except that Connection stays.
func (c *Conn) frame(method string, resp *http.Response) error {
	r := &c.response
	chunked, err := c.transferCoding(resp)
	if err != nil {
		return err
	}
	declared := int64(-1)
	if lengths, ok := resp.Header["Content-Length"]; ok {
		if declared, ok = httpsem.ParseContentLength(lengths); !ok {
			return &httpsem.ProtocolError{Reason: "unusable Content-Length"}
		}
		if len(lengths) > 1 || strings.IndexByte(lengths[0], ',') >= 0 {
			first, _, _ := strings.Cut(lengths[0], ",")
			lengths[0] = httpsem.TrimSpace(first)
			resp.Header["Content-Length"] = lengths[:1]
		}
	}
	if chunked && declared >= 0 {
		r.faulty = "the response has both Content-Length and Transfer-Encoding"
	}
	resp.Close = closes(resp)
	resp.Trailer = nil

	code := resp.StatusCode
	switch {
	case code < 200 && code != http.StatusSwitchingProtocols:
		return c.frameInterim(resp, chunked || declared > 0)
	case code == http.StatusSwitchingProtocols:
		r.state = switched
		resp.ContentLength = 0
	case method == http.MethodConnect && code < 300:
		// A tunnel: its bytes are no body, whatever the header says (RFC 9110, 9.3.6).
		r.state = untilClose
		resp.ContentLength = -1
	case noBody(method):
		r.state = complete
		resp.ContentLength = declared
	case (code == http.StatusNoContent || code == http.StatusResetContent) && declared > 0 && !chunked:
		return &httpsem.ProtocolError{Reason: "status " + resp.Status[:3] + " with a body"}
	case code == http.StatusNoContent || code == http.StatusNotModified:
		r.state = complete
		resp.ContentLength = 0
		if chunked && code == http.StatusNoContent {
			r.faulty = "status 204 with Transfer-Encoding" // a last chunk may follow
		}
	case chunked:
		r.state = inChunks
		resp.ContentLength = -1
		delete(resp.Header, "Content-Length")
	case declared > 0:
		r.state, r.left = fixedLength, declared
		resp.ContentLength = declared
	case declared == 0:
		r.state = complete
		resp.ContentLength = 0
	default:
		r.state = untilClose
		resp.ContentLength = -1
		resp.Close = true
	}
	r.closes = resp.Close
	if chunked {
		resp.Trailer = httpsem.AnnouncedTrailer(resp.Header)
	}
	return nil
}

// frameInterim counts a 1xx response. What it says about a body is void.
func (c *Conn) frameInterim(resp *http.Response, saysBody bool) error {
	c.interim++
	if c.interim > httpsem.MaxInterim {
		return &httpsem.ProtocolError{Reason: "too many informational responses"}
	}
	if saysBody {
		c.response.faulty = "an informational response announced a body"
	}
	resp.ContentLength = 0
	return nil
}

// transferCoding reports whether the body is chunked, and moves the coding from
// the header to where net/http has it. One coding, chunked, once, is all that
// is understood: anything else is refused, not skipped.
func (c *Conn) transferCoding(resp *http.Response) (chunked bool, err error) {
	resp.TransferEncoding = nil
	codings, ok := resp.Header["Transfer-Encoding"]
	if !ok {
		return false, nil
	}
	delete(resp.Header, "Transfer-Encoding")
	if resp.ProtoMinor == 0 {
		// HTTP/1.0 has no transfer codings (RFC 9112, 6.1). Like net/http we read
		// the body as if the field were not there.
		c.response.faulty = "an HTTP/1.0 response has Transfer-Encoding"
		return false, nil
	}
	if len(codings) != 1 || !httpsem.EqualFold(codings[0], "chunked") {
		return false, &httpsem.ProtocolError{Reason: "unsupported Transfer-Encoding"}
	}
	codings[0] = "chunked"
	resp.TransferEncoding = codings
	return true, nil
}

// closes reports whether the peer will close the connection after the response.
func closes(resp *http.Response) bool {
	options := resp.Header["Connection"]
	if httpsem.HasToken(options, "close") {
		return true
	}
	return resp.ProtoMinor == 0 && !httpsem.HasToken(options, "keep-alive")
}
