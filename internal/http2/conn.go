// Package http2 is the client's half of HTTP/2 (RFC 9113): a [Conn] carries many
// exchanges at once over one connection, each of which is a [Stream]. It knows no
// client and no pool; to whoever holds it, it tells what becomes of it through
// [Reports].
//
// Who does the work:
//
//   - Whoever sends appends frames to the connection's one output buffer, under
//     the lock, and the first of them sends it for all, without waiting for the
//     peer. Only when the socket takes no more does a goroutine wait for it.
//   - Whoever waits for a response reads the connection, for all, if nobody else
//     does. Once a second one waits a goroutine takes the reading over, and gives
//     it up when it has been alone with one caller for a while.
//   - A connection that nobody reads, idle or not, gets that goroutine after a
//     second, so that pings are answered and a farewell is noticed. While no
//     stream is open it waits without a buffer.
//
// There is one lock, Conn.mu. No I/O that can wait and no callback happens under
// it. One timer serves all deadlines of a connection.
package http2

import (
	"errors"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/okhttp-go/okhttp/internal/http2/frame"
	"github.com/okhttp-go/okhttp/internal/http2/hpack"
	"github.com/okhttp-go/okhttp/internal/httpsem"
)

// ErrNothing is what [Socket.ReadNow] gives where nothing has arrived.
var ErrNothing = errors.New("nothing has arrived")

// Socket is what a connection runs on. One goroutine at a time reads (Read,
// ReadNow, WaitReadable) and one writes (WriteNow, Drain); the others may be
// called at any time.
type Socket interface {
	// Read waits for bytes, until the read deadline. Nothing is lost when that
	// passes.
	Read(p []byte) (int, error)

	// SetReadDeadline bounds Read and WaitReadable, also one that waits already.
	SetReadDeadline(t time.Time) error

	// ReadNow is Read that does not wait: it gives 0 and ErrNothing instead.
	ReadNow(p []byte) (int, error)

	// WriteNow sends what can be sent without waiting and keeps the rest. If it
	// kept something Drain must be called before the next WriteNow.
	WriteNow(p []byte) (kept bool, err error)

	// Drain waits until what was kept is sent.
	Drain() error

	// WaitReadable waits, without a buffer, until Read would not wait, or fails with
	// errors.ErrUnsupported.
	WaitReadable() error

	// Close ends everything at once.
	Close() error

	// CloseGracefully says goodbye if that takes no time, waits as long as linger for
	// the peer to close its end, and closes.
	CloseGracefully(linger time.Duration)
}

// Reports are what a connection tells of itself. They are called without its
// lock, one at a time and in order. They must not block nor call back.
type Reports struct {
	LimitChanged func(streams int) // how many streams the peer allows at once
	Suspect      func(why string)  // whether it lives is in doubt; "" ends that
	Retired      func(why string)  // no stream may begin any more; those that are open go on
	Closed       func(error)       // all streams have failed, and the socket is closed
}

// Config is how a connection is to be. Its Reports must be complete.
type Config struct {
	Reports Reports

	// PingInterval is how long the peer may be silent before it is asked whether it
	// lives, even if no stream is open. It then has as long to answer. 0 means that
	// it is asked only while there is reason to doubt it.
	PingInterval time.Duration

	// Push returns what takes the pushes of one connection; nil refuses them all.
	Push func() PushHandler
}

// Conn is a connection. Its methods may be called by many goroutines at once.
type Conn struct {
	socket Socket
	config Config
	origin time.Time // all times below are nanoseconds since

	// Owned by the reading turn.
	in      input
	decoder hpack.Decoder
	blocks  frame.Blocks
	data    incoming // the DATA frame in progress
	open    blockOf  // whose header block is being read
	toWake  []*half
	greeted bool // the peer's first SETTINGS came
	calm    int  // useless frames that it may still send
	calmAt  int64
	pushes  *pushes // nil where pushes are refused

	unfit atomic.Bool // err or retired is set

	mu sync.Mutex

	// Life.
	err     error         // why everything has failed; nil while it lives
	linger  time.Duration // for shut
	retired string
	away    *httpsem.GoAwayError // what the peer said when it retired
	refused int                  // streams that the peer has refused
	pending []func()             // reports to be made
	telling bool
	workers sync.WaitGroup // the loop, and whoever drains

	// Streams.
	streams   map[uint32]*Stream
	nextID    uint32
	forgotten resets
	promised  uint32 // the highest stream that the peer has promised

	// What the peer has set (RFC 9113, 6.5.2).
	encoder       hpack.Encoder
	peerWindow    int64 // initial, of streams
	peerFrame     int
	peerList      uint32
	peerConnect   bool // extended CONNECT (RFC 8441)
	settingsAcked bool // the peer has acknowledged ours
	rtt           int64

	// Flow control of the connection.
	sendWindow int64
	updates    int       // of windows that the peer may still send in return for DATA
	blocked    []*Stream // wait for the window above, or for room in out
	recv       window

	// Writing.
	out      *[]byte // frames that wait to be sent; nil for none
	began    bool    // the preface is in out, or was
	flushing bool    // somebody sends, or drains
	draining bool
	taken    int64 // bytes ever handed to the socket
	answers  int   // frames in out that answer the peer's

	// Reading.
	reading  readingTurn
	reader   *half // the one that reads, if a caller does
	parked   bool  // the loop waits with a buffer
	kicked   bool  // the read deadline has passed on purpose
	waiting  int   // callers that wait
	most     int   // of them, since the last read
	lonely   int   // reads in a row for which there was one at most
	releases int   // of the turn; for tick

	// Time.
	timer   *time.Timer
	timerAt int64 // 0: not armed
	idleFor int   // releases at the last tick
	live    liveness
}

