package http2

import (
	"errors"
)

// ErrNothing is what [Socket.ReadNow] fails with if nothing has arrived.
var ErrNothing = errors.New("nothing has arrived")
