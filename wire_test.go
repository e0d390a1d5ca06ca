package okhttp_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// wireReader reads requests from a raw connection.
type wireReader struct{ *bufio.Reader }

func newWireReader(conn net.Conn) wireReader { return wireReader{bufio.NewReader(conn)} }

// request reads one request with its body, and reports whether it was whole.
func (r wireReader) request() bool {
	req, err := http.ReadRequest(r.Reader)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err == nil
}
