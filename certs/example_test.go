package certs_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/okhttp-go/okhttp/certs"
)

func Example() {
	ca := certs.New(certs.WithCA(0), certs.WithCommonName("my authority"))
	leaf := certs.New(certs.WithIssuer(ca), certs.WithNames("localhost", "127.0.0.1"))

	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	}))
	server.TLS = leaf.ServerConfig()
	server.StartTLS()
	defer server.Close()

	transport := &http.Transport{TLSClientConfig: certs.ClientConfig(ca)}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status, "from", resp.TLS.PeerCertificates[0].Issuer)
	// Output: 200 OK from CN=my authority
}

func ExampleWithLifetime() {
	expired := certs.New(certs.WithLifetime(-time.Hour))
	fmt.Println(expired.X509.NotAfter.Before(time.Now()))
	// Output: true
}

func ExampleParse() {
	made := certs.New(certs.WithCommonName("saved"))
	saved := append(made.CertificatePEM(), made.PrivateKeyPEM()...)

	again, err := certs.Parse(saved)
	fmt.Println(again.X509.Subject, err)
	// Output: CN=saved <nil>
}
