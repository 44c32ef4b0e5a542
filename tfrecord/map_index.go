package tfrecord

import (
	"bytes"
	"slices"
)

// mapIndex records the positions of map entries in a buffer, and copies them out in key order, the
// last one of each key.
type mapIndex struct {
	spans    []span
	order    []int // order[i] is the i-th span by key; kept for the next map
	unsorted bool
}

// span is the range of an entry and of its key.
type span struct{ begin, keyBegin, keyEnd, end int }

func (m *mapIndex) reset() {
	m.spans, m.unsorted = m.spans[:0], false
}

// begin records an entry of buf, which is written up to its key.
func (m *mapIndex) begin(buf []byte, s span) {
	if n := len(m.spans); n > 0 && !m.unsorted {
		last := &m.spans[n-1]
		m.unsorted = bytes.Compare(buf[last.keyBegin:last.keyEnd], buf[s.keyBegin:s.keyEnd]) >= 0
	}
	m.spans = append(m.spans, s)
}

// append appends to dst the field tag with the map of buf's entries.
func (m *mapIndex) append(dst []byte, tag byte, buf []byte) []byte {
	if !m.unsorted {
		dst = appendVarint(append(dst, tag), uint64(len(buf)))
		return append(dst, buf...)
	}
	dst, _ = m.appendAround(dst, tag, buf, -1, 0)
	return dst
}

// appendAround is append for a map whose entry number cut, -1 for none, is in buf without its last
// missing bytes. They belong at around[at:].
func (m *mapIndex) appendAround(dst []byte, tag byte, buf []byte, cut, missing int) (around []byte, at int) {
	m.sort(buf)
	size := missing
	for _, i := range m.order {
		size += m.spans[i].end - m.spans[i].begin
	}
	dst = appendVarint(append(dst, tag), uint64(size))
	for _, i := range m.order {
		if dst = append(dst, buf[m.spans[i].begin:m.spans[i].end]...); i == cut {
			at = len(dst)
		}
	}
	return dst, at
}

// sort sets order to all spans, so that it can be tried on the next map, and empties those with a
// later duplicate.
func (m *mapIndex) sort(buf []byte) {
	key := func(i int) []byte { return buf[m.spans[i].keyBegin:m.spans[i].keyEnd] }
	if m.inOrder(buf) {
		return
	}
	m.order = m.order[:0]
	for i := range m.spans {
		m.order = append(m.order, i)
	}
	slices.SortStableFunc(m.order, func(a, b int) int { return bytes.Compare(key(a), key(b)) })
	for k, i := range m.order[:len(m.order)-1] {
		if bytes.Equal(key(i), key(m.order[k+1])) {
			m.spans[i].end = m.spans[i].begin // the later one wins
		}
	}
}

// inOrder reports whether order sorts all spans, without duplicate keys.
func (m *mapIndex) inOrder(buf []byte) bool {
	if len(m.order) != len(m.spans) {
		return false
	}
	var before []byte
	for k, i := range m.order {
		key := buf[m.spans[i].keyBegin:m.spans[i].keyEnd]
		if k > 0 && bytes.Compare(before, key) >= 0 {
			return false
		}
		before = key
	}
	return true
}
