package dns_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/okhttp-go/okhttp/dns"
)

func TestStatic(t *testing.T) {
	known := map[string][]netip.Addr{
		"a.test":     {netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")},
		"empty.test": {},
	}
	want := slices.Clone(known["a.test"])
	r := dns.Static(known)
	known["a.test"][0] = netip.Addr{}
	for _, name := range []string{"a.test", "A.test", "a.test."} {
		got, err := r.Lookup(t.Context(), name)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
		got[0] = netip.Addr{} // the answer is the caller's own
	}
	if got, err := r.Lookup(t.Context(), "empty.test"); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
	_, err := r.Lookup(t.Context(), "b.test")
	var notFound *net.DNSError
	if !errors.As(err, &notFound) || !notFound.IsNotFound || notFound.Name != "b.test" {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Lookup(ctx, "a.test"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
