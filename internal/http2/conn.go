// Package http2 is the client's half of HTTP/2 (RFC 9113): a [Conn] carries the
// exchanges of many callers over one socket, each on a [Stream].
package http2

import (
	"time"
)

// Socket is what a connection runs on. One goroutine at a time reads (Read,
// ReadNow, WaitReadable), and one writes (WriteNow, Drain). The others may be
// called at any time.
type Socket interface {
	// Read waits for bytes, until the read deadline. Nothing is lost when that
	// passes.
	Read(p []byte) (int, error)

	// ReadNow is Read that does not wait: it gives 0 and ErrNothing instead.
	ReadNow(p []byte) (int, error)

	// SetReadDeadline bounds Read and WaitReadable, also one that waits already.
	SetReadDeadline(t time.Time) error

	// WriteNow sends what can be sent without waiting and keeps the rest. If it
	// kept something Drain must be called before the next WriteNow.
	WriteNow(p []byte) (kept bool, err error)

	// Drain waits until what was kept is sent. Close ends it.
	Drain() error

	// WaitReadable waits, without a buffer, until Read would not wait, or the read
	// deadline passes. It is for after ReadNow has found nothing. Where that
	// cannot be had it fails with errors.ErrUnsupported.
	WaitReadable() error

	// Close ends everything at once, and does not wait.
	Close() error

	// CloseGracefully says goodbye if that takes no time, and closes.
	CloseGracefully()
}

// Config is what a connection is made of. The functions may be nil. They are
// called one at a time, in order and with no lock held. They must not block, and
// may call nothing of the connection but Limit.
type Config struct {
	Socket Socket

	// PingInterval is the time between pings that are sent whatever happens. A ping
	// that is unanswered when the next one is due ends the connection. 0 means
	// none: connections in doubt are pinged all the same.
	PingInterval time.Duration

	// Push takes what the server sends unasked. If nil the server is told not to,
	// and it is an error of the connection if it does.
	Push PushHandler

	// PriorKnowledge says that the connection speaks HTTP/2 without having agreed
	// on it (RFC 9113, 3.3).
	PriorKnowledge bool

	// LimitChanged is told how many streams the peer allows at once. Before it has
	// said so that is 100.
	LimitChanged func(n int)

	// Suspect is told why the connection is in doubt, and "" when it no longer is.
	// Meanwhile no streams should be begun.
	Suspect func(why string)

	// Retired is told, once, that no stream can be begun any more, and why. Those
	// that are open may go on.
	Retired func(why string)

	// Closed is told, once and after Retired, that the socket is closed and all
	// streams have ended. err is nil if all was in order.
	Closed func(err error)
}
