package tfrecord

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
)

// Kind is the type of a feature's values.
type Kind uint8

// The kinds of a tf.train.Feature.
const (
	KindNone  Kind = iota // no list is set
	KindBytes             // [][]byte
	KindFloat             // []float32
	KindInt64             // []int64
)

var kindNames = [...]string{KindNone: "none", KindBytes: "bytes", KindFloat: "float", KindInt64: "int64"}

// String returns none, bytes, float or int64.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// ParseKind returns the kind with the given String: bytes, float or int64.
func ParseKind(name string) (Kind, error) {
	for k := KindBytes; int(k) < len(kindNames); k++ {
		if kindNames[k] == name {
			return k, nil
		}
	}
	return KindNone, fmt.Errorf("%q is not a kind of values: want bytes, float or int64", name)
}

// Feature is a view of one feature's values in a parsed message. It aliases the parsed message, is
// valid until the next Parse, and is cheap to copy. The zero Feature has KindNone.
type Feature struct {
	kind Kind
	n    int
	list []byte // validated content of the BytesList, FloatList or Int64List
}

// Kind returns the type of the values.
func (f Feature) Kind() Kind { return f.kind }

// Len returns the number of values.
func (f Feature) Len() int { return f.n }

// Int64 returns the first value; false if the feature has none or is of another kind.
func (f Feature) Int64() (int64, bool) {
	if f.kind != KindInt64 || f.n == 0 {
		return 0, false
	}
	for it := f.walk(); ; {
		tag, value := it.next()
		if tag == tagVarint || tag == tagPacked && len(value) > 0 {
			v, _ := binary.Uvarint(value)
			return int64(v), true
		}
	}
}

// Float returns the first value; false if the feature has none or is of another kind.
func (f Feature) Float() (float32, bool) {
	if f.kind != KindFloat || f.n == 0 {
		return 0, false
	}
	for it := f.walk(); ; {
		tag, value := it.next()
		if tag == tagFixed32 || tag == tagPacked && len(value) > 0 {
			return math.Float32frombits(binary.LittleEndian.Uint32(value)), true
		}
	}
}

// Bytes returns the first value, which aliases the message; false if the feature has none or is of
// another kind.
func (f Feature) Bytes() ([]byte, bool) {
	if f.kind != KindBytes || f.n == 0 {
		return nil, false
	}
	for it := f.walk(); ; {
		if tag, value := it.next(); tag == tagBytes {
			return value, true
		}
	}
}

// Int64List yields the values of an Int64List; nothing for another kind. Unlike AppendInt64s it
// does not allocate, which for hostile records of many small values would take several times their
// size. The same goes for FloatList and BytesList.
func (f Feature) Int64List() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		if f.kind != KindInt64 {
			return
		}
		for it := f.walk(); it.more(); {
			tag, value := it.next()
			if tag != tagVarint && tag != tagPacked {
				continue
			}
			for len(value) > 0 {
				v, n := binary.Uvarint(value)
				if !yield(int64(v)) {
					return
				}
				value = value[n:]
			}
		}
	}
}

// FloatList yields the values of a FloatList; nothing for another kind.
func (f Feature) FloatList() iter.Seq[float32] {
	return func(yield func(float32) bool) {
		if f.kind != KindFloat {
			return
		}
		for it := f.walk(); it.more(); {
			tag, value := it.next()
			if tag != tagFixed32 && tag != tagPacked {
				continue
			}
			for ; len(value) >= 4; value = value[4:] {
				if !yield(math.Float32frombits(binary.LittleEndian.Uint32(value))) {
					return
				}
			}
		}
	}
}

// BytesList yields the values of a BytesList, each aliasing the message; nothing for
// another kind.
func (f Feature) BytesList() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if f.kind != KindBytes {
			return
		}
		for it := f.walk(); it.more(); {
			if tag, value := it.next(); tag == tagBytes && !yield(value) {
				return
			}
		}
	}
}

// AppendInt64s appends the values to dst; nothing for another kind.
func (f Feature) AppendInt64s(dst []int64) []int64 {
	if f.kind != KindInt64 {
		return dst
	}
	for it := f.walk(); it.more(); {
		tag, value := it.next()
		if tag != tagVarint && tag != tagPacked {
			continue
		}
		for len(value) > 0 {
			if b := value[0]; b < 0x80 {
				dst, value = append(dst, int64(b)), value[1:]
				continue
			}
			v, n := binary.Uvarint(value)
			dst, value = append(dst, int64(v)), value[n:]
		}
	}
	return dst
}

// AppendFloats appends the values to dst; nothing for another kind.
func (f Feature) AppendFloats(dst []float32) []float32 {
	if f.kind != KindFloat {
		return dst
	}
	for it := f.walk(); it.more(); {
		tag, value := it.next()
		if tag != tagFixed32 && tag != tagPacked {
			continue
		}
		for ; len(value) >= 4; value = value[4:] {
			dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(value)))
		}
	}
	return dst
}

// AppendBytes appends the values to dst, each aliasing the message; nothing for
// another kind.
func (f Feature) AppendBytes(dst [][]byte) [][]byte {
	if f.kind != KindBytes {
		return dst
	}
	for it := f.walk(); it.more(); {
		if tag, value := it.next(); tag == tagBytes {
			dst = append(dst, value)
		}
	}
	return dst
}

// Value returns a copy of the values: []int64, []float32, [][]byte, or nil for KindNone. It is
// meant for display; the other methods avoid its allocations.
func (f Feature) Value() any {
	switch f.kind {
	case KindInt64:
		return f.AppendInt64s(make([]int64, 0, f.n))
	case KindFloat:
		return f.AppendFloats(make([]float32, 0, f.n))
	case KindBytes:
		values := f.AppendBytes(make([][]byte, 0, f.n))
		for i, v := range values {
			values[i] = append([]byte{}, v...)
		}
		return values
	}
	return nil
}

// listWalk iterates over the fields of a validated list, and so has no errors.
type listWalk struct {
	list []byte
	pos  int
}

func (f Feature) walk() listWalk { return listWalk{f.list, 0} }

func (w *listWalk) more() bool { return w.pos < len(w.list) }

// next returns a field's tag and the bytes of its value, without any length prefix. A skipped field
// has a nil value.
func (w *listWalk) next() (tag uint64, value []byte) {
	tag, from, _ := readTag(w.list, w.pos)
	to := from
	switch tag {
	case tagPacked: // and tagBytes
		from, to, _ = delimited(w.list, from)
	case tagVarint:
		_, to, _ = varint(w.list, from)
	case tagFixed32:
		to += 4
	default:
		w.pos, _ = skip(w.list, from, tag)
		return tag, nil
	}
	w.pos = to
	return tag, w.list[from:to:to]
}
