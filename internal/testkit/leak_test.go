package testkit

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestMain(m *testing.M) {
	Main(m)
}

func leakForever(never chan struct{}) { <-never }

func TestLeakIsSeenWithItsStack(t *testing.T) {
	before := ids(goroutines())
	release := make(chan struct{})
	go leakForever(release)

	leaked := waitForLeaks(before, 20*time.Millisecond)
	if len(leaked) != 1 {
		t.Fatalf("got %d leaked goroutines, want 1:\n%s", len(leaked), describeLeaks(leaked))
	}
	if text := describeLeaks(leaked); !strings.Contains(text, "testkit.leakForever") {
		t.Errorf("the report does not name the leaking function:\n%s", text)
	}

	close(release)
	if leaked := waitForLeaks(before, leakPatience); len(leaked) != 0 {
		t.Errorf("still reported after its end:\n%s", describeLeaks(leaked))
	}
}

func TestGoroutineOnItsWayOutIsNoLeak(t *testing.T) {
	CheckGoroutines(t)
	go time.Sleep(50 * time.Millisecond)
}

func TestSubtestsAndBubblesAreNoLeak(t *testing.T) {
	CheckGoroutines(t)
	t.Run("parallel", func(t *testing.T) { t.Parallel() })
	t.Run("bubble", func(t *testing.T) {
		synctest.Test(t, func(*testing.T) {
			go time.Sleep(time.Hour)
			time.Sleep(2 * time.Hour)
		})
	})
}

func TestMainFailsWhenATestLeaks(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	var report strings.Builder
	leaking := func() int {
		go leakForever(release)
		return 0
	}
	if code := runAndCheck(leaking, 20*time.Millisecond, &report); code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
	if !strings.Contains(report.String(), "testkit: 1 goroutine(s) leaked") {
		t.Errorf("no report of the leak: %q", report.String())
	}
}

func TestMainKeepsTheStatusOfFailedTests(t *testing.T) {
	var report strings.Builder
	if code := runAndCheck(func() int { return 2 }, time.Second, &report); code != 2 {
		t.Errorf("exit status %d, want 2", code)
	}
	if report.Len() != 0 {
		t.Errorf("unexpected report: %q", report.String())
	}
}
