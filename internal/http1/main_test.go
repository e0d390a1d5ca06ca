package http1

import (
	"os"
	"testing"

	"github.com/okhttp-go/okhttp/internal/testkit"
)

func TestMain(m *testing.M) {
	if os.Getenv(benchServerEnv) != "" {
		serveBenchmarks()
		return
	}
	testkit.Main(m)
}
