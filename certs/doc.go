// Package certs makes certificates for tests and development: a private key
// with its certificate, signed by itself or by another one, in one expression.
//
//	ca := certs.New(certs.WithCA(0))
//	leaf := certs.New(certs.WithIssuer(ca), certs.WithNames("localhost", "127.0.0.1"))
//
//	server := leaf.ServerConfig()
//	client := certs.ClientConfig(ca)
//
// Nothing is trusted but what is named: no certificate of the platform is.
package certs
