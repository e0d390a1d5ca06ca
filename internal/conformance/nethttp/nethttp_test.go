package nethttp

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// limit is how long one of net/http's tests may take.
const limit = 20 * time.Second

func TestNetHTTP(t *testing.T) {
	root, shared := prerequisites(t)
	binary := build(t, root, shared)
	listed := lines(t, filepath.Join(shared, "tests-through-wrapped-roundtripper.txt"))
	names := strings.Fields(run(t, filepath.Dir(binary), binary, "-test.list", "^Test"))
	for name := range expectedFailures {
		if !slices.Contains(names, name) {
			t.Errorf("%s is expected to fail, but there is no such test", name)
		}
	}

	var mu sync.Mutex
	counts := map[bool]map[outcome]int{true: {}, false: {}} // by: is listed
	var work sync.WaitGroup
	places := make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
	for _, name := range names {
		if notRun[name] != "" {
			continue
		}
		work.Add(1)
		go func() {
			defer work.Done()
			places <- struct{}{}
			defer func() { <-places }()
			got, output := runOne(binary, name)
			if got == failed && expectedFailures[name] == "" {
				got, output = runOne(binary, name) // some measure time, and this machine may be busy
			}
			mu.Lock()
			defer mu.Unlock()
			counts[slices.Contains(listed, name)][got]++
			switch {
			case got == failed && expectedFailures[name] == "":
				t.Errorf("%s failed:\n%s", name, output)
			case got != failed && expectedFailures[name] != "":
				t.Errorf("%s %s, but is listed as one that cannot pass: %s", name, got, expectedFailures[name])
			}
		}()
	}
	work.Wait()
	t.Logf("of the %d tests that any RoundTripper can run: %v", len(listed), counts[true])
	t.Logf("of the others: %v, and %d not run", counts[false], len(notRun))
}

// prerequisites returns the folder of this module and that of the suite.
func prerequisites(t *testing.T) (root, shared string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs a module of its own: not in -short mode")
	}
	if raceEnabled {
		t.Skip("the module that it builds has no race detector: run without")
	}
	if v := runtime.Version(); !strings.HasPrefix(v, "go1.26") {
		t.Skipf("the list of expected failures is that of Go 1.26, this is %s", v)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	shared = filepath.Join(root, "..", "shared", "conformance", "nethttp")
	missing := ""
	if _, err := os.Stat(shared); err != nil {
		missing = "the conformance data, " + shared
	}
	for _, tool := range []string{"bash", "python3", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing = tool
		}
	}
	if missing != "" {
		if os.Getenv("OKHTTP_REQUIRE_SHARED") == "1" {
			t.Fatal("missing: " + missing)
		}
		t.Skip("missing: " + missing)
	}
	return root, shared
}

// build makes the test binary.
func build(t *testing.T, root, shared string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "nhport")
	run(t, root, "bash", filepath.Join(shared, "gen.sh"), dir)
	os.Remove(filepath.Join(dir, "wrap_test.go")) // its hook is of no use where the type itself is replaced
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("nothing was generated", err)
	}
	for _, file := range files {
		replaceTransport(t, file)
	}
	ours, err := os.ReadFile(filepath.Join("testdata", "transport_under_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "okhttp_test.go"), ours)
	addModule(t, dir, root)
	run(t, dir, "go", "test", "-c", "-o", "nethttp.test", ".")
	return filepath.Join(dir, "nethttp.test")
}

var (
	transportType = regexp.MustCompile(`\*(http\.)?Transport\b`)
	clientMethod  = regexp.MustCompile(`\b([a-z]+(?:\.[a-z]+)*)\.Client\(\)`)
	wrapHook      = regexp.MustCompile(`\tif WrapRT != nil \{\n.*\n\t\}\n`)
)

// replaceTransport puts okTransport in the place of http.Transport.
func replaceTransport(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := transportType.ReplaceAllString(string(b), "*okTransport")
	s = strings.NewReplacer("&Transport{", "&okTransport{", "new(Transport)", "new(okTransport)").Replace(s)
	s = clientMethod.ReplaceAllString(s, "okClient($1)")
	once := func(old, replacement string) {
		if strings.Count(s, old) != 1 {
			t.Fatalf("%s: %q is not there exactly once", file, old)
		}
		s = strings.Replace(s, old, replacement, 1)
	}
	switch filepath.Base(file) {
	case "clientserver_test.go":
		s = wrapHook.ReplaceAllString(s, "")
		once("\tcst := &clientServerTest{", "\tskipHTTP2(t, mode)\n\tcst := &clientServerTest{")
		once("\tcst2 := newClientServerTest(t, http2Mode, ", "\tcst2 := newOracleTest(t, http2Mode, ")
	case "main_test.go":
		once("\tv := m.Run()\n", "\tv := m.Run()\n\treportCalls()\n")
	case "transport_test.go":
		once("\t\t\t\trunCancelTestTransport(t, mode, f)\n", "\t\t\t\tt.Skip(\"CancelRequest is http.Transport's alone\")\n")
	}
	write(t, file, []byte(s))
}

// addModule lets the generated module in dir use the one in root.
func addModule(t *testing.T, dir, root string) {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	// The same needs, in the same versions, so that nothing has to be looked up.
	_, needs, _ := strings.Cut(string(mod), "\nrequire")
	write(t, filepath.Join(dir, "go.mod"), fmt.Appendf(nil,
		"module nhport\n\ngo 1.26.0\n\nrequire github.com/okhttp-go/okhttp v0.0.0\n\nreplace github.com/okhttp-go/okhttp => %s\n\nrequire%s", strconv.Quote(root), needs))
	sums := lines(t, filepath.Join(root, "go.sum"))
	sums = append(sums, lines(t, filepath.Join(dir, "go.sum"))...)
	slices.Sort(sums)
	write(t, filepath.Join(dir, "go.sum"), []byte(strings.Join(slices.Compact(sums), "\n")+"\n"))
}

// outcome is how one of net/http's tests ended.
type outcome string

const (
	passed  outcome = "passed"
	failed  outcome = "failed"
	skipped outcome = "was skipped (HTTP/2 only)"
	unused  outcome = "passed without a call"
)

var callCount = regexp.MustCompile(`(?m)^okhttp calls: (\d+)$`)

func runOne(binary, name string) (outcome, string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit+5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.run", "^"+name+"$", "-test.timeout", limit.String())
	cmd.Dir = filepath.Dir(binary)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil {
		return failed, shorten(text) + err.Error()
	}
	if m := callCount.FindStringSubmatch(text); m == nil || m[1] == "0" {
		if strings.Contains(text, "--- SKIP: ") {
			return skipped, text
		}
		return unused, text
	}
	return passed, text
}

// shorten keeps a stack dump of all goroutines from hiding the rest.
func shorten(text string) string {
	const most = 6000
	if len(text) > most {
		return text[:most] + "\n…\n"
	}
	return text
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return string(out)
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

func write(t *testing.T, file string, b []byte) {
	t.Helper()
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
