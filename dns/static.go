package dns

import (
	"context"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Static returns a resolver that knows the given hosts, by lower-case name, and
// no others: for tests, and for hosts whose addresses must not depend on a
// network. It keeps a copy of the map. Other hosts are not found, with a
// [*net.DNSError] as from the system.
func Static(hosts map[string][]netip.Addr) Resolver {
	s := &static{hosts: maps.Clone(hosts)}
	for host, addrs := range s.hosts {
		s.hosts[host] = slices.Clone(addrs)
	}
	return s
}

type static struct{ hosts map[string][]netip.Addr }

func (s *static) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	addrs, known := s.hosts[strings.ToLower(strings.TrimSuffix(host, "."))]
	if !known {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return slices.Clone(addrs), nil // the caller may reorder its own
}
