package tfrecord

import (
	"bytes"
	"slices"
	"sort"
)

// keyed is a map from the wire: entries in input order, then sorted by key, with the last of each
// key. It remembers the permutation, since the next record mostly has the same key order.
type keyed[V any] struct {
	list     []entry[V]
	spare    []entry[V]
	order    []int // order[i] is the input position of the i-th sorted entry
	unsorted bool
}

type entry[V any] struct {
	key   []byte
	value V
}

func (m *keyed[V]) reset() {
	m.list, m.unsorted = m.list[:0], false
}

func (m *keyed[V]) add(key []byte, value V) {
	if n := len(m.list); n > 0 {
		c := bytes.Compare(m.list[n-1].key, key)
		if c == 0 {
			m.list[n-1].value = value
			return
		}
		m.unsorted = m.unsorted || c > 0
	}
	m.list = append(m.list, entry[V]{key, value})
}

// sort sorts the entries once all are added.
func (m *keyed[V]) sort() {
	if !m.unsorted {
		return
	}
	if !m.inOrder() {
		m.order = m.order[:0]
		for i := range m.list {
			m.order = append(m.order, i)
		}
		slices.SortStableFunc(m.order, func(a, b int) int { return bytes.Compare(m.list[a].key, m.list[b].key) })
	}
	m.spare = m.spare[:0]
	for i, at := range m.order {
		e := m.list[at]
		if n := len(m.spare); i > 0 && bytes.Equal(m.spare[n-1].key, e.key) {
			m.spare[n-1] = e
			continue
		}
		m.spare = append(m.spare, e)
	}
	m.list, m.spare = m.spare, m.list
}

// inOrder reports whether order sorts the list, without duplicate keys.
func (m *keyed[V]) inOrder() bool {
	if len(m.order) != len(m.list) {
		return false
	}
	for i := 1; i < len(m.order); i++ {
		if bytes.Compare(m.list[m.order[i-1]].key, m.list[m.order[i]].key) >= 0 {
			return false
		}
	}
	return true
}

func (m *keyed[V]) get(key string) (value V, ok bool) {
	i := sort.Search(len(m.list), func(i int) bool { return string(m.list[i].key) >= key })
	if i < len(m.list) && string(m.list[i].key) == key {
		return m.list[i].value, true
	}
	return value, false
}
