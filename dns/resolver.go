// Package dns turns host names into addresses. Its one interface, [Resolver],
// is what the client asks; [System] is the resolver of the operating system.
package dns

import (
	"context"
	"net"
	"net/netip"
)

// Resolver finds the addresses of a host.
//
// Lookup is called from several goroutines at once. It returns the addresses in
// the resolver's own order of preference (the client interleaves the families,
// RFC 8305 section 4); an empty list without an error means that the host has
// no address. A resolver must return soon after ctx ends.
type Resolver interface {
	Lookup(ctx context.Context, host string) ([]netip.Addr, error)
}

// ResolverFunc makes a Resolver of a function.
type ResolverFunc func(ctx context.Context, host string) ([]netip.Addr, error)

// Lookup calls f.
func (f ResolverFunc) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return f(ctx, host)
}

// System returns the resolver of the operating system, [net.DefaultResolver].
// It keeps no cache of its own. All values that it returns are equal.
func System() Resolver { return system{} }

type system struct{}

func (system) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err // a *net.DNSError, which says what was asked
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
	}
	return addrs, nil
}
