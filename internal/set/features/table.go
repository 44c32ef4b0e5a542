package features

import (
	"iter"
	"maps"
	"slices"
)

// Table holds what was seen of each feature that records have, by key. Begin begins a record, whose
// features are then looked up in its order. Most records have the same keys in the same order, and
// cost no map access. The zero value is empty and ready for use.
type Table[V any] struct {
	byKey map[string]*entry[V]
	first *entry[V] // of the previous record
	last  *entry[V] // of the current record, so far
}

type entry[V any] struct {
	key  string
	next *entry[V] // followed it in an earlier record
	seen V
}

// Begin begins a record.
func (t *Table[V]) Begin() { t.last = nil }

// Find returns what was seen of the next feature of the record; nil if it is not in the table.
func (t *Table[V]) Find(key []byte) *V {
	e := *t.expected()
	if e == nil || e.key != string(key) {
		if e = t.byKey[string(key)]; e == nil {
			return nil
		}
		*t.expected() = e
	}
	t.last = e
	return &e.seen
}

// expected is the feature that followed the last one in an earlier record.
func (t *Table[V]) expected() **entry[V] {
	if t.last != nil {
		return &t.last.next
	}
	return &t.first
}

// Add adds the next feature of the record, which Find did not find.
func (t *Table[V]) Add(key string, seen V) *V {
	e := &entry[V]{key: key, seen: seen}
	if t.byKey == nil {
		t.byKey = make(map[string]*entry[V])
	}
	t.byKey[key] = e
	*t.expected() = e
	t.last = e
	return &e.seen
}

// Get returns what was seen of a feature of any record; nil if it is not in the table.
func (t *Table[V]) Get(key string) *V {
	if e := t.byKey[key]; e != nil {
		return &e.seen
	}
	return nil
}

// Len returns the number of features.
func (t *Table[V]) Len() int { return len(t.byKey) }

// All returns the features, sorted by key.
func (t *Table[V]) All() iter.Seq2[string, *V] {
	return func(yield func(string, *V) bool) {
		for _, key := range slices.Sorted(maps.Keys(t.byKey)) {
			if !yield(key, &t.byKey[key].seen) {
				return
			}
		}
	}
}
