package http2

// resets remembers the streams that were reset last from our side: their frames
// may still be on the way, and are no offence.
type resets struct {
	ids  []uint32 // a ring once it is full
	next int
}

func (r *resets) add(id uint32) {
	if len(r.ids) < maxForgotten {
		r.ids = append(r.ids, id)
		return
	}
	r.ids[r.next] = id
	r.next = (r.next + 1) % maxForgotten
}

func (r *resets) has(id uint32) bool {
	for _, known := range r.ids {
		if known == id {
			return true
		}
	}
	return false
}
