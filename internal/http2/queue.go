package http2

import "sync"

// queue holds bytes of a response body that nobody has read yet, in pieces.
type queue struct {
	first, last *piece
	size        int64
}

// piece is a part of a queue. Its size is one of pieceSizes.
type piece struct {
	next *piece
	r, w int
	b    []byte
}

var pieceSizes = [...]int{1 << 10, 16 << 10, 64 << 10}

var pieces [len(pieceSizes)]sync.Pool

func getPiece(n int) *piece {
	class := 0
	for class < len(pieceSizes)-1 && pieceSizes[class] < n {
		class++
	}
	if p, ok := pieces[class].Get().(*piece); ok {
		return p
	}
	return &piece{b: make([]byte, pieceSizes[class])}
}

func putPiece(p *piece) {
	p.next, p.r, p.w = nil, 0, 0
	for class, size := range pieceSizes {
		if len(p.b) == size {
			pieces[class].Put(p)
		}
	}
}

func (q *queue) len() int64 { return q.size }

// add copies b to the end. more is what is likely to follow soon.
func (q *queue) add(b []byte, more int) {
	q.size += int64(len(b))
	for len(b) > 0 {
		if q.last == nil || q.last.w == len(q.last.b) {
			p := getPiece(len(b) + more)
			if q.last == nil {
				q.first = p
			} else {
				q.last.next = p
			}
			q.last = p
		}
		n := copy(q.last.b[q.last.w:], b)
		q.last.w += n
		b = b[n:]
	}
}

// read moves bytes from the front into p.
func (q *queue) read(p []byte) (n int) {
	for n < len(p) && q.first != nil {
		f := q.first
		m := copy(p[n:], f.b[f.r:f.w])
		f.r += m
		n += m
		if f.r == f.w {
			putPiece(q.pop())
		}
	}
	q.size -= int64(n)
	return n
}

// pop takes the first piece out, whatever is in it.
func (q *queue) pop() *piece {
	f := q.first
	q.first = f.next
	if q.first == nil {
		q.last = nil
	}
	f.next = nil
	return f
}

// take is pop for one who reads the piece elsewhere.
func (q *queue) take() *piece {
	f := q.pop()
	q.size -= int64(f.w - f.r)
	return f
}

// back puts a piece to the front again.
func (q *queue) back(p *piece) {
	p.next = q.first
	q.first = p
	if q.last == nil {
		q.last = p
	}
	q.size += int64(p.w - p.r)
}

// drop empties the queue, and tells how much was in it.
func (q *queue) drop() int64 {
	n := q.size
	for q.first != nil {
		putPiece(q.pop())
	}
	q.size = 0
	return n
}
