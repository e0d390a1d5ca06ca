package main

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// A bar is a value that a client must not exceed: a ratio to another client, or
// where there is no base, the figure itself.
type bar struct {
	scenario string
	client   string
	base     string
	figure   figure // of a bar without a base
	limit    float64
}

// bars lists what this library must reach, from the table of the issue that asked
// for it. Calls go through http.Client unless the client's name says otherwise.
func bars() []bar {
	var all []bar
	for _, get := range []string{"get13", "get1k"} {
		all = append(all,
			bar{scenario: get + "/c1", client: okhttpClient, base: netHTTP, limit: 0.60},
			bar{scenario: get + "/c16", client: okhttpClient, base: netHTTP, limit: 0.65},
			bar{scenario: get + "/c256", client: okhttpClient, base: netHTTP, limit: 0.65},
			bar{scenario: get + "/c1", client: okhttpRT, base: rawConn, limit: 1.6},
			bar{scenario: get + "/c16", client: okhttpRT, base: rawConn, limit: 1.5},
			bar{scenario: get + "/c256", client: okhttpRT, base: rawConn, limit: 1.5},
		)
	}
	for _, to := range []struct {
		scenario string
		limit    float64
	}{
		{"get13-deadline/c16", 0.75},
		{"post1k/c16", 0.65},
		{"tls-get1k/c16", 0.70},
		{"headers40/c16", 0.75},
		{"get1m/c1", 0.65},
		{"get1m/c16", 0.65},
		{"get64m", 0.60},
		{"get64m-file", 0.50},
		{"post64m", 1.05},
		{"post64m-stream", 1.05},
		{"connect", 0.55},
		{"connect-tls", 0.95},
		{"connect-tls-resumed", 0.95},
		{"idle", 0.10},
		{"idle-tls", 0.35},
		{"gzip1m", 0.85},

		{"h2c-get13/c1", 0.65},
		{"h2c-get13/c16", 0.50},
		{"h2c-get13/c100", 0.35},
		{"h2c-get13/c1000", 0.35},
		{"h2-tls-get13/c1", 0.60},
		{"h2-tls-get13/c16", 0.50},
		{"h2-tls-get13/c100", 0.50},
		{"h2-tls-get13/c1000", 0.50},
		{"h2c-post1k/c1", 0.55},
		{"h2c-post1k/c100", 0.35},
		{"h2c-headers40/c16", 0.55},
		{"h2c-get64m", 0.40},
		{"h2c-get16m/c16", 0.40},
		{"h2-tls-get64m", 0.70},
		{"h2-tls-get16m/c16", 0.70},
		{"idle-h2-tls", 0.50},
	} {
		all = append(all, bar{scenario: to.scenario, client: okhttpClient, base: netHTTP, limit: to.limit})
	}
	return append(all,
		bar{scenario: "idle", client: okhttpClient, figure: goroutines, limit: 0.01},
		bar{scenario: "idle-tls", client: okhttpClient, figure: goroutines, limit: 0.01},
		bar{scenario: "listener", client: okhttpListened, base: okhttpClient, limit: 1.05},
		bar{scenario: "allocs", client: okhttpRT, figure: allocs, limit: 9},
		bar{scenario: "allocs40", client: okhttpRT, figure: allocs, limit: 18},
		bar{scenario: "h2-allocs", client: okhttpRT, figure: allocs, limit: 12},
		bar{scenario: "h2-allocs40", client: okhttpRT, figure: allocs, limit: 20},
	)
}

// verdict is a bar and what was measured for it.
type verdict struct {
	bar
	value float64 // NaN where nothing was measured
}

func (v verdict) pass() bool { return v.value <= v.limit }

// judge holds the outcomes against the bars of their scenarios.
func judge(outcomes []outcome) []verdict {
	var all []verdict
	for _, o := range outcomes {
		for _, b := range bars() {
			if b.scenario == o.scenario.name {
				all = append(all, verdict{b, b.valueIn(o)})
			}
		}
	}
	return all
}

func (b bar) valueIn(o outcome) float64 {
	if b.base != "" {
		return o.ratio(b.client, b.base)
	}
	value := o.median(b.client, b.figure)
	if b.figure == allocs {
		// As testing.AllocsPerRun has it: an allocation once in a thousand
		// calls, of the runtime's own, is none per call.
		value = math.Floor(value)
	}
	return value
}

// String says what the bar demands.
func (b bar) String() string {
	if b.base != "" {
		return fmt.Sprintf("%s: %s ≤ %.2f × %s", b.scenario, b.client, b.limit, b.base)
	}
	unit := "allocations per call"
	if b.figure == goroutines {
		unit = "goroutines per connection"
	}
	return fmt.Sprintf("%s: %s ≤ %g %s", b.scenario, b.client, b.limit, unit)
}

// allHold tells whether every bar holds.
func allHold(verdicts []verdict) bool {
	return !slices.ContainsFunc(verdicts, func(v verdict) bool { return !v.pass() })
}

// writeVerdicts prints a line for each bar and a sum.
func writeVerdicts(out io.Writer, all []verdict) {
	passed := 0
	for _, v := range all {
		word := "FAIL"
		switch {
		case math.IsNaN(v.value):
			word = "NONE"
		case v.pass():
			word = "PASS"
			passed++
		}
		value := "not measured"
		if !math.IsNaN(v.value) {
			value = fmt.Sprintf("%.2f", v.value)
		}
		fmt.Fprintf(out, "%s  %-58s %s\n", word, v.bar, value)
	}
	fmt.Fprintf(out, "%d of %d bars hold\n", passed, len(all))
}
