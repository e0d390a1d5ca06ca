package connect

import (
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func routeTo(i int) Route {
	addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
	return Route{Scheme: "https", Host: "a.test:443", Addr: netip.AddrPortFrom(addr, 443)}
}

func TestRouteMemoryPostponesUntilConnected(t *testing.T) {
	m := NewRouteMemory()
	if m.Postponed(routeTo(1)) {
		t.Error("an unknown route is postponed")
	}
	m.Failed(routeTo(1))
	if !m.Postponed(routeTo(1)) || m.Postponed(routeTo(2)) {
		t.Error("want route 1 postponed, and no other")
	}
	plain := routeTo(1)
	plain.Scheme = "http"
	if m.Postponed(plain) {
		t.Error("a failure of https is held against http")
	}
	m.Connected(routeTo(1))
	if m.Postponed(routeTo(1)) {
		t.Error("a route that works again is still postponed")
	}
}

func TestRouteMemoryForgetsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewRouteMemory()
		m.Failed(routeTo(1))
		time.Sleep(memoryLife - time.Second)
		if !m.Postponed(routeTo(1)) {
			t.Error("forgotten early")
		}
		m.Failed(routeTo(1)) // again: its time begins anew
		time.Sleep(memoryLife - time.Second)
		if !m.Postponed(routeTo(1)) {
			t.Error("the second failure did not count")
		}
		time.Sleep(time.Second)
		if m.Postponed(routeTo(1)) {
			t.Error("not forgotten")
		}
		if len(m.failed) != 0 {
			t.Error("the entry is still there")
		}
	})
}

func TestRouteMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewRouteMemory()
		for i := range memoryMax + 10 {
			m.Failed(routeTo(i))
			time.Sleep(time.Millisecond)
		}
		if len(m.failed) != memoryMax {
			t.Errorf("%d entries, want %d", len(m.failed), memoryMax)
		}
		if m.Postponed(routeTo(9)) || !m.Postponed(routeTo(10)) {
			t.Error("want exactly the ten oldest gone")
		}
		time.Sleep(memoryLife)
		m.Failed(routeTo(1))
		if len(m.failed) != 1 {
			t.Errorf("%d entries after all but one expired", len(m.failed))
		}
	})
}

func TestRouteMemoryConcurrently(t *testing.T) {
	m := NewRouteMemory()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				r := routeTo(i % 16)
				switch (i + g) % 3 {
				case 0:
					m.Failed(r)
				case 1:
					m.Connected(r)
				case 2:
					m.Postponed(r)
				}
			}
		})
	}
	wg.Wait()
}
