package http1

import "sync"

// Sizes of the buffers that an exchange takes and gives back.
const (
	readSize  = 4 << 10   // holds nearly every response head
	writeSize = 4 << 10   // holds nearly every request head; grows by appending
	copySize  = 256 << 10 // of a response body: fewer system calls; more gains nothing

	// uploadSize is how much of a request body is read at a time: what was just
	// read is still in the processor's cache when it is written. It is also the
	// most that is handed to TLS in one write. Such a write cannot be resumed after
	// its timeout, so a slow peer must be able to take this much within one.
	uploadSize = 64 << 10

	// keptSize is the largest buffer that goes back into a pool. A rare large
	// one must not stay for the life of the process.
	keptSize = 64 << 10
)

// page is a read buffer with the scratch space of the parser.
type page struct {
	bytes  []byte
	fields []field
}

// Pools of pointers, because putting a bare slice into a pool allocates.
var (
	pages   = sync.Pool{New: func() any { return &page{bytes: make([]byte, readSize), fields: make([]field, 0, 32)} }}
	outputs = sync.Pool{New: func() any { b := make([]byte, 0, writeSize); return &b }}
	copies  = sync.Pool{New: func() any { return new([copySize]byte) }}
	uploads = sync.Pool{New: func() any { return new([uploadSize]byte) }}
)

func freePage(p *page) {
	if cap(p.bytes) == readSize && cap(p.fields) <= 1024 {
		p.fields = p.fields[:0]
		pages.Put(p)
	}
}

func freeOutput(b *[]byte) {
	if cap(*b) <= keptSize {
		*b = (*b)[:0]
		outputs.Put(b)
	}
}
