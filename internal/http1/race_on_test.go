//go:build race

package http1

// raceEnabled: a sync.Pool drops things on purpose, so allocations cannot be
// counted.
const raceEnabled = true
