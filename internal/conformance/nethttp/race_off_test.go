//go:build !race

package nethttp

const raceEnabled = false
