package connect

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// addrs parses addresses that are separated by spaces.
func addrs(list string) []netip.Addr {
	var parsed []netip.Addr
	for _, a := range strings.Fields(list) {
		parsed = append(parsed, netip.MustParseAddr(a))
	}
	return parsed
}

func TestInterleave(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"one", "192.0.2.1", "192.0.2.1"},
		{"one family stays", "192.0.2.3 192.0.2.1 192.0.2.2", "192.0.2.3 192.0.2.1 192.0.2.2"},
		{"the other family stays", "2001:db8::3 2001:db8::1", "2001:db8::3 2001:db8::1"},
		{"families take turns", "2001:db8::1 2001:db8::2 192.0.2.1 192.0.2.2", "2001:db8::1 192.0.2.1 2001:db8::2 192.0.2.2"},
		{"IPv6 goes first", "192.0.2.1 2001:db8::1", "2001:db8::1 192.0.2.1"},
		{"order inside a family stays", "192.0.2.9 192.0.2.1 2001:db8::9 192.0.2.5 2001:db8::1", "2001:db8::9 192.0.2.9 2001:db8::1 192.0.2.1 192.0.2.5"},
		{"a longer IPv6 tail", "2001:db8::1 2001:db8::2 2001:db8::3 192.0.2.1", "2001:db8::1 192.0.2.1 2001:db8::2 2001:db8::3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := interleave(addrs(test.in)); !slices.Equal(got, addrs(test.want)) {
				t.Errorf("interleave(%s) = %v, want %s", test.in, got, test.want)
			}
		})
	}
}
