package connect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// Phase is the step of opening a connection that failed.
type Phase string

// The steps, in their order.
const (
	PhaseDNS     Phase = "dns"     // the host's addresses were asked for
	PhaseConnect Phase = "connect" // the socket was being connected
	PhaseTLS     Phase = "tls"     // the socket was connected; the handshake was under way
)

// ConnectError says in which step, and on the way to what, a connection could
// not be opened. Nothing of a request has been sent when it is reported.
type ConnectError struct {
	Phase Phase
	Host  string // host:port of the origin; the bare host in PhaseDNS
	Addr  string // ip:port; empty where no address is known
	Err   error
}

func (e *ConnectError) Error() string {
	var b strings.Builder
	switch e.Phase {
	case PhaseDNS:
		b.WriteString("look up ")
	case PhaseConnect:
		b.WriteString("connect to ")
	case PhaseTLS:
		b.WriteString("tls handshake with ")
	}
	b.WriteString(e.Host)
	if at := e.at(); at != "" {
		b.WriteString(" at ")
		b.WriteString(at)
	}
	b.WriteString(": ")
	b.WriteString(plainReason(e.Err))
	return b.String()
}

// at returns what Addr says that Host does not.
func (e *ConnectError) at() string {
	if e.Addr == "" || e.Addr == e.Host {
		return ""
	}
	_, hostPort, err1 := net.SplitHostPort(e.Host)
	ip, port, err2 := net.SplitHostPort(e.Addr)
	if err1 == nil && err2 == nil && hostPort == port {
		return ip
	}
	return e.Addr
}

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// Timeout reports whether the cause is a timeout.
func (e *ConnectError) Timeout() bool { return isTimeout(e.Err) }

// RoutesError says that several routes were tried and all failed. The first
// failure stands for the whole: it is of the route that should have worked.
type RoutesError struct {
	Errs []error // in the order in which they happened; at least two
}

// maxListed bounds how many of the other failures are spelled out.
const maxListed = 3

func (e *RoutesError) Error() string {
	var b strings.Builder
	b.WriteString(e.Errs[0].Error())
	others := e.Errs[1:]
	fmt.Fprintf(&b, " (and %d more: ", len(others))
	for i, err := range others {
		if i == maxListed {
			b.WriteString("; …")
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		if c, ok := err.(*ConnectError); ok && c.at() != "" {
			b.WriteString(c.at() + ": " + plainReason(c.Err))
		} else {
			b.WriteString(err.Error())
		}
	}
	b.WriteString(")")
	return b.String()
}

// Unwrap returns all failures.
func (e *RoutesError) Unwrap() []error { return e.Errs }

// Timeout reports whether the first failure is a timeout.
func (e *RoutesError) Timeout() bool { return isTimeout(e.Errs[0]) }

// joinErrors makes one error of the failures of a race.
func joinErrors(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	return &RoutesError{Errs: errs}
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// plainReason is err's text without the operation and the addresses that the
// standard library puts in front: the caller has named them already.
func plainReason(err error) string {
	switch e := err.(type) {
	case *httpsem.TimeoutError:
		return fmt.Sprintf("timeout after %v", e.After)
	case *net.OpError:
		if e.Op == "dial" {
			return plainReason(e.Err)
		}
		return e.Op + ": " + plainReason(e.Err)
	case *os.SyscallError:
		return e.Err.Error()
	case *net.DNSError:
		if e.Server != "" {
			return e.Err + " (asked " + e.Server + ")"
		}
		return e.Err
	}
	// A resolver may have put its name in front of the standard library's error,
	// which repeats the host.
	var d *net.DNSError
	if errors.As(err, &d) {
		if name, ok := strings.CutSuffix(err.Error(), d.Error()); ok {
			return name + plainReason(d)
		}
	}
	return err.Error()
}

// endOf returns why ctx has ended, or nil while it has not. A context whose
// deadline has passed has ended, even where its timer has not fired yet: the
// poller of a socket sees the deadline on its own.
//
// Both the cause and the context's own error can be found in the result.
func endOf(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
			return context.DeadlineExceeded
		}
		return nil
	}
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(cause, err) {
		if cause != nil {
			return cause
		}
		return err
	}
	return &endError{err: err, cause: cause}
}

// endError is a cause of a context's end that hides that it is one.
type endError struct{ err, cause error }

func (e *endError) Error() string   { return e.cause.Error() }
func (e *endError) Unwrap() []error { return []error{e.cause, e.err} }
func (e *endError) Timeout() bool   { return isTimeout(e.cause) || isTimeout(e.err) }
