package main

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A byte takes half a round trip, and its answer the other half.
func TestLinkDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := newLinkConns()
		began := time.Now()
		near.Write([]byte("?"))
		if took := time.Since(began); took != 0 {
			t.Errorf("a write took %v", took)
		}
		buf := make([]byte, 10)
		far.Read(buf)
		if took := time.Since(began); took < linkRoundTrip/2 || took > linkRoundTrip/2+time.Microsecond {
			t.Errorf("arrived after %v", took)
		}
		far.Write([]byte("!"))
		near.Read(buf)
		if took := time.Since(began); took < linkRoundTrip || took > linkRoundTrip+time.Microsecond {
			t.Errorf("answered after %v", took)
		}
	})
}

// Many bytes come at the link's rate, and a writer that is far ahead waits.
func TestLinkRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := newLinkConns()
		const size = 4 * linkRoom
		began := time.Now()
		go func() {
			near.Write(make([]byte, size))
			if time.Since(began) < 2*linkRoundTrip {
				t.Errorf("all was written after %v", time.Since(began))
			}
			near.Close()
		}()
		n, err := io.Copy(io.Discard, far)
		if n != size || err != nil {
			t.Fatalf("received %d bytes, %v", n, err)
		}
		least := time.Duration(size) * time.Second / linkRate
		if took := time.Since(began); took < least || took > least+2*linkRoundTrip {
			t.Errorf("took %v, want a little over %v", took, least)
		}
	})
}

func TestLinkDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, _ := newLinkConns()
		began := time.Now()
		near.SetReadDeadline(began.Add(time.Second))
		_, err := near.Read(make([]byte, 1))
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		// One that is set while somebody waits counts as well.
		near.SetReadDeadline(time.Time{})
		time.AfterFunc(time.Second, func() { near.SetReadDeadline(time.Now()) })
		_, err = near.Read(make([]byte, 1))
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 2*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		near.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := near.Write(make([]byte, 2*linkRoom))
		if !errors.Is(err, os.ErrDeadlineExceeded) || n != linkRoom {
			t.Errorf("%d bytes written: %v", n, err)
		}
	})
}

func TestLinkClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := newLinkConns()
		near.Write([]byte("last words"))
		near.Close()
		if said, err := io.ReadAll(far); string(said) != "last words" || err != nil {
			t.Errorf("read %q, %v", said, err)
		}
		if _, err := far.Write([]byte("late")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write to an end that is closed: %v", err)
		}
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read after Close: %v", err)
		}
	})
}
