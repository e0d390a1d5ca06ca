//go:build race

package nethttp

// raceEnabled: a sync.Pool drops things on purpose, so allocations cannot be
// counted.
const raceEnabled = true