// New makes a connection of a socket. Nothing is sent before Start or the first
// stream.
func New(s Socket, config Config) *Conn {
	c := &Conn{socket: s, config: config, origin: time.Now()}
	c.decoder.Canonical = true
	c.calm = calmBudget
	c.nextID = 1
	c.streams = map[uint32]*Stream{}
	c.peerWindow, c.peerFrame, c.peerList = frame.InitialWindow, frame.MinMaxFrameSize, math.MaxUint32
	c.sendWindow = frame.InitialWindow
	c.recv.open(connWindow)
	if config.Push != nil {
		c.pushes = newPushes(config.Push())
	}
	return c
}

// now is the time since the connection was made, and never 0.
func (c *Conn) now() int64 { return int64(time.Since(c.origin)) + 1 }

// Start sends the preface, where no stream does so.
func (c *Conn) Start() {
	c.mu.Lock()
	if c.err == nil {
		c.beginLocked()
		c.armLocked(c.now() + int64(idleTick))
		c.flushLocked()
	}
	c.unlock()
}

// beginLocked writes what a connection begins with (RFC 9113, 3.4).
func (c *Conn) beginLocked() {
	if c.began {
		return
	}
	c.began = true
	out := c.outLocked()
	b := append(*out, frame.ClientPreface...)
	settings := [...]frame.Setting{
		{ID: frame.EnablePush, Value: 0},
		{ID: frame.InitialWindowSize, Value: streamWindow},
		{ID: frame.MaxFrameSize, Value: maxFrame},
	}
	if c.pushes != nil {
		settings[0] = frame.Setting{ID: frame.MaxConcurrentStreams, Value: maxPushes}
	}
	b = frame.AppendSettings(b, settings[:]...)
	*out = frame.AppendWindowUpdate(b, 0, connWindow-frame.InitialWindow)
	c.live.started = c.now()
}

// Check takes in what has arrived, without waiting, and says why no stream should
// begin.
func (c *Conn) Check() error {
	c.mu.Lock()
	if c.reading == nobodyReads && c.err == nil {
		c.reading = callerReads
		c.reader = nil
		c.unlock()
		err := c.takeArrived()
		c.mu.Lock()
		c.releaseLocked(err)
		c.flushLocked()
	}
	err := c.unusableLocked()
	c.unlock()
	return err
}

// unusableLocked says why no stream may begin.
func (c *Conn) unusableLocked() error {
	switch {
	case c.err != nil:
		return c.err
	case c.away != nil:
		return c.away
	case c.retired != "":
		return errors.New(c.retired)
	}
	return nil
}

// ExtendedConnect reports whether the peer takes CONNECT with a protocol of its
// own, such as WebSocket (RFC 8441, 3).
func (c *Conn) ExtendedConnect() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peerConnect
}

// Close ends the connection and all its streams, and returns when its goroutines
// have ended. A graceful one says goodbye to the peer.
func (c *Conn) Close(graceful bool) {
	if graceful {
		_ = c.Check() // an offence that has arrived unread is answered with its own code
	}
	c.mu.Lock()
	if c.err == nil {
		c.closeLocked(net.ErrClosed, frame.NoError, graceful)
	}
	c.unlock()
	c.workers.Wait()
}

// faultLocked ends the connection because of what the peer has done (RFC 9113,
// 5.4.1).
func (c *Conn) faultLocked(err error) {
	code, err := faultOf(err)
	c.linger = lingerTime
	c.closeLocked(err, code, true)
}

// closeLocked ends everything, once. With farewell the peer is told the code, if
// that takes no time.
func (c *Conn) closeLocked(err error, code frame.ErrCode, farewell bool) {
	if c.err != nil {
		return
	}
	c.err = err
	c.unfit.Store(true)
	var last *[]byte
	if farewell && c.began && !c.flushing {
		last = c.outLocked()
		*last = frame.AppendGoAway(*last, c.pushes.last(), code, nil)
		c.taken += int64(len(*last))
		c.out = nil
	}
	c.dropOutLocked()
	for id, s := range c.streams {
		delete(c.streams, id)
		s.failLocked(err, err)
	}
	c.blocked = nil
	c.stopTimerLocked()
	c.pending = append(c.pending, func() { c.shut(err, last, farewell) })
}

// shut closes the socket, after the last of what is to be said.
func (c *Conn) shut(err error, last *[]byte, farewell bool) {
	if last != nil {
		_, _ = c.socket.WriteNow(*last) // if the peer does not hear it, that is all one
	}
	if farewell {
		c.socket.CloseGracefully(c.linger)
	} else {
		_ = c.socket.Close()
	}
	if c.pushes != nil {
		c.pushes.handler.Lost(err)
	}
	if err == net.ErrClosed {
		err = nil
	}
	c.config.Reports.Closed(err)
}

// retireLocked keeps streams from beginning.
func (c *Conn) retireLocked(why string) {
	if c.retired == "" && c.err == nil {
		c.retired = why
		c.unfit.Store(true)
		c.pending = append(c.pending, func() { c.config.Reports.Retired(why) })
	}
}

// unlock gives the lock back, and makes the reports that came up under it.
func (c *Conn) unlock() {
	if len(c.pending) == 0 || c.telling {
		c.mu.Unlock()
		return
	}
	c.telling = true
	for len(c.pending) > 0 {
		report := c.pending[0]
		c.pending = c.pending[1:]
		c.mu.Unlock()
		report()
		c.mu.Lock()
	}
	c.pending, c.telling = nil, false
	c.mu.Unlock()
}
