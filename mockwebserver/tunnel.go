package mockwebserver

import (
	"errors"
	"net/http"
	"strings"
)

// Tunnel returns the response to a CONNECT request that opens a tunnel:
// "HTTP/1.1 200 Connection established", and nothing more. Any other response
// with a 2xx status opens one, too, and gets no Content-Length or
// Transfer-Encoding line that was not scripted (RFC 9110, section 9.3.6). A body
// goes out as it is, as the first bytes in the tunnel.
//
// The tunnel leads to the server itself, whatever the target: what the client
// sends in it is served as on a new connection, with TLS if the server has TLS.
//
//	server := mockwebserver.New(t, mockwebserver.WithTLS("origin.test"))
//	server.Enqueue(mockwebserver.Tunnel(), mockwebserver.Text("secret"))
//	transport := &http.Transport{
//		Proxy:           http.ProxyURL(server.ProxyURL()),
//		TLSClientConfig: server.ClientTLS(),
//	}
//
// A server with TLS tells by the client's first bytes: one that begins with
// CONNECT, or with a request for an absolute URL, takes the server for a proxy
// and is served in the clear, until a tunnel is open. Any other client has to
// begin with TLS. As this needs nothing but the requests, every Dispatcher can
// answer 407 first, refuse, and open tunnels.
//
// Effects apply to the exchange of the CONNECT as to any other. Those at
// AtTLSHandshake happen in the tunnel, when the client begins its handshake;
// there a Peeker is asked, too, as on a new connection.
//
// For tunnels to other servers see Forward.
func Tunnel() Response {
	r := Status(http.StatusOK).WithStatusLine("HTTP/1.1 200 Connection established")
	r.noFraming = true
	return r
}

// opensTunnel reports whether the response, if it is sent in full, opens a
// tunnel.
func (x *exchange) opensTunnel() bool {
	code := x.response.statusCode()
	return x.request.Method == http.MethodConnect && len(code) == 3 && code[0] == '2'
}

// unframed returns the response without any framing of its body.
func (r Response) unframed() Response {
	r.noFraming, r.noCoding = true, true
	if r.mode == bodyChunked {
		r.mode = bodyFixed
	}
	return r
}

// layer is what the client of a connection speaks through: the bare connection,
// or the innermost tunnel in it.
type layer struct {
	begun  bool     // the client has sent something, in the clear or over TLS
	tunnel string   // the target of the CONNECT; "" outside of tunnels
	opener Response // what opened the tunnel
	tls    int      // how many layers of TLS there are
}

// maxTLSLayers bounds how often a client can put a tunnel into TLS into a
// tunnel.
const maxTLSLayers = 4

// enterTunnel starts anew within the tunnel that an exchange has opened.
func (c *conn) enterTunnel(x *exchange) {
	c.layer.begun, c.layer.tunnel, c.layer.opener = false, x.request.Target, x.response
	c.report(ConnectionTunneled)
}

// begin waits for the client to begin, and makes TLS of the connection where
// that is due. It reports whether the connection goes on.
func (c *conn) begin() bool {
	if c.layer.begun || !c.server.settings.tls {
		return true
	}
	c.layer.begun = true
	c.requestRead = false
	if c.asksProxy() {
		return true
	}
	if c.layer.tls == maxTLSLayers {
		c.err = errTLSLayers
		c.closeInOrder()
		return false
	}
	c.layer.tls++
	return c.handshake()
}

var errTLSLayers = errors.New("mockwebserver: too many tunnels with TLS within each other")

// maxMethod is how long a method may be for asksProxy to wait for its end.
const maxMethod = 32

// asksProxy waits for the client's first bytes and reports whether they are a
// request as only a proxy gets it: for an authority or an absolute URL.
func (c *conn) asksProxy() bool {
	for n := 1; n <= maxMethod+2; n++ {
		seen, err := c.br.Peek(n)
		switch {
		case err != nil || n == 1 && (seen[0] < 'A' || seen[0] > 'Z'): // a TLS record begins with 22
			return false
		case n > 1 && seen[n-2] == ' ':
			return !strings.ContainsRune("/* ", rune(seen[n-1]))
		}
	}
	return false
}
