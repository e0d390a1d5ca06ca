package http2

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
)

// readingTurn says who reads the connection.
type readingTurn uint8

const (
	nobodyReads readingTurn = iota
	callerReads             // one of those who wait, or who look before they begin
	loopReads               // the connection's goroutine
)

// input is what was read and not yet taken in.
type input struct {
	buffer *[]byte // nil while there is nothing in it and nobody reads
	r, w   int
	size   int // of the next buffer
	whole  int // what must be there before the next step, if that is known
}

// The sizes of input buffers. A peer that fills one gets the next.
var inputSizes = [...]int{16 << 10, 64 << 10, 256 << 10}

var inputs [len(inputSizes)]sync.Pool

func getInput(class int) *[]byte {
	if b, ok := inputs[class].Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, inputSizes[class])
	return &b
}

func putInput(b *[]byte) {
	for class, size := range inputSizes {
		if len(*b) == size {
			inputs[class].Put(b)
		}
	}
}

func (i *input) pending() []byte {
	if i.buffer == nil {
		return nil
	}
	return (*i.buffer)[i.r:i.w]
}

// room makes room for a read: what is left moves to the front, or into a larger
// buffer if a frame needs one.
func (i *input) room() []byte {
	need := max(i.whole, 1)
	class := i.size
	for class < len(inputSizes)-1 && inputSizes[class] < need {
		class++
	}
	switch {
	case i.buffer == nil:
		i.buffer = getInput(class)
	case len(*i.buffer) < inputSizes[class]:
		old := i.buffer
		i.buffer = getInput(class)
		i.w = copy(*i.buffer, (*old)[i.r:i.w])
		i.r = 0
		putInput(old)
	case i.r > 0:
		i.w = copy(*i.buffer, (*i.buffer)[i.r:i.w])
		i.r = 0
	}
	return (*i.buffer)[i.w:]
}

// took notes a read of n bytes, and whether that was all there was room for.
func (i *input) took(n, room int) {
	i.w += n
	switch {
	case n == room && i.size < len(inputSizes)-1:
		i.size++
	case n < room/4 && n < inputSizes[0] && i.size > 0:
		i.size--
	}
}

// rest gives the buffer back if nothing is in it.
func (i *input) rest() {
	if i.buffer != nil && i.r == i.w {
		putInput(i.buffer)
		i.buffer, i.r, i.w = nil, 0, 0
	}
}

// readFor reads the connection for all until h is ready. The lock is held, but
// not while it reads.
func (c *Conn) readFor(h *half) {
	c.reading, c.reader = callerReads, h
	var err error
	for err == nil && !h.ready() && c.err == nil {
		c.unkickLocked()
		c.unlock()
		err = c.readOnce()
		c.mu.Lock()
		c.flushLocked()
	}
	c.releaseLocked(err)
}

// readOnce waits for bytes and takes them in. That a wait was cut short is no
// error. Only whoever has the turn calls it, without the lock.
func (c *Conn) readOnce() error {
	room := c.in.room()
	n, err := c.socket.Read(room)
	c.in.took(n, len(room))
	return c.takeIn(n, err)
}

// takeArrived takes in what has arrived, without waiting.
func (c *Conn) takeArrived() error {
	for {
		room := c.in.room()
		n, err := c.socket.ReadNow(room)
		c.in.took(n, len(room))
		if n == 0 && err == ErrNothing {
			return nil
		}
		if err := c.takeIn(n, err); err != nil {
			return err
		}
		if n < len(room) && err != nil {
			return nil
		}
	}
}

// takeIn parses what a read has brought, and wakes those whom it concerns.
func (c *Conn) takeIn(n int, err error) error {
	if n > 0 {
		if fault := c.parse(); fault != nil {
			c.wakeAll()
			return fault
		}
		c.wakeAll()
	}
	switch {
	case err == nil, errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	case err == io.EOF:
		return errHungUp
	default:
		return &lostError{err}
	}
}

// wakeAll wakes those for whom something has come.
func (c *Conn) wakeAll() {
	if len(c.toWake) == 0 {
		return
	}
	c.mu.Lock()
	for i, h := range c.toWake {
		switch {
		case !h.waits:
		case h.takesOverLocked():
			c.handLocked(h)
		default:
			c.wakeLocked(h)
		}
		c.toWake[i] = nil
	}
	c.toWake = c.toWake[:0]
	c.unlock()
}

// unkickLocked takes a deadline back that was set to be noticed.
func (c *Conn) unkickLocked() {
	if c.kicked {
		c.kicked = false
		_ = c.socket.SetReadDeadline(time.Time{}) // if it fails, so does the read
	}
}

// releaseLocked gives the turn back. If others wait the loop takes it. err is why
// the connection must end.
func (c *Conn) releaseLocked(err error) {
	others := c.waiting
	if c.reader != nil {
		others--
	}
	c.reading, c.reader = nobodyReads, nil
	c.releases++
	c.in.rest()
	if err != nil {
		c.failLocked(err)
		return
	}
	c.unkickLocked()
	if others > 0 && c.err == nil {
		c.startLoopLocked()
	}
}

// startLoopLocked has a goroutine read from now on.
func (c *Conn) startLoopLocked() {
	c.reading = loopReads
	c.lonely = 0
	c.workers.Add(1)
	go c.loop()
}

// lonelyReads is how many reads in a row must have served one caller at most
// before the loop leaves the reading to it.
const lonelyReads = 64

// loop reads for those who wait.
func (c *Conn) loop() {
	defer c.workers.Done()
	c.mu.Lock()
	for c.err == nil {
		if len(c.streams) > 0 && c.lonely >= lonelyReads {
			c.leaveLocked()
			c.unlock()
			return
		}
		c.unkickLocked()
		busy := len(c.streams) > 0
		c.parked = busy
		c.most = c.waiting
		c.unlock()
		err := c.loopOnce(busy)
		c.mu.Lock()
		c.parked = false
		if c.most > 1 || !busy {
			c.lonely = 0
		} else {
			c.lonely++
		}
		if err != nil {
			c.failLocked(err)
		}
		c.flushLocked()
	}
	c.reading = nobodyReads
	c.in.rest()
	c.unlock()
}

// loopOnce waits for bytes, with a buffer if they are expected soon, and takes
// them in.
func (c *Conn) loopOnce(busy bool) error {
	if busy || len(c.in.pending()) > 0 {
		return c.readOnce()
	}
	c.in.rest()
	switch err := c.socket.WaitReadable(); {
	case err == nil:
		return c.takeArrived()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	case errors.Is(err, errors.ErrUnsupported):
		return c.readOnce()
	default:
		return &lostError{err}
	}
}

// leaveLocked ends the loop; a caller that waits reads for itself.
func (c *Conn) leaveLocked() {
	c.reading = nobodyReads
	c.releases++
	c.in.rest()
	for _, s := range c.streams {
		if s.send.waits {
			c.wakeLocked(&s.send)
		}
		if s.receive.waits {
			c.wakeLocked(&s.receive)
		}
	}
}

// failLocked ends the connection for err.
func (c *Conn) failLocked(err error) {
	var lost *lostError
	switch {
	case err == errHungUp:
		if c.away != nil {
			err = &causeError{errHungUp, c.away}
		}
		c.closeLocked(err, frame.NoError, false)
	case errors.As(err, &lost):
		c.closeLocked(lost.err, frame.NoError, false)
	default:
		c.faultLocked(err)
	}
}
