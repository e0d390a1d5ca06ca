package mockwebserver

import (
	"context"
	"slices"
	"sync"
)

// fifo is a queue whose takers can wait, in order. The zero value is ready to
// use.
type fifo[T any] struct {
	mu      sync.Mutex
	items   []T
	waiters []chan T // who found the queue empty; each has room for one
}

// push adds at the end.
func (q *fifo[T]) push(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.serveLocked(item) {
		q.items = append(q.items, item)
	}
}

// putBack adds in front.
func (q *fifo[T]) putBack(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.putBackLocked(item)
}

func (q *fifo[T]) putBackLocked(item T) {
	if !q.serveLocked(item) {
		q.items = slices.Insert(q.items, 0, item)
	}
}

// serveLocked gives the item to who waits longest, if anybody does.
func (q *fifo[T]) serveLocked(item T) bool {
	if len(q.waiters) == 0 {
		return false
	}
	q.waiters[0] <- item
	q.waiters = q.waiters[1:]
	return true
}

// popIf takes the first item if there is one and ok accepts it. It returns the
// first item, taken or not.
func (q *fifo[T]) popIf(ok func(T) bool) (item T, exists bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return item, false
	}
	item = q.items[0]
	if ok(item) {
		var zero T
		q.items[0] = zero
		q.items = q.items[1:]
	}
	return item, true
}

func (q *fifo[T]) pop() (T, bool)  { return q.popIf(func(T) bool { return true }) }
func (q *fifo[T]) peek() (T, bool) { return q.popIf(func(T) bool { return false }) }

// wait takes the first item, and waits for one until the context ends or the
// channel is closed.
func (q *fifo[T]) wait(ctx context.Context, closed <-chan struct{}) (T, bool) {
	q.mu.Lock()
	if len(q.items) > 0 {
		item := q.items[0]
		q.items = q.items[1:]
		q.mu.Unlock()
		return item, true
	}
	waiter := make(chan T, 1)
	q.waiters = append(q.waiters, waiter)
	q.mu.Unlock()
	select {
	case item := <-waiter:
		return item, true
	case <-ctx.Done():
	case <-closed:
	}
	return q.abandon(waiter)
}

// abandon ends a wait. An item that came at the last moment is taken.
func (q *fifo[T]) abandon(waiter chan T) (item T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters = slices.DeleteFunc(q.waiters, func(w chan T) bool { return w == waiter })
	select {
	case item = <-waiter:
		return item, true
	default:
		return item, false
	}
}

func (q *fifo[T]) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

func (q *fifo[T]) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = nil
}
