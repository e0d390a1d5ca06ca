package certs

import (
	"crypto"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// CertificatePEM returns the certificate as a PEM block.
func (h *Held) CertificatePEM() []byte { return encodePEM("CERTIFICATE", h.X509.Raw) }

// ChainPEM returns what h shows to a peer as PEM blocks: the certificate, then
// the intermediates, without the root.
func (h *Held) ChainPEM() []byte {
	var out []byte
	for _, der := range h.Certificate.Certificate {
		out = append(out, encodePEM("CERTIFICATE", der)...)
	}
	return out
}

// PrivateKeyPEM returns the private key as a PKCS #8 PEM block. It panics if
// the key cannot be exported, as one in hardware cannot.
func (h *Held) PrivateKeyPEM() []byte {
	der, err := x509.MarshalPKCS8PrivateKey(h.Certificate.PrivateKey)
	if err != nil {
		panic(fmt.Errorf("certs: %w", err))
	}
	return encodePEM("PRIVATE KEY", der)
}

// PrivateKeyPKCS1PEM returns an RSA private key as a PKCS #1 PEM block, which
// some old servers want. It panics for another kind of key.
func (h *Held) PrivateKeyPKCS1PEM() []byte {
	key, ok := h.Certificate.PrivateKey.(*rsa.PrivateKey)
	if !ok {
		panic("certs: PKCS #1 holds RSA keys only")
	}
	return encodePEM("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Parse reads one certificate and its private key (PKCS #8) from PEM blocks in
// any order; text around the blocks is ignored. The two must belong together.
func Parse(text []byte) (*Held, error) {
	h, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("certs: %w", err)
	}
	return h, nil
}

func parse(text []byte) (*Held, error) {
	var certDER, keyDER []byte
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		switch block.Type {
		case "CERTIFICATE":
			if certDER != nil {
				return nil, errors.New("more than one certificate")
			}
			certDER = block.Bytes
		case "PRIVATE KEY":
			if keyDER != nil {
				return nil, errors.New("more than one private key")
			}
			keyDER = block.Bytes
		default:
			return nil, fmt.Errorf("unexpected block %q", block.Type)
		}
	}
	switch {
	case certDER == nil:
		return nil, errors.New("no certificate")
	case keyDER == nil:
		return nil, errors.New("no private key")
	}
	cert, err := x509.ParseCertificate(certDER)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(keyDER)
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	key, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("private key of type %T cannot sign", parsed)
	}
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(cert.PublicKey) {
		return nil, errors.New("the private key does not belong to the certificate")
	}
	return &Held{
		Certificate: tls.Certificate{Certificate: [][]byte{certDER}, PrivateKey: key, Leaf: cert},
		X509:        cert,
	}, nil
}

// ParseCertificate reads exactly one certificate from a PEM block.
func ParseCertificate(text []byte) (*x509.Certificate, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("certs: no certificate")
	}
	if next, _ := pem.Decode(rest); next != nil {
		return nil, errors.New("certs: more than one PEM block")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("certs: %w", err)
	}
	return cert, nil
}
