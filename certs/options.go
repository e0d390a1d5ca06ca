package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"math/big"
	"time"
)

// Option changes one thing about the certificate that New makes. The last of
// two that contradict each other wins.
type Option interface{ apply(*settings) }

type settings struct {
	commonName          string
	organizationalUnit  string
	names               []string
	notBefore, notAfter time.Time
	serial              *big.Int
	issuer              *Held
	maxIntermediates    int // -1 for a leaf
	key                 crypto.Signer
	newKey              func() (crypto.Signer, error)
}

type option func(*settings)

func (o option) apply(s *settings) { o(s) }

// WithNames adds the names the certificate is valid for: IP literals become IP
// entries, all else DNS names, which may begin with "*.". Default: none, which
// suits an authority or a client.
func WithNames(names ...string) Option {
	return option(func(s *settings) { s.names = append(s.names, names...) })
}

// WithCommonName sets the subject's common name. Default: 32 random hex digits.
func WithCommonName(name string) Option { return option(func(s *settings) { s.commonName = name }) }

// WithOrganizationalUnit sets the subject's organizational unit. Default: none.
func WithOrganizationalUnit(unit string) Option {
	return option(func(s *settings) { s.organizationalUnit = unit })
}

// WithValidity sets when the certificate begins and ceases to be valid, to the
// second; two times in the past make an expired one. Default: from one hour
// ago to 24 hours ahead.
func WithValidity(from, to time.Time) Option {
	return option(func(s *settings) { s.notBefore, s.notAfter = from, to })
}

// WithLifetime makes the certificate valid from now for d. A negative d makes
// one that expired that long ago.
func WithLifetime(d time.Duration) Option {
	return option(func(s *settings) {
		now := time.Now()
		s.notBefore, s.notAfter = now, now.Add(d)
		if d < 0 {
			s.notBefore = s.notAfter.Add(-time.Hour)
		}
	})
}

// WithSerialNumber sets the serial number. Default: 127 random bits.
func WithSerialNumber(n *big.Int) Option { return option(func(s *settings) { s.serial = n }) }

// WithIssuer has the certificate signed by issuer, which must have been made
// with WithCA. Default, or with nil: signed by itself.
func WithIssuer(issuer *Held) Option { return option(func(s *settings) { s.issuer = issuer }) }

// WithCA makes a certificate authority, below which there may be at most
// maxIntermediates other authorities before a leaf: 0 for one that signs
// leaves only. A negative number undoes it.
func WithCA(maxIntermediates int) Option {
	return option(func(s *settings) { s.maxIntermediates = max(maxIntermediates, -1) })
}

// WithKey uses an existing private key.
func WithKey(key crypto.Signer) Option { return option(func(s *settings) { s.key = key }) }

// WithECDSA makes a new ECDSA key on P-256. This is the default.
func WithECDSA() Option {
	return option(func(s *settings) { s.key, s.newKey = nil, newECDSA })
}

// WithRSA makes a new RSA key of that many bits; 0 means 2048.
func WithRSA(bits int) Option {
	if bits == 0 {
		bits = 2048
	}
	return option(func(s *settings) {
		s.key, s.newKey = nil, func() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, bits) }
	})
}

// WithEd25519 makes a new Ed25519 key.
func WithEd25519() Option {
	return option(func(s *settings) {
		s.key, s.newKey = nil, func() (crypto.Signer, error) {
			_, key, err := ed25519.GenerateKey(rand.Reader)
			return key, err
		}
	})
}

func newECDSA() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }
