package main

import (
	"strings"
	"testing"

	"github.com/okhttp-go/okhttp/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
}
