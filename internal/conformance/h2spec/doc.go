// Package h2spec runs h2specd, the client half of h2spec, against this client:
// 57 cases of RFC 9113 and RFC 7541.
package h2spec
