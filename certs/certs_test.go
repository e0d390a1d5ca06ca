package certs_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/okhttp-go/okhttp/certs"
	"github.com/okhttp-go/okhttp/internal/testkit"
)

// handshake returns what each side says of a handshake between them.
func handshake(t *testing.T, client, server *tls.Config) (clientErr, serverErr error) {
	t.Helper()
	a, b := testkit.Pipe()
	done := make(chan error, 1)
	go func() {
		conn := tls.Server(b, server)
		err := conn.Handshake()
		if err == nil { // TLS 1.3 clients are told of a rejected certificate only now
			_, err = conn.Write([]byte("x"))
		}
		b.Close()
		done <- err
	}()
	conn := tls.Client(a, client)
	clientErr = conn.Handshake()
	if clientErr == nil {
		_, clientErr = conn.Read(make([]byte, 1))
	}
	a.Close()
	return clientErr, <-done
}

func TestHandshake(t *testing.T) {
	kinds := map[string]certs.Option{"ecdsa": certs.WithECDSA(), "rsa": certs.WithRSA(0), "ed25519": certs.WithEd25519()}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			root := certs.New(kind, certs.WithCA(1), certs.WithCommonName("root"))
			middle := certs.New(kind, certs.WithCA(0), certs.WithIssuer(root))
			leaf := certs.New(kind, certs.WithIssuer(middle), certs.WithNames("a.test", "*.b.test", "127.0.0.1", "::1"))
			if leaf.Root() != root || len(leaf.Certificate.Certificate) != 2 {
				t.Errorf("root %v, chain of %d", leaf.Root(), len(leaf.Certificate.Certificate))
			}
			for _, host := range []string{"a.test", "x.b.test", "127.0.0.1", "[::1]"} {
				client := certs.ClientConfig(root)
				client.ServerName = host
				if clientErr, serverErr := handshake(t, client, leaf.ServerConfig()); clientErr != nil || serverErr != nil {
					t.Errorf("%s: %v, %v", host, clientErr, serverErr)
				}
			}
			client := certs.ClientConfig(root)
			client.ServerName = "c.test"
			var wrongHost x509.HostnameError
			if err, _ := handshake(t, client, leaf.ServerConfig()); !errors.As(err, &wrongHost) {
				t.Errorf("wrong host: %v", err)
			}
			client = certs.ClientConfig(certs.New(certs.WithCA(0)))
			client.ServerName = "a.test"
			var unknown x509.UnknownAuthorityError
			if err, _ := handshake(t, client, leaf.ServerConfig()); !errors.As(err, &unknown) {
				t.Errorf("another authority: %v", err)
			}
		})
	}
}

func TestClientCertificate(t *testing.T) {
	ca := certs.New(certs.WithCA(0))
	server := certs.New(certs.WithIssuer(ca), certs.WithNames("a.test")).ServerConfig()
	server.ClientAuth, server.ClientCAs = tls.RequireAndVerifyClientCert, certs.Pool(ca)
	for _, tc := range []struct {
		name  string
		held  *certs.Held
		works bool
	}{
		{"good", certs.New(certs.WithIssuer(ca)), true},
		{"another authority's", certs.New(), false},
		{"expired", certs.New(certs.WithIssuer(ca), certs.WithLifetime(-time.Minute)), false},
	} {
		client := tc.held.ClientConfigAs(ca)
		client.ServerName = "a.test"
		if clientErr, serverErr := handshake(t, client, server); (serverErr == nil) != tc.works || (clientErr == nil) != tc.works {
			t.Errorf("%s: %v, %v", tc.name, clientErr, serverErr)
		}
	}
}

func TestValidity(t *testing.T) {
	now := time.Now()
	for _, tc := range []struct {
		name   string
		option certs.Option
		valid  bool
	}{
		{"default", certs.WithNames(), true},
		{"interval", certs.WithValidity(now.Add(-time.Minute), now.Add(time.Minute)), true},
		{"not yet", certs.WithValidity(now.Add(time.Minute), now.Add(time.Hour)), false},
		{"expired", certs.WithValidity(now.Add(-time.Hour), now.Add(-time.Minute)), false},
		{"negative lifetime", certs.WithLifetime(-time.Minute), false},
		{"lifetime", certs.WithLifetime(time.Minute), true},
	} {
		h := certs.New(certs.WithNames("a.test"), tc.option)
		client := certs.ClientConfig(h)
		client.ServerName = "a.test"
		err, _ := handshake(t, client, h.ServerConfig())
		var invalid x509.CertificateInvalidError
		if tc.valid && err != nil || !tc.valid && (!errors.As(err, &invalid) || invalid.Reason != x509.Expired) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := certs.Localhost()
		client := certs.ClientConfig(h.Root())
		client.ServerName = "localhost"
		if err, _ := handshake(t, client, h.ServerConfig()); err != nil {
			t.Error(err)
		}
		time.Sleep(25 * time.Hour)
		if err, _ := handshake(t, client, h.ServerConfig()); err == nil {
			t.Error("still valid after a day")
		}
	})
}

