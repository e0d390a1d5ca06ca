package okhttp_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeCompiles demands that each Go snippet of the README and the pages
// stands, line by line, in a file that is compiled and run as a test or example.
func TestReadmeCompiles(t *testing.T) {
	var compiled []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "examples/") && strings.HasSuffix(path, ".go")) {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			compiled = append(compiled, withoutIndent(string(text)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"README.md", "docs/architecture.md", "docs/events.md"} {
		for _, snippet := range snippets(t, page) {
			if !standsIn(withoutIndent(snippet), compiled) {
				t.Errorf("%s: this is in no test or example:\n%s", page, snippet)
			}
		}
	}
}

// TestLinks demands that what the pages refer to exists.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for _, page := range []string{
		"README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/events.md",
		"docs/coming-from-net-http.md", "docs/coming-from-okhttp.md", "docs/contributing/concurrency.md",
	} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if m[1] == "bench/RESULTS.md" {
				continue // what go run ./bench has written last
			}
			target := filepath.Join(filepath.Dir(page), m[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s refers to %s, which is not there", page, m[1])
			}
		}
	}
}

// TestEventsPage demands that the page of the events has a row for each.
func TestEventsPage(t *testing.T) {
	source, err := os.ReadFile("events.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^func \((\w+)\) event\(\)`).FindAllStringSubmatch(string(source), -1) {
		if !strings.Contains(string(page), "\n| `"+m[1]+"` |") {
			t.Errorf("docs/events.md has no row for %s", m[1])
		}
	}
}

func snippets(t *testing.T, page string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	return all
}

func standsIn(snippet string, files []string) bool {
	for _, f := range files {
		if strings.Contains(f, "\n"+snippet) {
			return true
		}
	}
	return false
}

func withoutIndent(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.Join(lines, "\n")
}
