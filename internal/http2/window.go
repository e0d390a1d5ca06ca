package http2

// window is a flow-control window of ours (RFC 9113, 5.2).
type window struct {
	left   int64 // what the peer may still send
	given  int64 // taken out of the window by bytes that nobody needs to keep any more
	size   int64
	most   int64 // to which size may grow
	update int64 // when it was last opened again
}

func (w *window) open(size int64) { w.left, w.size, w.most = size, size, windowGrowth*size }

// take counts n bytes that have come. It reports false if the peer must not have
// sent them.
func (w *window) take(n int64) bool {
	w.left -= n
	return w.left >= 0
}

// give counts n bytes whose room is free again.
func (w *window) give(n int64) { w.given += n }

// due returns by how much the window is to be opened, which is done in large
// steps, 0 for not yet. A window that was used up within two round trips is what
// holds the peer back: it grows.
func (w *window) due(now, rtt int64) int64 {
	if w.given < w.size/2 {
		return 0
	}
	n := w.given
	if rtt > 0 && w.update > 0 && now-w.update < 2*rtt && w.size < w.most {
		n += w.size
		w.size *= 2
	}
	w.update = now
	w.given = 0
	w.left += n
	return n
}
