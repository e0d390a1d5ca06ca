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
// The socket's deadlines stay as they are between exchanges, passed or not:
// each is set or cleared before the next read or write that could notice. If a
// socket refuses a deadline it is closed as a rule, and the read or write that
// follows says so better.
type deadlines struct {
	conn net.Conn

	mu         sync.Mutex
	read       time.Duration // bounds each read; 0 means no bound
	write      time.Duration // bounds each write; 0 means no bound
	readHeld   bool          // the read timeout does not count yet
	readUntil  time.Time     // bounds all reads together, if not zero
	readArmed  bool          // the socket has a read deadline
	readLast   time.Time     // what that deadline is
	writeArmed bool          // the socket has a write deadline
	aborted    bool          // nothing more may be written
}

// begin takes over the timeouts of an exchange.
func (d *deadlines) begin(o httpsem.ExchangeOptions) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.read, d.write = o.ReadTimeout, o.WriteTimeout
	d.readHeld, d.readUntil, d.aborted = false, time.Time{}, false
}

// beforeRead must be called before each read that may block.
func (d *deadlines) beforeRead() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armRead()
}

func (d *deadlines) armRead() {
	until := d.readUntil
	if d.read > 0 && !d.readHeld {
		if t := time.Now().Add(d.read); until.IsZero() || t.Before(until) {
			until = t
		}
	}
	if until.IsZero() && !d.readArmed {
		return
	}
	d.readArmed, d.readLast = !until.IsZero(), until
	_ = d.conn.SetReadDeadline(until)
}

// limitReads bounds all reads together until limitReads(time.Time{}).
func (d *deadlines) limitReads(until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readUntil = until
}

func (d *deadlines) holdRead() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readHeld = true
}

func (d *deadlines) startRead() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readHeld {
		d.readHeld = false
		d.armRead() // a read may be blocked already
	}
}

// beforeWrite must be called before each write. It fails after abortWrite.
func (d *deadlines) beforeWrite() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.aborted:
		return httpsem.ErrWriteAborted
	case d.write > 0:
		d.writeArmed = true
		_ = d.conn.SetWriteDeadline(time.Now().Add(d.write))
	case d.writeArmed:
		d.writeArmed = false
		_ = d.conn.SetWriteDeadline(time.Time{})
	}
	return nil
}

func (d *deadlines) abortWrite() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.aborted, d.writeArmed = true, true
	_ = d.conn.SetWriteDeadline(longAgo)
}

// clear lifts both deadlines, for whoever takes over the socket.
func (d *deadlines) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.read, d.write, d.readUntil = 0, 0, time.Time{}
	if d.readArmed || d.writeArmed {
		d.readArmed, d.writeArmed = false, false
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
	return d.readArmed && !time.Now().Before(d.readLast)
}
