package http1_test

import (
	"github.com/okhttp-go/okhttp/internal/connect"
	"github.com/okhttp-go/okhttp/internal/http1"
)

// The codec fits the seam that internal/connect owns.
var _ connect.Codec = (*http1.Conn)(nil)
