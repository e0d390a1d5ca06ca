package certs

import (
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Held is a certificate whose private key we hold. It is not changed once made
// and may be shared among goroutines.
type Held struct {
	// Certificate is the key with the chain to show to a peer: this
	// certificate and the intermediates above it, without the root.
	Certificate tls.Certificate

	// X509 is the certificate itself.
	X509 *x509.Certificate

	// Issuer signed this certificate; nil if it signed itself or if the issuer
	// is not known, as after Parse.
	Issuer *Held
}

// New makes a key and a certificate. Without options: an ECDSA P-256 key, a
// random common name, no other names, valid from one hour ago for 25 hours,
// signed by itself, good for both servers and clients. It panics if the
// options contradict each other; Make returns the error instead.
func New(opts ...Option) *Held {
	h, err := Make(opts...)
	if err != nil {
		panic(err)
	}
	return h
}

// Make is New with an error.
func Make(opts ...Option) (*Held, error) {
	now := time.Now()
	s := settings{notBefore: now.Add(-time.Hour), notAfter: now.Add(24 * time.Hour), newKey: newECDSA, maxIntermediates: -1}
	for _, opt := range opts {
		opt.apply(&s)
	}
	h, err := s.make()
	if err != nil {
		return nil, fmt.Errorf("certs: %w", err)
	}
	return h, nil
}

func (s *settings) make() (*Held, error) {
	if s.notAfter.Before(s.notBefore) {
		return nil, errors.New("validity ends before it begins")
	}
	if s.issuer != nil && !s.issuer.X509.IsCA {
		return nil, errors.New("issuer is not a certificate authority; make it with WithCA")
	}
	key := s.key
	if key == nil {
		var err error
		if key, err = s.newKey(); err != nil {
			return nil, err
		}
	}
	template, err := s.template()
	if err != nil {
		return nil, err
	}
	parent, parentKey := template, key
	if s.issuer != nil {
		signer, ok := s.issuer.Certificate.PrivateKey.(crypto.Signer)
		if !ok {
			return nil, errors.New("issuer has no private key")
		}
		parent, parentKey = s.issuer.X509, signer
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	h := &Held{X509: cert, Issuer: s.issuer}
	h.Certificate = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: cert}
	for up := s.issuer; up != nil && up.Issuer != nil; up = up.Issuer {
		h.Certificate.Certificate = append(h.Certificate.Certificate, up.X509.Raw)
	}
	return h, nil
}

func (s *settings) template() (*x509.Certificate, error) {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	random[0] &= 0x7f // a serial number is positive and fits 20 octets
	serial := s.serial
	if serial == nil {
		serial = new(big.Int).SetBytes(random)
	}
	name := s.commonName
	if name == "" {
		name = hex.EncodeToString(random)
	}
	t := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             s.notBefore,
		NotAfter:              s.notAfter,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
	}
	if s.organizationalUnit != "" {
		t.Subject.OrganizationalUnit = []string{s.organizationalUnit}
	}
	if s.maxIntermediates >= 0 {
		t.IsCA = true
		t.MaxPathLen, t.MaxPathLenZero = s.maxIntermediates, s.maxIntermediates == 0
		t.KeyUsage |= x509.KeyUsageCertSign | x509.KeyUsageCRLSign
		t.ExtKeyUsage = nil
	}
	for _, name := range s.names {
		if ip := net.ParseIP(name); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, name)
		}
	}
	return t, nil
}

// Root returns the certificate at the top of the known chain: what a peer has
// to trust. It is h itself if no issuer is known.
func (h *Held) Root() *Held {
	for h.Issuer != nil {
		h = h.Issuer
	}
	return h
}
