// Package testkit holds what the tests of every storey share: a check for
// leaked goroutines and an in-memory network.
//
// It knows no client. Only test files import it.
package testkit

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// leakPatience is how long a goroutine that is on its way out may take.
const leakPatience = 5 * time.Second

// Main runs the tests of a package and ends the process with their status. If
// they passed and goroutines that they started are still there some seconds
// later, it prints the stacks of those and fails instead:
//
//	func TestMain(m *testing.M) { testkit.Main(m) }
func Main(m *testing.M) {
	os.Exit(runAndCheck(m.Run, leakPatience, os.Stderr))
}

// runAndCheck is Main without the end of the process.
func runAndCheck(run func() int, patience time.Duration, report io.Writer) int {
	before := ids(goroutines())
	code := run()
	if code != 0 {
		return code
	}
	if leaked := waitForLeaks(before, patience); len(leaked) > 0 {
		fmt.Fprintln(report, describeLeaks(leaked))
		return 1
	}
	return 0
}

// CheckGoroutines fails the test at its end if goroutines run then that did not
// run when CheckGoroutines was called. Cleanups registered later run before the
// check, so call it first. It sees the whole process: not for parallel tests,
// and not inside a synctest bubble, which has a check of its own.
func CheckGoroutines(t testing.TB) {
	t.Helper()
	before := ids(goroutines())
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		if leaked := waitForLeaks(before, leakPatience); len(leaked) > 0 {
			t.Error(describeLeaks(leaked))
		}
	})
}

// goroutine is one entry of a stack dump.
type goroutine struct {
	id    string
	stack string // the whole entry, with the header line
}

// waitForLeaks looks until nothing but what was there before is left, or until
// patience ends, and returns what remains.
func waitForLeaks(before map[string]bool, patience time.Duration) []goroutine {
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		var leaked []goroutine
		for _, g := range goroutines() {
			if !before[g.id] {
				leaked = append(leaked, g)
			}
		}
		if len(leaked) == 0 || !time.Now().Before(deadline) {
			return leaked
		}
		time.Sleep(pause)
	}
}

// goroutines lists all goroutines but the caller's and those that belong to the
// runtime and to package testing.
func goroutines() []goroutine {
	buf := make([]byte, 64<<10)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	return parseStacks(string(buf))
}

// parseStacks splits a dump of all goroutines, of which the first is the
// caller's own and is left out.
func parseStacks(dump string) []goroutine {
	var list []goroutine
	for i, entry := range strings.Split(strings.TrimSpace(dump), "\n\n") {
		header, frames, _ := strings.Cut(entry, "\n")
		id, ok := strings.CutPrefix(header, "goroutine ")
		if i == 0 || !ok || isForeign(frames) {
			continue
		}
		id, _, _ = strings.Cut(id, " ")
		list = append(list, goroutine{id: id, stack: entry})
	}
	return list
}

// foreignFrames mark goroutines which a test does not start itself, or which
// are started once and stay for the life of the process.
var foreignFrames = []string{
	"testing.RunTests(",
	"testing.(*T).Run(",
	"testing.(*T).Parallel(",
	"testing.(*B).",
	"testing.(*F).Fuzz",
	"testing.(*M).startAlarm",
	"testing.runFuzz",
	"testing.tRunner.",
	"internal/fuzz.",
	"internal/synctest.Run(",
	"runtime.goexit0(",
	"runtime.ensureSigM",
	"runtime.ReadTrace(",
	"runtime/trace.Start",
	"runtime/pprof.profileWriter",
	"os/signal.signal_recv(",
	"os/signal.loop(",
	"created by runtime.",
	"created by os/signal.",
	"created by testing.(*M).",
}

func isForeign(frames string) bool {
	if frames == "" {
		return true // it has ended between the listing and the tracing
	}
	for _, mark := range foreignFrames {
		if strings.Contains(frames, mark) {
			return true
		}
	}
	return false
}

func ids(list []goroutine) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, g := range list {
		set[g.id] = true
	}
	return set
}

func describeLeaks(leaked []goroutine) string {
	var b strings.Builder
	fmt.Fprintf(&b, "testkit: %d goroutine(s) leaked", len(leaked))
	for _, g := range leaked {
		b.WriteString("\n\n")
		b.WriteString(g.stack)
	}
	return b.String()
}
