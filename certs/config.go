package certs

import (
	"crypto/tls"
	"crypto/x509"
)

// Localhost makes a server certificate for localhost, 127.0.0.1 and ::1 under
// an authority of its own, which Root returns.
func Localhost() *Held {
	ca := New(WithCA(0), WithCommonName("localhost authority"))
	return New(WithIssuer(ca), WithCommonName("localhost"), WithNames("localhost", "127.0.0.1", "::1"))
}

// ServerConfig returns a configuration for a server that shows h. The caller
// may change it.
func (h *Held) ServerConfig() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{h.Certificate}}
}

// ClientConfig returns a configuration for a client that trusts these
// certificates and no others. The caller may change it.
func ClientConfig(trusted ...*Held) *tls.Config {
	return &tls.Config{RootCAs: Pool(trusted...)}
}

// ClientConfigAs is ClientConfig for a client that shows h when a server asks
// for a certificate.
func (h *Held) ClientConfigAs(trusted ...*Held) *tls.Config {
	config := ClientConfig(trusted...)
	config.Certificates = []tls.Certificate{h.Certificate}
	return config
}

// Pool returns a pool of these certificates, for tls.Config.RootCAs or
// ClientCAs.
func Pool(trusted ...*Held) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, h := range trusted {
		pool.AddCert(h.X509)
	}
	return pool
}
