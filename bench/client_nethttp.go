package main

import "net/http"

// newNetHTTP returns net/http with its own Transport: through http.Client, or
// with RoundTrip alone and a request made beforehand.
func newNetHTTP(name string, env environment) (client, error) {
	config, err := env.tlsConfig()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig: config,
		// The default of two would make it dial for nearly every call.
		MaxIdleConnsPerHost: 1 << 16,
		DialContext:         env.dialer(),
	}
	if env.x.listener.http2() {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP2(env.x.listener.secure())
		transport.Protocols.SetUnencryptedHTTP2(!env.x.listener.secure())
	}
	c := &httpClient{env: env, done: transport.CloseIdleConnections}
	if name == netHTTPRT {
		c.send, c.once = transport.RoundTrip, true
	} else {
		c.send = (&http.Client{Transport: transport}).Do
	}
	return c, nil
}
