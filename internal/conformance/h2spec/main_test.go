package h2spec

import (
	"testing"

	"github.com/okhttp-go/okhttp/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
