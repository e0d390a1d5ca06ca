package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// describeMachine says in words what the figures were measured on.
func describeMachine(r runner, began time.Time) string {
	return fmt.Sprintf("%s, %s/%s, %d cores (%s), %s of memory, Linux %s. Loopback only; the server shares the cores. "+
		"%d rounds of %v per cell, taken on %s in %v; load average %s at the end.",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		infoField("/proc/cpuinfo", "model name"), memory(),
		firstLine("/proc/sys/kernel/osrelease"),
		r.rounds, r.each, began.Format("2006-01-02"), time.Since(began).Round(time.Second),
		loadAverage())
}

// infoField returns the value of the first line "name : value" of a file.
func infoField(path, name string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func memory() string {
	var kilobytes float64
	fmt.Sscanf(infoField("/proc/meminfo", "MemTotal"), "%f", &kilobytes)
	return fmt.Sprintf("%.0f GiB", kilobytes/mib)
}

func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

func loadAverage() string {
	fields := strings.Fields(firstLine("/proc/loadavg"))
	return fields[0]
}
