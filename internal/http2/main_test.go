package http2

import (
	"testing"

	"github.com/okhttp-go/okhttp/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
