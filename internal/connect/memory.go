package connect

import (
	"sync"
	"time"
)

const (
	// memoryLife is how long a failure is held against a route. Networks heal,
	// and a route that is never tried again would never be found well.
	memoryLife = 5 * time.Minute

	// memoryMax bounds the number of failures remembered.
	memoryMax = 1024
)

// RouteMemory remembers which routes failed of late, so that the next
// connection to the same host begins with those that did not. A failed route is
// postponed, not forbidden: it is tried after all others.
//
// It is shared by a client and those derived from it, and safe for concurrent
// use.
type RouteMemory struct {
	mu     sync.Mutex
	failed map[Route]time.Time // when a route failed last
}

// NewRouteMemory returns an empty memory.
func NewRouteMemory() *RouteMemory { return &RouteMemory{} }

// Failed notes that r could not be connected, or that the very first exchange
// on its connection failed.
func (m *RouteMemory) Failed(r Route) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed == nil {
		m.failed = make(map[Route]time.Time)
	}
	if _, known := m.failed[r]; !known && len(m.failed) >= memoryMax {
		m.makeRoomLocked(now)
	}
	m.failed[r] = now
}

// makeRoomLocked drops what has expired, and the oldest if that is not enough.
// It looks at every entry, which only a host of failures can make it do.
func (m *RouteMemory) makeRoomLocked(now time.Time) {
	var oldest Route
	var oldestAt time.Time
	for r, at := range m.failed {
		if now.Sub(at) >= memoryLife {
			delete(m.failed, r)
			continue
		}
		if oldestAt.IsZero() || at.Before(oldestAt) {
			oldest, oldestAt = r, at
		}
	}
	if len(m.failed) >= memoryMax {
		delete(m.failed, oldest)
	}
}

// Connected notes that r works; an earlier failure is forgotten.
func (m *RouteMemory) Connected(r Route) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.failed) > 0 {
		delete(m.failed, r)
	}
}

// Postponed reports whether r failed within the last five minutes and has not
// worked since.
func (m *RouteMemory) Postponed(r Route) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.failed) == 0 {
		return false
	}
	at, known := m.failed[r]
	if !known {
		return false
	}
	if time.Since(at) >= memoryLife {
		delete(m.failed, r)
		return false
	}
	return true
}
