package mockwebserver

import (
	"crypto/tls"
	"slices"

	"github.com/okhttp-go/okhttp/certs"
)

// WithTLS serves HTTPS with a new certificate for localhost, 127.0.0.1, ::1,
// the server's host name, and these names. Server.ClientTLS trusts it.
func WithTLS(names ...string) Option {
	return option(func(s *settings) { s.tls, s.names = true, append(s.names, names...) })
}

// WithCertificate serves HTTPS with that certificate, such as an expired one.
// Server.ClientTLS trusts its root.
func WithCertificate(h *certs.Held) Option {
	return option(func(s *settings) { s.tls, s.held = true, h })
}

// WithTLSConfig serves HTTPS on the basis of that configuration, of which the
// server takes a copy. Certificates, ClientAuth and NextProtos are set by the
// other options where it leaves them empty.
func WithTLSConfig(config *tls.Config) Option {
	return option(func(s *settings) { s.tls, s.tlsConfig = true, config.Clone() })
}

// WithClientAuth asks clients for a certificate, in one of the modes of
// crypto/tls. Verified ones must come from the server's own authority; the
// configuration that Server.ClientTLS returns then holds one. Default:
// tls.NoClientCert.
func WithClientAuth(mode tls.ClientAuthType) Option {
	return option(func(s *settings) { s.clientAuth = mode })
}

// WithProtocols sets what the server negotiates by ALPN, most wanted first;
// none means that it does not negotiate. HTTP/2 is spoken once "h2" was
// negotiated, HTTP/1.1 otherwise. Default: "h2", "http/1.1".
//
// "h2_prior_knowledge", alone, stands for HTTP/2 without negotiation: clients
// must begin with its preface (RFC 9113, section 3.3), in the clear, or over TLS
// if the server has it.
func WithProtocols(protocols ...string) Option {
	return option(func(s *settings) { s.protocols = protocols })
}

// startTLS makes the certificate and the configurations.
func (s *Server) startTLS() {
	if s.held = s.settings.held; s.held == nil {
		ca := certs.New(certs.WithCA(0), certs.WithCommonName("mockwebserver authority"))
		names := append([]string{"localhost", "127.0.0.1", "::1"}, s.settings.names...)
		if !slices.Contains(names, s.hostName()) {
			names = append(names, s.hostName())
		}
		s.held = certs.New(certs.WithIssuer(ca), certs.WithCommonName("mockwebserver"), certs.WithNames(names...))
	}
	config := s.settings.tlsConfig.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if len(config.Certificates) == 0 && config.GetCertificate == nil && config.GetConfigForClient == nil {
		config.Certificates = []tls.Certificate{s.held.Certificate}
	}
	if config.NextProtos == nil && !s.settings.priorKnowledge() {
		config.NextProtos = s.settings.protocols
	}
	if config.ClientAuth == tls.NoClientCert {
		config.ClientAuth = s.settings.clientAuth
	}
	if config.ClientCAs == nil {
		config.ClientCAs = certs.Pool(s.held.Root())
	}
	s.tlsConfig = config
}

// ClientTLS returns a new configuration for clients that trusts the server, and
// nothing else. With WithClientAuth it holds a certificate for the client,
// called "mockwebserver client", if the server's authority is known. It panics
// unless the server serves TLS and was started.
func (s *Server) ClientTLS() *tls.Config {
	s.mustBeStarted()
	if s.held == nil {
		panic("mockwebserver: ClientTLS without TLS; add the option WithTLS")
	}
	config := certs.ClientConfig(s.held.Root())
	if s.tlsConfig.ClientAuth != tls.NoClientCert && s.held.Issuer != nil {
		client := certs.New(certs.WithIssuer(s.held.Issuer), certs.WithCommonName("mockwebserver client"))
		config.Certificates = []tls.Certificate{client.Certificate}
	}
	return config
}

// Certificate returns the certificate that the server shows; nil without TLS.
// It panics before the server was started.
func (s *Server) Certificate() *certs.Held {
	s.mustBeStarted()
	return s.held
}
