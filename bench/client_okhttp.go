package main

import (
	"net/http"

	"github.com/okhttp-go/okhttp"
)

// newOkHTTP returns this library: under http.Client (also with a listener that
// does nothing), as Client.Do, or with RoundTrip alone and a request made
// beforehand.
func newOkHTTP(name string, env environment) (client, error) {
	config, err := env.tlsConfig()
	if err != nil {
		return nil, err
	}
	var options []okhttp.Option
	if config != nil {
		options = append(options, okhttp.WithTLSConfig(config))
	}
	if env.x.listener.http2() {
		// Each client makes all its calls on one connection.
		options = append(options, okhttp.WithMaxConnectionsPerHost(1))
		if !env.x.listener.secure() {
			options = append(options, okhttp.WithProtocols(okhttp.H2PriorKnowledge))
		}
	}
	if dial := env.dialer(); dial != nil {
		options = append(options, okhttp.WithDialer(dial))
	}
	if env.x.many {
		options = append(options, okhttp.WithMaxIdleConnections(1<<16))
	}
	if name == okhttpListened {
		options = append(options, okhttp.WithEventListener(deaf{}))
	}
	transport := okhttp.New(options...)
	c := &httpClient{env: env, done: func() { transport.Close() }}
	switch name {
	case okhttpDo:
		c.send = transport.Do
	case okhttpRT:
		c.send, c.once = transport.RoundTrip, true
	default:
		c.send = (&http.Client{Transport: transport}).Do
	}
	return c, nil
}

// deaf is a listener that does nothing.
type deaf struct{}

func (deaf) OnEvent(*okhttp.Call, okhttp.Event) {}
