package mockwebserver

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrScripted is the Failure of a recorded request that the server itself cut
// short, by an effect of the response.
var ErrScripted = errors.New("mockwebserver: cut short by a scripted effect")

// Trigger is a moment in the life of a connection at which an Effect happens.
type Trigger int

// The triggers, in the order in which they come.
const (
	// AtAccept is when a connection was accepted, before a byte is read.
	AtAccept Trigger = iota

	// AtTLSHandshake is when a client of a TLS server has sent the first bytes
	// of its hello, before the server answers.
	AtTLSHandshake

	// AtRequestStart is when the head of a request was read, and nothing of
	// its body. The server goes on reading only afterwards.
	AtRequestStart

	// AtRequestBody is when half of the request body's declared length was
	// read; when its first chunk was read, if it is chunked; at once, if
	// there is no body.
	AtRequestBody

	// AtRequestEnd is when a request was read in full and recorded.
	AtRequestEnd

	// AtResponseStart is before the status line, after the head delay.
	AtResponseStart

	// AtResponseBody is when half of the response body was sent and flushed;
	// after the first write, if its length is not known; after the head, if
	// it is empty.
	AtResponseBody

	// AtResponseEnd is when a response was sent in full and flushed.
	AtResponseEnd
)

var triggerNames = [...]string{"accept", "TLS handshake", "request start", "request body", "request end",
	"response start", "response body", "response end"}

// String returns the trigger's name, such as "request start".
func (t Trigger) String() string {
	if t < 0 || int(t) >= len(triggerNames) {
		return fmt.Sprintf("Trigger(%d)", int(t))
	}
	return triggerNames[t]
}

// Effect is something a server does to a connection besides answering. Effects
// are made by functions such as CloseConnection and given to
// Response.WithEffect. The zero Effect does nothing.
type Effect struct {
	kind effectKind
	wait time.Duration
	call func(context.Context)
}

type effectKind int

const (
	effectNone effectKind = iota
	effectClose
	effectReset
	effectStall
	effectFailHandshake
	effectShutdownInput
	effectShutdownOutput
	effectPause
	effectCall
)

// CloseConnection closes the connection in an orderly way: the client reads
// what was sent so far and then io.EOF. What the client has sent and the
// server has not read is dropped first, so that the kernel does not turn the
// close into a reset.
func CloseConnection() Effect { return Effect{kind: effectClose} }

// ResetConnection closes the connection with a TCP reset: the client's reads
// and writes fail with ECONNRESET, and what it had not read yet may be lost.
func ResetConnection() Effect { return Effect{kind: effectReset} }

// Stall does nothing more on the connection, forever: until the server is
// closed. A stall after the request was read in full also ends when the client
// hangs up.
func Stall() Effect { return Effect{kind: effectStall} }

// FailHandshake answers the client's hello with the TLS alert
// handshake_failure and closes the connection. At any trigger but
// AtTLSHandshake it is the same as CloseConnection.
func FailHandshake() Effect { return Effect{kind: effectFailHandshake} }

// ShutdownInput closes the server's reading half of the connection and goes on.
func ShutdownInput() Effect { return Effect{kind: effectShutdownInput} }

// ShutdownOutput closes the server's writing half of the connection and goes
// on: the client reads io.EOF, the server still reads.
func ShutdownOutput() Effect { return Effect{kind: effectShutdownOutput} }

// Pause does nothing for d and goes on. Closing the server ends it.
func Pause(d time.Duration) Effect { return Effect{kind: effectPause, wait: d} }

// Call calls f, on the connection's goroutine, and goes on when it returns. It
// lets a test know, without sleeping, that the moment has come, and hold the
// server there. The context ends when the server is closed.
func Call(f func(context.Context)) Effect { return Effect{kind: effectCall, call: f} }

// terminal reports whether nothing comes after the effect.
func (e Effect) terminal() bool {
	switch e.kind {
	case effectClose, effectReset, effectStall, effectFailHandshake:
		return true
	case effectNone, effectShutdownInput, effectShutdownOutput, effectPause, effectCall:
		return false
	}
	panic("mockwebserver: unknown effect")
}

// boundEffect is an effect and its moment.
type boundEffect struct {
	at Trigger
	Effect
}
