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

func TestResolverFunc(t *testing.T) {
	want := []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	var r dns.Resolver = dns.ResolverFunc(func(_ context.Context, host string) ([]netip.Addr, error) {
		if host != "a.test" {
			t.Errorf("asked for %s", host)
		}
		return want, nil
	})
	if got, err := r.Lookup(t.Context(), "a.test"); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestSystemIsComparable(t *testing.T) {
	if dns.System() != dns.System() {
		t.Error("two clients that use the system's resolver should be seen to use the same")
	}
}

func TestSystemFindsLoopback(t *testing.T) {
	got, err := dns.System().Lookup(t.Context(), "localhost")
	if err != nil {
		t.Skipf("this system does not know localhost: %v", err)
	}
	for _, a := range got {
		if !a.IsLoopback() || a.Is4In6() {
			t.Errorf("localhost has %v", a)
		}
	}
}

func TestSystemMindsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := dns.System().Lookup(ctx, "a.invalid")
	var failure *net.DNSError
	if err == nil || !errors.As(err, &failure) {
		t.Errorf("got %v", err)
	}
}
