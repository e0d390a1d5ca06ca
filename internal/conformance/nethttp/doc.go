// Package nethttp runs net/http's own client tests over this client. They are
// generated from the installed Go's sources, with okhttp in the place of
// http.Transport: see testdata/transport_under_test.go for how its fields become
// options. The tests that cannot pass are listed, each with its reason; a test
// that is not on the list must pass, and one that is must fail.
package nethttp
