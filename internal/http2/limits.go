package http2

import "time"

// What we offer (RFC 9113, 6.5.2 and 6.9).
const (
	streamWindow = 16 << 20 // bytes of a response that may come unread
	connWindow   = 64 << 20 // bytes on all streams that may be on their way: given back as they arrive
	windowGrowth = 4        // times as large either may become
	maxFrame     = 64 << 10 // of the peer's frames
)

// What a peer may do.
const (
	// maxAnswers is how many answers to the peer's frames may wait to be sent,
	// while it does not read them.
	maxAnswers = 1000

	// calmBudget is how many frames that achieve nothing a peer may send within
	// calmTime.
	calmBudget = 4000
	calmTime   = 10 * time.Second

	// fairFrame is how many bytes a frame must be worth to achieve something: a DATA
	// frame on a canceled stream, which costs the peer more than us and was on its way,
	// or a WINDOW_UPDATE.
	fairFrame = 256

	// maxGoAwayText is how much is kept of what a peer says when it goes.
	maxGoAwayText = 256

	// maxForgotten is how many of the streams that we have reset last are
	// remembered, since their frames may still be on the way.
	maxForgotten = 256

	// maxPushes is how many pushed streams may be open at once.
	maxPushes = 100

	// lastID is the last stream that is begun. There are more numbers, but a
	// connection that comes this far has earned its rest.
	lastID = 1<<31 - 1<<16 - 1
)

// What we do.
const (
	outRoom      = 64 << 10 // bytes that may wait for the socket before a request body must wait
	outKept      = 64 << 10 // of a buffer that is used again
	uploadSize   = 32 << 10 // bytes of a request body that are read at once
	maxDataFrame = 64 << 10 // whatever the peer allows, so that streams take turns
)

// Times.
const (
	// idleTick is how long a connection may be without a reader.
	idleTick = time.Second

	// silence is how long a peer may be silent while somebody waits for it before
	// it is asked whether it lives. With each answer that is followed by silence
	// it gets silenceGrowth times as long: servers of gRPC take offence at three
	// questions in five minutes.
	silence       = 3 * time.Second
	silenceGrowth = 5
	maxSilence    = 10 * time.Minute

	// pingTime is how long it may take to answer.
	pingTime = 5 * time.Second

	// doubtTime is how long nothing must have come before a stream that timed out,
	// or was canceled, puts the connection in doubt.
	doubtTime = 100 * time.Millisecond

	// lingerTime is how long a peer that has broken the protocol is given to close its
	// end, so that it hears why.
	lingerTime = 50 * time.Millisecond
)
