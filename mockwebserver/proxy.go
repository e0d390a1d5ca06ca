package mockwebserver

import (
	"net"
	"net/url"
	"strconv"
)

// ProxyURL returns a new URL of the server as an HTTP proxy, such as
// "http://127.0.0.1:41234", for http.ProxyURL:
//
//	transport := &http.Transport{Proxy: http.ProxyURL(server.ProxyURL())}
//
// A request through a proxy is recorded as it came: with an absolute URL as its
// target, or, for CONNECT, with an authority. Its response is chosen like any
// other; see Tunnel for what CONNECT does, and Forward for a proxy that asks
// other servers.
//
// The scheme is "http" also if the server has TLS, as it then serves proxy
// requests in the clear, too. For a proxy that is spoken to over TLS, change
// it to "https".
func (s *Server) ProxyURL() *url.URL {
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(s.HostName(), strconv.Itoa(s.Port()))}
}
