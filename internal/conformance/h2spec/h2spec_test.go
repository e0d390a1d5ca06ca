package h2spec

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const suite = "github.com/summerwind/h2spec/cmd/h2specd@v2.2.1+incompatible"

// TestH2Spec wants every case to pass, three runs in a row. The suite is fetched
// and built, and listens at fixed ports, so it only runs where OKHTTP_H2SPEC asks
// for it.
func TestH2Spec(t *testing.T) {
	if os.Getenv("OKHTTP_H2SPEC") == "" {
		t.Skip("OKHTTP_H2SPEC is not set: h2specd has to be fetched and listens at ports from 30000")
	}
	dir := t.TempDir()
	command(t, "GOBIN="+dir, "GOFLAGS=-mod=mod", "go", "install", suite)
	client := filepath.Join(dir, "h2get")
	command(t, "go", "build", "-o", client, "./h2get")
	for run := range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		out, err := exec.CommandContext(ctx, filepath.Join(dir, "h2specd"), "-h", "127.0.0.1", "-e", client).CombinedOutput()
		cancel()
		if err != nil {
			t.Fatalf("run %d: %v\n%s", run, err, out)
		}
		// h2specd exits with 0 whatever it has found.
		if !strings.Contains(string(out), "57 tests, 57 passed, 0 skipped, 0 failed") {
			t.Errorf("run %d:\n%s", run, out)
		}
	}
}

// command runs a program; the words before it that hold "=" are for its environment.
func command(t *testing.T, words ...string) {
	t.Helper()
	env := os.Environ()
	for strings.Contains(words[0], "=") {
		env, words = append(env, words[0]), words[1:]
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
}
