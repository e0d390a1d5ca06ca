package http1

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// longAgo is a deadline that makes a blocked call return at once.
var longAgo = time.Unix(1, 0)

// deadlines turns the timeouts of an exchange into deadlines of the socket. All
// changes are made under its lock, so that a deadline which one goroutine sets
// for another (StartReadTimeout, AbortWrite) is never overwritten by an older
// intention.
//
// To set a deadline costs more than all else that a small read needs. So one
// that a former read or write left behind is kept if it comes no later than the
// one that is wanted, but not much earlier either: should it pass, the time that
// is left is armed and the read goes on. A write goes on only where that is
// possible: TLS cannot resume one.
//
// The socket's deadlines stay as they are between exchanges, passed or not:
// each is looked at before the next read or write that could notice. If a
// socket refuses a deadline it is closed as a rule, and the read or write that
// follows says so better.
type deadlines struct {
	conn   net.Conn
	exact  bool      // writes cannot be resumed
	probed bool      // between exchanges others change the read deadline, to see whether the peer is still there
	origin time.Time // what the durations named …At count from

	mu      sync.Mutex
	read    time.Duration // bounds each read; 0 means no bound
	write   time.Duration // bounds each write; 0 means no bound
	held    bool          // the read timeout does not count yet
	limitAt time.Duration // bounds all reads together, if not zero
	aborted bool          // nothing more may be written

	readAt, readArmed   time.Duration // when the present read must end, and what the socket has; 0 means none
	writeAt, writeArmed time.Duration
}

// now is the time as the fields named …At count it. It is never zero.
func (d *deadlines) now() time.Duration { return time.Since(d.origin) + 1 }

// begin takes over the timeouts of an exchange. Nobody else is about.
func (d *deadlines) begin(o httpsem.ExchangeOptions) {
	d.read, d.write = o.ReadTimeout, o.WriteTimeout
	d.held, d.limitAt, d.aborted = false, 0, false
	if d.probed && d.readArmed != 0 {
		d.readArmed = -1 // whatever it is now
	}
}

// beforeRead must be called before each read that may block.
func (d *deadlines) beforeRead() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armRead()
}

func (d *deadlines) armRead() {
	d.readAt = d.limitAt
	if d.read == 0 || d.held {
		d.setRead()
		return
	}
	now := d.now()
	if at := now + d.read; d.readAt == 0 || at < d.readAt {
		d.readAt = at
	}
	if d.readArmed > d.readAt || d.readArmed < now+d.read/2 {
		d.setRead()
	}
}

// setRead makes the socket's read deadline the one that is wanted.
func (d *deadlines) setRead() {
	if d.readArmed != d.readAt {
		d.readArmed = d.readAt
		_ = d.conn.SetReadDeadline(d.time(d.readAt))
	}
}

func (d *deadlines) time(at time.Duration) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return d.origin.Add(at - 1)
}

// resumeRead reports whether a read that ended with err has time left: then it
// was an older deadline that passed, and the read is to be repeated.
func (d *deadlines) resumeRead(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readAt != 0 && d.readAt <= d.now() || d.readArmed == d.readAt {
		return false
	}
	d.setRead()
	return true
}

// limitReads bounds all reads together, to d from now, until freeReads.
func (d *deadlines) limitReads(limit time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limitAt = d.now() + limit
}

func (d *deadlines) freeReads() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limitAt = 0
}

func (d *deadlines) holdRead() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = true
}

func (d *deadlines) startRead() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held {
		d.held = false
		d.armRead() // a read may be blocked already
	}
}

// beforeWrite must be called before each write. It fails after abortWrite.
func (d *deadlines) beforeWrite() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.aborted {
		return httpsem.ErrWriteAborted
	}
	if d.write == 0 {
		d.writeAt = 0
		d.setWrite()
		return nil
	}
	now := d.now()
	d.writeAt = now + d.write
	if d.exact || d.writeArmed > d.writeAt || d.writeArmed < now+d.write/2 {
		d.setWrite()
	}
	return nil
}

func (d *deadlines) setWrite() {
	if d.writeArmed != d.writeAt {
		d.writeArmed = d.writeAt
		_ = d.conn.SetWriteDeadline(d.time(d.writeAt))
	}
}

// resumeWrite is resumeRead for writes.
func (d *deadlines) resumeWrite(err error) bool {
	if d.exact || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.aborted || d.writeAt != 0 && d.writeAt <= d.now() || d.writeArmed == d.writeAt {
		return false
	}
	d.setWrite()
	return true
}

func (d *deadlines) abortWrite() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.aborted, d.writeArmed = true, -1
	_ = d.conn.SetWriteDeadline(longAgo)
}

// clear lifts both deadlines, for whoever takes over the socket.
func (d *deadlines) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.read, d.write, d.limitAt, d.readAt, d.writeAt = 0, 0, 0, 0, 0
	if d.readArmed != 0 || d.writeArmed != 0 {
		d.readArmed, d.writeArmed = 0, 0
		_ = d.conn.SetDeadline(time.Time{})
	}
}

// readError gives the error of a read its type.
func (d *deadlines) readError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &httpsem.TimeoutError{Op: httpsem.TimeoutRead, After: d.read}
	}
	return err
}

// writeError gives the error of a write its type.
func (d *deadlines) writeError(err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.aborted {
		return httpsem.ErrWriteAborted
	}
	return &httpsem.TimeoutError{Op: httpsem.TimeoutWrite, After: d.write}
}

// readPassed reports whether the read deadline lies in the past.
func (d *deadlines) readPassed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.readArmed != 0 && d.readArmed <= d.now()
}