func TestSubject(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h := certs.New(certs.WithKey(key), certs.WithCommonName("name"), certs.WithOrganizationalUnit("unit"), certs.WithSerialNumber(big.NewInt(7)))
	if got := h.X509.Subject.String(); got != "CN=name,OU=unit" || h.X509.SerialNumber.Int64() != 7 || !key.PublicKey.Equal(h.X509.PublicKey) {
		t.Errorf("got %s, %v", got, h.X509.SerialNumber)
	}
	one, two := certs.New(), certs.New()
	if one.X509.SerialNumber.Cmp(two.X509.SerialNumber) == 0 || one.X509.Subject.CommonName == two.X509.Subject.CommonName {
		t.Error("two certificates have the same serial number or name")
	}
}

func TestMakeRefuses(t *testing.T) {
	now := time.Now()
	for want, opts := range map[string][]certs.Option{
		"ends before":                 {certs.WithValidity(now, now.Add(-time.Second))},
		"not a certificate authority": {certs.WithIssuer(certs.New())},
		"no private key":              {certs.WithIssuer(&certs.Held{X509: certs.New(certs.WithCA(0)).X509})},
	} {
		if _, err := certs.Make(opts...); err == nil || !strings.HasPrefix(err.Error(), "certs: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("New did not panic")
		}
	}()
	certs.New(certs.WithIssuer(certs.New()))
}

func TestPEM(t *testing.T) {
	for _, option := range []certs.Option{certs.WithECDSA(), certs.WithRSA(1024), certs.WithEd25519()} {
		h := certs.New(option, certs.WithCA(0))
		text := append([]byte("some text\n"), h.PrivateKeyPEM()...)
		text = append(text, h.CertificatePEM()...)
		back, err := certs.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if !back.X509.Equal(h.X509) || !bytes.Equal(back.PrivateKeyPEM(), h.PrivateKeyPEM()) {
			t.Error("not the same")
		}
		certs.New(certs.WithIssuer(back)) // it can sign
		cert, err := certs.ParseCertificate(h.CertificatePEM())
		if err != nil || !cert.Equal(h.X509) {
			t.Errorf("got %v, %v", cert, err)
		}
		switch h.Certificate.PrivateKey.(type) {
		case *rsa.PrivateKey:
			if !bytes.HasPrefix(h.PrivateKeyPKCS1PEM(), []byte("-----BEGIN RSA PRIVATE KEY-----\n")) {
				t.Errorf("got %s", h.PrivateKeyPKCS1PEM())
			}
		case *ecdsa.PrivateKey, ed25519.PrivateKey:
			func() {
				defer func() {
					if recover() == nil {
						t.Error("PKCS #1 of a key that is not RSA")
					}
				}()
				h.PrivateKeyPKCS1PEM()
			}()
		}
	}
	leaf := certs.New(certs.WithIssuer(certs.New(certs.WithCA(0), certs.WithIssuer(certs.New(certs.WithCA(1))))))
	if n := bytes.Count(leaf.ChainPEM(), []byte("BEGIN CERTIFICATE")); n != 2 {
		t.Errorf("chain of %d", n)
	}
}

func TestParseRefuses(t *testing.T) {
	h, other := certs.New(), certs.New()
	cert, key := string(h.CertificatePEM()), string(h.PrivateKeyPEM())
	for _, tc := range []struct{ text, want string }{
		{"", "no certificate"},
		{cert, "no private key"},
		{key, "no certificate"},
		{cert + cert + key, "more than one certificate"},
		{cert + key + key, "more than one private key"},
		{cert + string(other.PrivateKeyPEM()), "does not belong"},
		{cert + string(certs.New(certs.WithRSA(1024)).PrivateKeyPKCS1PEM()), `unexpected block "RSA PRIVATE KEY"`},
		{"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + key, "certificate: "},
		{"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n" + cert, "private key: "},
	} {
		if _, err := certs.Parse([]byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got %v, want %q", err, tc.want)
		}
	}
	for _, text := range []string{"", key, cert + cert, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		if _, err := certs.ParseCertificate([]byte(text)); err == nil {
			t.Errorf("accepted %.40q", text)
		}
	}
}
