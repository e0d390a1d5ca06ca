package connect

// list is a doubly linked list whose elements live in what they link, so that
// joining and leaving cost no allocation and no search.
type list[T any] struct {
	front, back *elem[T]
	len         int
}

// elem is one membership of its owner in one list.
type elem[T any] struct {
	prev, next *elem[T]
	in         *list[T]
	owner      *T
}

func (l *list[T]) first() *T {
	if l.front == nil {
		return nil
	}
	return l.front.owner
}

func (l *list[T]) last() *T {
	if l.back == nil {
		return nil
	}
	return l.back.owner
}

func (l *list[T]) pushFront(e *elem[T], owner *T) {
	e.owner, e.in, e.prev, e.next = owner, l, nil, l.front
	if l.front != nil {
		l.front.prev = e
	} else {
		l.back = e
	}
	l.front = e
	l.len++
}

func (l *list[T]) pushBack(e *elem[T], owner *T) {
	e.owner, e.in, e.next, e.prev = owner, l, nil, l.back
	if l.back != nil {
		l.back.next = e
	} else {
		l.front = e
	}
	l.back = e
	l.len++
}

// remove takes e out of the list that it is in; it does nothing if it is in none.
func (e *elem[T]) remove() {
	l := e.in
	if l == nil {
		return
	}
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		l.front = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		l.back = e.prev
	}
	l.len--
	*e = elem[T]{}
}
