package connect

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// sender sends on a socket without waiting. Its closure is made once.
type sender struct {
	raw  syscall.RawConn // nil: nothing can be sent without waiting
	work *sending
}

type sending struct {
	p   []byte
	n   int
	err error
	do  func(fd uintptr)
}

func newSender(raw syscall.RawConn) sender {
	if raw == nil {
		return sender{}
	}
	w := &sending{}
	w.do = func(fd uintptr) { w.n, w.err = writeSocket(fd, w.p) }
	return sender{raw: raw, work: w}
}

// now sends what fits of p and says how much that was.
func (s sender) now(p []byte) (int, error) {
	if s.raw == nil || len(p) == 0 {
		return 0, nil
	}
	w := s.work
	w.p = p
	err := s.raw.Control(w.do)
	w.p = nil
	if err != nil {
		return 0, err
	}
	if w.err != nil {
		return w.n, os.NewSyscallError("write", w.err)
	}
	return w.n, nil
}

// outbox takes writes that must not wait, sends what it can of them, and keeps
// the rest until somebody drains it.
type outbox struct {
	conn net.Conn

	mu       sync.Mutex // also held while sending without waiting
	send     sender
	kept     *[]byte // not sent yet, but for the first bytes; nil for nothing
	sent     int     // how many of them were sent
	room     int     // how much may be kept
	held     bool    // what is put in waits for letGo
	draining bool    // somebody sends what was kept before, so the rest must wait
	err      error   // why nothing can be sent any more
}

// ownRoom bounds what TLS writes on its own account while the peer does not
// read: answers to key updates, of which a hostile peer may want many.
const ownRoom = 16 << 10

var errPeerDeaf = errors.New("the peer asks for more answers of TLS than it reads")

// boxes holds the buffers of outboxes: all but a few are empty at any time.
var boxes = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// maxBox is the largest buffer that is used again.
const maxBox = 128 << 10

func newOutbox(c net.Conn, raw syscall.RawConn) *outbox {
	return &outbox{conn: c, send: newSender(raw), room: ownRoom}
}

// hold has what is put in gathered until letGo, n bytes before they are made
// records of.
func (b *outbox) hold(n int) {
	b.mu.Lock()
	b.held, b.room = true, 2*n+ownRoom
	b.mu.Unlock()
}

// put takes all of p.
func (b *outbox) put(p []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil && b.leftLocked()+len(p) > b.room {
		b.err = errPeerDeaf
	}
	if b.err != nil {
		return b.err
	}
	if b.kept == nil {
		b.kept = boxes.Get().(*[]byte)
	}
	*b.kept = append(*b.kept, p...)
	if b.held || b.draining {
		return nil
	}
	return b.sendLocked()
}

// leftLocked is how many bytes are kept.
func (b *outbox) leftLocked() int {
	if b.kept == nil {
		return 0
	}
	return len(*b.kept) - b.sent
}

// letGo sends what was gathered, as far as that is possible without waiting, and
// reports whether something is left.
func (b *outbox) letGo() (kept bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = false
	if !b.draining && b.err == nil {
		b.err = b.sendLocked()
	}
	b.room = b.leftLocked() + ownRoom
	return b.kept != nil, b.err
}

func (b *outbox) sendLocked() error {
	if b.kept == nil {
		return nil
	}
	n, err := b.send.now((*b.kept)[b.sent:])
	b.sent += n
	if err != nil {
		b.err = err
	}
	if b.leftLocked() == 0 {
		recycleBox(b.kept)
		b.kept, b.sent = nil, 0
	}
	return b.err
}

// recycleBox gives a buffer back.
func recycleBox(buffer *[]byte) {
	if cap(*buffer) <= maxBox {
		*buffer = (*buffer)[:0]
		boxes.Put(buffer)
	}
}

// drain waits until all that was kept is sent.
func (b *outbox) drain() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.kept != nil && b.err == nil {
		kept, sent := b.kept, b.sent
		b.kept, b.sent, b.draining, b.room = nil, 0, true, ownRoom
		b.mu.Unlock()
		_, err := b.conn.Write((*kept)[sent:])
		recycleBox(kept)
		b.mu.Lock()
		b.draining = false
		if err != nil {
			b.err = err
		}
	}
	return b.err
}

// goodbye sends what was kept if that takes no time and nobody is at it. It is
// for connections that send everything in this way.
func (b *outbox) goodbye() {
	b.mu.Lock()
	idle := !b.draining && b.send.raw == nil && b.kept != nil && b.err == nil
	b.mu.Unlock()
	if idle && b.conn.SetWriteDeadline(time.Now().Add(goodbyeTime)) == nil {
		_ = b.drain() // they have had their chance
	}
}
