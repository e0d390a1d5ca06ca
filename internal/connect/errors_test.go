package connect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// refused is what net.Dialer reports for a closed port.
func refused(addr string) error {
	to := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(addr))
	return &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

func TestConnectErrorNamesEachFactOnce(t *testing.T) {
	notFound := &net.DNSError{Err: "no such host", Name: "a.test", Server: "192.0.2.53:53", IsNotFound: true}
	for _, test := range []struct {
		err  *ConnectError
		want string
	}{
		{
			&ConnectError{PhaseConnect, "a.test:443", "192.0.2.1:443", refused("192.0.2.1:443")},
			"connect to a.test:443 at 192.0.2.1: connection refused",
		},
		{
			&ConnectError{PhaseConnect, "a.test:443", "[2001:db8::1]:443", refused("[2001:db8::1]:443")},
			"connect to a.test:443 at 2001:db8::1: connection refused",
		},
		{
			&ConnectError{PhaseConnect, "192.0.2.1:80", "192.0.2.1:80", refused("192.0.2.1:80")},
			"connect to 192.0.2.1:80: connection refused",
		},
		{
			&ConnectError{PhaseConnect, "a.test:443", "192.0.2.1:8443", refused("192.0.2.1:8443")},
			"connect to a.test:443 at 192.0.2.1:8443: connection refused",
		},
		{
			&ConnectError{PhaseConnect, "a.test:80", "", errors.New("no such file")},
			"connect to a.test:80: no such file",
		},
		{
			&ConnectError{PhaseTLS, "a.test:443", "192.0.2.1:443", &httpsem.TimeoutError{Op: httpsem.TimeoutTLS, After: 10 * time.Second}},
			"tls handshake with a.test:443 at 192.0.2.1: timeout after 10s",
		},
		{
			&ConnectError{PhaseTLS, "a.test:443", "192.0.2.1:443", &net.OpError{
				Op: "read", Net: "tcp", Addr: &net.TCPAddr{}, Err: os.NewSyscallError("read", syscall.ECONNRESET),
			}},
			"tls handshake with a.test:443 at 192.0.2.1: read: connection reset by peer",
		},
		{
			&ConnectError{PhaseDNS, "a.test", "", notFound},
			"look up a.test: no such host (asked 192.0.2.53:53)",
		},
		{
			&ConnectError{PhaseDNS, "a.test", "", fmt.Errorf("system resolver: %w", notFound)},
			"look up a.test: system resolver: no such host (asked 192.0.2.53:53)",
		},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestRoutesErrorPutsTheFirstFirst(t *testing.T) {
	first := &ConnectError{PhaseConnect, "a.test:443", "192.0.2.1:443", refused("192.0.2.1:443")}
	slow := &ConnectError{
		PhaseConnect, "a.test:443", "192.0.2.2:443",
		&httpsem.TimeoutError{Op: httpsem.TimeoutConnect, After: time.Second},
	}
	err := joinErrors([]error{first, slow})
	want := "connect to a.test:443 at 192.0.2.1: connection refused (and 1 more: 192.0.2.2: timeout after 1s)"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the causes cannot be found")
	}
	if err.(*RoutesError).Timeout() {
		t.Error("the first failure was no timeout")
	}
	if !slow.Timeout() || !joinErrors([]error{slow, first}).(*RoutesError).Timeout() {
		t.Error("the first failure was a timeout")
	}
	many := joinErrors([]error{first, slow, slow, slow, slow, slow})
	want = "connect to a.test:443 at 192.0.2.1: connection refused" +
		" (and 5 more: 192.0.2.2: timeout after 1s; 192.0.2.2: timeout after 1s; 192.0.2.2: timeout after 1s; …)"
	if many.Error() != want {
		t.Errorf("got  %s\nwant %s", many, want)
	}
	if joinErrors([]error{first}) != error(first) {
		t.Error("a single failure needs no list")
	}
}

func TestEndOf(t *testing.T) {
	if err := endOf(t.Context()); err != nil {
		t.Errorf("a living context: %v", err)
	}
	shutdown := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(shutdown)
	if err := endOf(ctx); !errors.Is(err, shutdown) || !errors.Is(err, context.Canceled) || err.Error() != "shutting down" {
		t.Errorf("want the cause and the context's error, got %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := endOf(ctx); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	ctx, stop = context.WithTimeout(t.Context(), -1)
	defer stop()
	if err := endOf(ctx); err != context.DeadlineExceeded || !isTimeout(err) {
		t.Errorf("got %v", err)
	}
}
