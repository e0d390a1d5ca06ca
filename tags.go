package okhttp

import "reflect"

// SetTag attaches a value to a call, under its type: one per type, the last one
// wins. Interceptors and listeners use it to pass state along a call. It is safe
// for concurrent use.
func SetTag[T any](c *Call, v T) {
	key := reflect.TypeFor[T]()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tags == nil {
		c.tags = map[reflect.Type]any{}
	}
	c.tags[key] = v
}

// Tag returns the value that [SetTag] attached under the type T.
func Tag[T any](c *Call) (T, bool) {
	c.mu.Lock()
	v, ok := c.tags[reflect.TypeFor[T]()].(T)
	c.mu.Unlock()
	return v, ok
}

// TagOrSet returns the value under the type T, or attaches the one that create
// makes. Concurrent callers all get the same value; create may be called more
// than once, with no lock held.
func TagOrSet[T any](c *Call, create func() T) T {
	if v, ok := Tag[T](c); ok {
		return v
	}
	made := create()
	key := reflect.TypeFor[T]()
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.tags[key].(T); ok {
		return v
	}
	if c.tags == nil {
		c.tags = map[reflect.Type]any{}
	}
	c.tags[key] = made
	return made
}
