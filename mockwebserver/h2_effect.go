package mockwebserver

// act performs the effects of the response at a trigger. A request that they cut
// short is recorded before. It reports whether the stream goes on.
func (x *h2Exchange) act(at Trigger) bool {
	if x.response.endsAt(at) {
		x.record(ErrScripted)
	}
	for _, e := range x.response.effects {
		if e.at == at && !x.perform(e.Effect) {
			x.over.Store(true)
			return false
		}
	}
	return true
}

func (x *h2Exchange) perform(e Effect) bool {
	_ = x.h.flush() // if that fails, so does what comes next
	switch e.kind {
	case effectNone:
	case effectPause:
		return x.sleep(e.wait)
	case effectCall:
		e.call(x.s.ctx)
		return x.s.ctx.Err() == nil
	case effectShutdownInput:
		if half, ok := x.c.raw.(interface{ CloseRead() error }); ok {
			_ = half.CloseRead()
		}
	case effectShutdownOutput:
		x.h.shutOutput()
	case effectClose, effectFailHandshake:
		x.h.close()
		return false
	case effectReset:
		x.c.reset()
		return false
	case effectStall:
		<-x.s.watched.Done()
		return false
	}
	return true
}
