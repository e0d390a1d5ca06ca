package okhttp

// EventListener receives the events of calls.
//
// A listener given to [WithEventListener] serves all calls of a client, so it
// is used from many goroutines at once. The events of one call come one after
// another, except [Canceled], the events of racing connects, and those of a
// request body that is still being sent when the response arrives. The client
// holds no lock while it calls OnEvent; a listener that blocks holds up its
// call. OnEvent must not call [Client.Close].
type EventListener interface {
	OnEvent(call *Call, event Event)
}

// EventListenerFunc makes a listener of a function.
type EventListenerFunc func(call *Call, event Event)

// OnEvent calls f.
func (f EventListenerFunc) OnEvent(call *Call, event Event) { f(call, event) }

// EventListenerFactory makes a listener for one call, before the call's first
// event, so the listener's fields can be that call's state. It may return nil.
type EventListenerFactory func(call *Call) EventListener

// JoinListeners makes one listener of several. They are called from left to
// right; nil ones are left out, and joined ones are taken apart first. With
// nothing left it returns nil, with one listener that listener itself.
func JoinListeners(listeners ...EventListener) EventListener {
	var all joinedListeners
	for _, l := range listeners {
		switch l := l.(type) {
		case nil:
		case joinedListeners:
			all = append(all, l...)
		default:
			all = append(all, l)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

type joinedListeners []EventListener

func (j joinedListeners) OnEvent(call *Call, event Event) {
	for _, l := range j {
		l.OnEvent(call, event)
	}
}
