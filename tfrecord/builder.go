package tfrecord

import (
	"encoding/binary"
	"math"
	"slices"
)

// Builder encodes a tf.train.Example directly in wire format, with keys in byte order, so that
// equal features give equal bytes whatever order they were added in. A protocol buffer library with
// deterministic output gives the same bytes.
//
// Each feature is a call with its key, which should be UTF-8, and its values, which are copied. The
// last values of a repeated key win. Calls in key order are the fastest. A Builder that is Reset
// and reused does not allocate. The zero Builder is ready for use.
type Builder struct {
	entries []byte // map entries, in call order
	index   mapIndex
}

// Reset removes all features and keeps the memory.
func (b *Builder) Reset() {
	b.entries = b.entries[:0]
	b.index.reset()
}

// Int64 sets a feature to an Int64List.
func (b *Builder) Int64(key string, v ...int64) {
	size := sizeInt64List(v)
	b.begin(key, size)
	b.entries = appendInt64List(b.entries, v, size)
}

// Float sets a feature to a FloatList.
func (b *Builder) Float(key string, v ...float32) {
	size := sizeFloatList(v)
	b.begin(key, size)
	b.entries = appendFloatList(b.entries, v, size)
}

// Bytes sets a feature to a BytesList.
func (b *Builder) Bytes(key string, v ...[]byte) {
	size := sizeBytesList(v)
	b.begin(key, size)
	b.entries = appendBytesList(b.entries, v, size)
}

// String sets a feature to a BytesList of the strings' bytes.
func (b *Builder) String(key string, v ...string) {
	size := sizeBytesList(v)
	b.begin(key, size)
	b.entries = appendBytesList(b.entries, v, size)
}

// Feature sets a feature to one of a parsed message, with its values as they are encoded there.
func (b *Builder) Feature(key string, f Feature) {
	if f.kind == KindNone {
		b.beginValue(key, 0)
		return
	}
	b.begin(key, len(f.list))
	b.entries = appendVarint(append(b.entries, listTags[f.kind]), uint64(len(f.list)))
	b.entries = append(b.entries, f.list...)
}

// listTags are the tags of the lists in a Feature.
var listTags = [...]byte{KindBytes: tagBytesList, KindFloat: tagFloatList, KindInt64: tagInt64List}

// Append appends the serialized Example to dst. The Builder keeps its features.
func (b *Builder) Append(dst []byte) []byte {
	return b.index.append(dst, tagExampleFeatures, b.entries)
}

// AppendAround appends the serialized Example with one more feature, a BytesList of a value of size
// bytes, but without the value: it belongs at around[at:]. That saves copies of a large value. The
// feature replaces any of its key. The Builder must be Reset before it is used again.
func (b *Builder) AppendAround(dst []byte, key string, size int) (around []byte, at int) {
	list := sizeField(size)
	b.begin(key, list)
	b.entries = appendVarint(append(b.entries, tagBytesList), uint64(list))
	b.entries = appendVarint(append(b.entries, tagBytes), uint64(size))
	last := len(b.index.spans) - 1
	b.index.spans[last].end = len(b.entries)
	return b.index.appendAround(dst, tagExampleFeatures, b.entries, last, size)
}

// begin appends an entry up to its Feature's list, whose content is size bytes.
func (b *Builder) begin(key string, size int) { b.beginValue(key, sizeField(size)) }

// beginValue appends an entry up to its Feature, which is size bytes.
func (b *Builder) beginValue(key string, size int) {
	s := span{begin: len(b.entries)}
	b.entries = appendEntryHead(b.entries, key, size)
	s.end = len(b.entries) + size
	s.keyEnd = len(b.entries) - sizeField(size) + size
	s.keyBegin = s.keyEnd - len(key)
	b.index.begin(b.entries, s)
}

// appendEntryHead appends a map entry up to the content of its value, which is
// size bytes.
func appendEntryHead(dst []byte, key string, size int) []byte {
	entry := sizeField(len(key)) + sizeField(size)
	if entry < 0x80 { // then all sizes in it are, too
		dst = append(dst, tagEntry, byte(entry), tagKey, byte(len(key)))
		dst = append(dst, key...)
		return append(dst, tagValue, byte(size))
	}
	dst = appendVarint(append(dst, tagEntry), uint64(entry))
	dst = appendVarint(append(dst, tagKey), uint64(len(key)))
	dst = append(dst, key...)
	return appendVarint(append(dst, tagValue), uint64(size))
}

// sizeField returns the size of a length-delimited field, including its one-byte tag and its
// length.
func sizeField(content int) int {
	if content < 0x80 {
		return 2 + content
	}
	return 1 + sizeVarint(uint64(content)) + content
}

// Helpers for lists: the size of a list's content, and appending a Feature with that content.

func sizeInt64List(v []int64) int {
	if len(v) == 0 {
		return 0
	}
	return sizeField(sizePackedInts(v))
}

func sizePackedInts(v []int64) (size int) {
	for _, x := range v {
		size += sizeVarint(uint64(x))
	}
	return size
}

func appendInt64List(dst []byte, v []int64, size int) []byte {
	dst = appendVarint(append(dst, tagInt64List), uint64(size))
	if len(v) == 0 {
		return dst
	}
	dst = appendVarint(append(dst, tagPacked), uint64(sizePackedInts(v)))
	for _, x := range v {
		dst = appendVarint(dst, uint64(x))
	}
	return dst
}

func sizeFloatList(v []float32) int {
	if len(v) == 0 {
		return 0
	}
	return sizeField(4 * len(v))
}

func appendFloatList(dst []byte, v []float32, size int) []byte {
	dst = appendVarint(append(dst, tagFloatList), uint64(size))
	if len(v) == 0 {
		return dst
	}
	dst = appendVarint(append(dst, tagPacked), uint64(4*len(v)))
	dst = slices.Grow(dst, 4*len(v))
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

func sizeBytesList[T string | []byte](v []T) (size int) {
	for _, x := range v {
		size += sizeField(len(x))
	}
	return size
}

func appendBytesList[T string | []byte](dst []byte, v []T, size int) []byte {
	dst = appendVarint(append(dst, tagBytesList), uint64(size))
	for _, x := range v {
		dst = appendVarint(append(dst, tagBytes), uint64(len(x)))
		dst = append(dst, x...)
	}
	return dst
}
