package main

import (
	"fmt"
	"os"
)

// progress says on standard error what is being measured, in one line that is
// overwritten, if a person is watching.
type progress struct{ watched bool }

func newProgress() progress {
	info, err := os.Stderr.Stat()
	return progress{err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (p progress) say(format string, args ...any) {
	if p.watched {
		fmt.Fprintf(os.Stderr, "\r\x1b[K"+format, args...)
	}
}

func (p progress) clear() { p.say("") }
