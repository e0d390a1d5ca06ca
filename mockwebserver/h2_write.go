package mockwebserver

import (
	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/http2/hpack"
)

// h2Output is what is on its way to the client. It is guarded by h2Conn.mu; the
// goroutine that runs writeOut writes.
type h2Output struct {
	encoder  hpack.Encoder
	pending  []byte // whole frames
	appended int64  // bytes, ever
	written  int64
	err      error // of a write; all later frames are dropped
	shut     bool  // by a script: all later frames are dropped
	ended    bool  // no more frames will come

	more     chan struct{} // has an element if there is something to do
	progress chan struct{} // closed when written or err changes; nil while nobody waits
	done     chan struct{} // closed at the end of writeOut
}

// What may wait for a client that does not read: DATA up to the first limit,
// other frames up to the second.
const (
	dataBacklog    = 64 << 10
	controlBacklog = 1 << 20
)

func newH2Output() h2Output {
	return h2Output{more: make(chan struct{}, 1), done: make(chan struct{})}
}

// writeOut writes until the output has ended or failed.
func (h *h2Conn) writeOut() {
	defer close(h.out.done)
	var spare []byte
	for {
		h.mu.Lock()
		for len(h.out.pending) == 0 {
			if h.out.ended || h.out.err != nil {
				h.mu.Unlock()
				return
			}
			h.mu.Unlock()
			<-h.out.more
			h.mu.Lock()
		}
		buf := h.out.pending
		h.out.pending = spare[:0]
		h.mu.Unlock()

		_, err := h.c.net.Write(buf)

		h.mu.Lock()
		spare = buf
		if cap(spare) > 2*dataBacklog {
			spare = nil
		}
		before := h.out.appended - h.out.written
		h.out.written += int64(len(buf))
		if err != nil {
			h.out.err, h.out.pending = err, nil
		}
		if err != nil || before >= dataBacklog {
			h.wakeAllLocked()
		}
		if h.out.progress != nil {
			close(h.out.progress)
			h.out.progress = nil
		}
		h.mu.Unlock()
		if err != nil {
			h.interrupt()
		}
	}
}

// wakeAllLocked lets all streams that wait to send look again.
func (h *h2Conn) wakeAllLocked() {
	for _, s := range h.streams {
		wake(s.writable)
	}
}

// stopWriting ends the output once all of it is written.
func (h *h2Conn) stopWriting() {
	h.mu.Lock()
	h.out.ended = true
	wake(h.out.more)
	h.mu.Unlock()
	<-h.out.done
}

// flush waits until all frames sent so far are written.
func (h *h2Conn) flush() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for target := h.out.appended; h.out.written < target && h.out.err == nil; {
		if h.out.progress == nil {
			h.out.progress = make(chan struct{})
		}
		progress := h.out.progress
		h.mu.Unlock()
		<-progress
		h.mu.Lock()
	}
	return h.out.err
}

// sendLocked sends what a function appends: whole frames.
func (h *h2Conn) sendLocked(frames func(dst []byte) []byte) {
	if h.out.err != nil || h.out.shut || h.out.ended {
		return
	}
	before := len(h.out.pending)
	h.out.pending = frames(h.out.pending)
	h.out.appended += int64(len(h.out.pending) - before)
	wake(h.out.more)
}

func (h *h2Conn) send(frames func(dst []byte) []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sendLocked(frames)
}

// backlogLocked returns how many bytes wait.
func (h *h2Conn) backlogLocked() int64 { return h.out.appended - h.out.written }

// answer sends a frame that answers one of the client's, which must read the
// answers to go on.
func (h *h2Conn) answer(frames func(dst []byte) []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.backlogLocked() > controlBacklog {
		return connectionError(frame.EnhanceYourCalm, "does not read the answers to its frames")
	}
	h.sendLocked(frames)
	return nil
}

// shutOutput closes the writing half of the connection: the client reads io.EOF
// after what was sent before.
func (h *h2Conn) shutOutput() {
	h.mu.Lock()
	h.out.shut = true
	h.mu.Unlock()
	_ = h.flush()
	h.c.shutdownOutput()
}

// sendSettings sends a SETTINGS frame. Its values hold from the acknowledgement
// on.
func (h *h2Conn) sendSettings(settings []Setting) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range settings {
		if s.ID == SettingMaxConcurrentStreams {
			h.own.maxStreams = s.Value
		}
	}
	h.unacked = append(h.unacked, settings)
	h.sendLocked(func(dst []byte) []byte { return frame.AppendSettings(dst, frameSettings(settings)...) })
}

func (h *h2Conn) sendGoAway(last uint32, code frame.ErrCode, debug string) {
	h.send(func(dst []byte) []byte { return frame.AppendGoAway(dst, last, code, []byte(debug)) })
}

// sendHeadersLocked sends a header block on a stream.
func (h *h2Conn) sendHeadersLocked(id uint32, status string, fields []Field, end bool) {
	h.sendLocked(func(dst []byte) []byte {
		start := len(dst)
		dst = frame.BeginHeaders(dst)
		dst = h.encodeLocked(dst, status, fields)
		return frame.FinishHeaders(dst, start, id, end, h.peer.maxFrame)
	})
}

func (h *h2Conn) encodeLocked(dst []byte, status string, fields []Field) []byte {
	if status != "" {
		dst = h.out.encoder.AppendField(dst, ":status", status, false)
	}
	for _, f := range fields {
		dst = h.out.encoder.AppendField(dst, f.Name, f.Value, false)
	}
	return dst
}

// wake puts an element into a channel with room for one.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
