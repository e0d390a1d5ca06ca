package linked

import (
	"slices"
	"testing"
)

type item struct {
	name  string
	first Elem[item]
	other Elem[item]
}

// want compares a list with the names of what should be in it.
func want(t *testing.T, l *List[item], names ...string) {
	t.Helper()
	var got []string
	for i := range l.All {
		got = append(got, i.name)
	}
	if !slices.Equal(got, names) || l.Len() != len(names) {
		t.Errorf("got %q, %d long; want %q", got, l.Len(), names)
	}
	var first, last string
	if i := l.First(); i != nil {
		first = i.name
	}
	if i := l.Last(); i != nil {
		last = i.name
	}
	if len(names) == 0 {
		names = []string{""}
	}
	if first != names[0] || last != names[len(names)-1] {
		t.Errorf("from %q to %q, want %q", first, last, names)
	}
}

func TestList(t *testing.T) {
	var l List[item]
	a, b, c := &item{name: "a"}, &item{name: "b"}, &item{name: "c"}
	want(t, &l)
	l.PushBack(&b.first, b)
	want(t, &l, "b")
	l.PushFront(&a.first, a)
	l.PushBack(&c.first, c)
	want(t, &l, "a", "b", "c")
	b.first.Remove() // from the middle
	want(t, &l, "a", "c")
	b.first.Remove() // it is in none
	if b.first.Linked() || !a.first.Linked() {
		t.Error("Linked is wrong")
	}
	l.PushFront(&b.first, b)
	want(t, &l, "b", "a", "c")
	c.first.Remove() // the last
	b.first.Remove() // the first
	want(t, &l, "a")
	a.first.Remove()
	want(t, &l)
}

func TestElemsOfOneOwnerAreApart(t *testing.T) {
	var l, m List[item]
	a := &item{name: "a"}
	l.PushBack(&a.first, a)
	m.PushBack(&a.other, a)
	a.first.Remove()
	want(t, &l)
	want(t, &m, "a")
}

// The one that was yielded last may be removed, and the walk may be left.
func TestAllWhileRemoving(t *testing.T) {
	var l List[item]
	items := []*item{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}}
	for _, i := range items {
		l.PushBack(&i.first, i)
	}
	for i := range l.All {
		if i.name == "d" {
			break
		}
		i.first.Remove()
	}
	want(t, &l, "d")
}
