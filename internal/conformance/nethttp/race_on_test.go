//go:build race

package nethttp

// raceEnabled: this binary was built with the race detector.
const raceEnabled = true
