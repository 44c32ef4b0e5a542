package tfrecord

import (
	"slices"
	"strings"
)

// SequenceBuilder encodes a tf.train.SequenceExample directly in wire format, with keys in byte
// order. Context features go to Context; each call of a method here adds one step, which is copied,
// to the list with that key. The lists may differ in length, and calls for different keys may
// alternate. The zero SequenceBuilder is ready for use.
type SequenceBuilder struct {
	Context Builder
	lists   []stepList
	byKey   map[string]int // index into lists
	order   []int
}

// stepList is the content of a FeatureList.
type stepList struct {
	key   string
	steps []byte
}

// Reset removes context and lists and keeps the memory.
func (b *SequenceBuilder) Reset() {
	b.Context.Reset()
	b.lists = b.lists[:0]
	clear(b.byKey)
}

// List adds an empty list with that key unless the key has a list already.
func (b *SequenceBuilder) List(key string) { b.list(key) }

// Int64 adds a step with an Int64List.
func (b *SequenceBuilder) Int64(key string, v ...int64) {
	l, size := b.list(key), sizeInt64List(v)
	l.steps = appendInt64List(l.begin(size), v, size)
}

// Float adds a step with a FloatList.
func (b *SequenceBuilder) Float(key string, v ...float32) {
	l, size := b.list(key), sizeFloatList(v)
	l.steps = appendFloatList(l.begin(size), v, size)
}

// Bytes adds a step with a BytesList.
func (b *SequenceBuilder) Bytes(key string, v ...[]byte) {
	l, size := b.list(key), sizeBytesList(v)
	l.steps = appendBytesList(l.begin(size), v, size)
}

// String adds a step with a BytesList of the strings' bytes.
func (b *SequenceBuilder) String(key string, v ...string) {
	l, size := b.list(key), sizeBytesList(v)
	l.steps = appendBytesList(l.begin(size), v, size)
}

// Append appends the serialized SequenceExample to dst. The builder keeps its content.
func (b *SequenceBuilder) Append(dst []byte) []byte {
	if len(b.Context.entries) > 0 {
		dst = b.Context.Append(dst)
	}
	if len(b.lists) == 0 {
		return dst
	}
	b.order = b.order[:0]
	size := 0
	for i, l := range b.lists {
		b.order = append(b.order, i)
		size += sizeField(sizeField(len(l.key)) + sizeField(len(l.steps)))
	}
	slices.SortFunc(b.order, func(i, j int) int { return strings.Compare(b.lists[i].key, b.lists[j].key) })
	dst = appendVarint(append(dst, tagFeatureLists), uint64(size))
	for _, i := range b.order {
		l := &b.lists[i]
		dst = append(appendEntryHead(dst, l.key, len(l.steps)), l.steps...)
	}
	return dst
}

func (b *SequenceBuilder) list(key string) *stepList {
	i, ok := b.byKey[key]
	if !ok {
		if b.byKey == nil {
			b.byKey = map[string]int{}
		}
		i = len(b.lists)
		b.byKey[key] = i
		b.lists = slices.Grow(b.lists, 1)[:i+1]
		b.lists[i].key, b.lists[i].steps = key, b.lists[i].steps[:0]
	}
	return &b.lists[i]
}

// begin appends a step up to its Feature's list, whose content is size bytes.
func (l *stepList) begin(size int) []byte {
	return appendVarint(append(l.steps, tagStep), uint64(sizeField(size)))
}
