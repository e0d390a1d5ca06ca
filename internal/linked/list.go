// Package linked is a list whose elements live in what they link.
package linked

// List is doubly linked. Its elements live in what they link, so joining and
// leaving cost no allocation and no search. The zero value is empty. It is not
// safe for concurrent use.
type List[T any] struct {
	front, back *Elem[T]
	len         int
}

// Elem is one membership of its owner in one list.
type Elem[T any] struct {
	prev, next *Elem[T]
	in         *List[T]
	owner      *T
}

// Linked reports whether e is in a list.
func (e *Elem[T]) Linked() bool { return e.in != nil }

// Len counts.
func (l *List[T]) Len() int { return l.len }

// All yields the owners from the front to the back. The one that was yielded
// last may be removed meanwhile.
func (l *List[T]) All(yield func(*T) bool) {
	for e := l.front; e != nil; {
		next := e.next
		if !yield(e.owner) {
			return
		}
		e = next
	}
}

// First returns the owner at the front, nil if the list is empty.
func (l *List[T]) First() *T {
	if l.front == nil {
		return nil
	}
	return l.front.owner
}

// Last returns the owner at the back, nil if the list is empty.
func (l *List[T]) Last() *T {
	if l.back == nil {
		return nil
	}
	return l.back.owner
}

// PushFront puts owner at the front, by its element e, which must be in no list.
func (l *List[T]) PushFront(e *Elem[T], owner *T) {
	e.owner, e.in, e.prev, e.next = owner, l, nil, l.front
	if l.front != nil {
		l.front.prev = e
	} else {
		l.back = e
	}
	l.front = e
	l.len++
}

// PushBack puts owner at the back, by its element e, which must be in no list.
func (l *List[T]) PushBack(e *Elem[T], owner *T) {
	e.owner, e.in, e.next, e.prev = owner, l, nil, l.back
	if l.back != nil {
		l.back.next = e
	} else {
		l.front = e
	}
	l.back = e
	l.len++
}

// Remove takes e out of the list that it is in; it does nothing if it is in none.
func (e *Elem[T]) Remove() {
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
	*e = Elem[T]{}
}
