package stats

import (
	"encoding/binary"
	"math"

	"github.com/tfrec/tfrec/internal/wire"
	"github.com/tfrec/tfrec/tfrecord"
)

// occurrence is a feature of one record. Its values are packed, as they lie in
// the record, where that is of the usual form; else they are those of value.
type occurrence struct {
	key    []byte
	kind   tfrecord.Kind
	values int
	packed []byte // content of the FloatList's or Int64List's one field, or of the BytesList
	value  tfrecord.Feature
	usual  bool
}

// occurrenceOf returns a feature that was parsed.
func occurrenceOf(key []byte, value tfrecord.Feature) occurrence {
	return occurrence{key: key, kind: value.Kind(), values: value.Len(), value: value}
}

// one returns the value of a feature that has exactly one: an int64, a float32
// or bytes by its kind; false for others.
func (c *occurrence) one() (i int64, f float32, b []byte, ok bool) {
	if c.values != 1 {
		return 0, 0, nil, false
	}
	if !c.usual {
		i, _ = c.value.Int64()
		f, _ = c.value.Float()
		b, _ = c.value.Bytes()
		return i, f, b, true
	}
	switch c.kind {
	case tfrecord.KindInt64:
		v, _ := binary.Uvarint(c.packed)
		i = int64(v)
	case tfrecord.KindFloat:
		f = math.Float32frombits(binary.LittleEndian.Uint32(c.packed))
	case tfrecord.KindBytes:
		field, _ := wire.At(c.packed, 0)
		b = c.packed[field.From:field.To:field.To]
	}
	return i, f, b, true
}

// scanExample appends the features of an Example of the form in which every
// writer leaves it: one Features message, entries of a key and a value, one list
// in a value, numbers packed. False leaves the record, whatever it is, to the
// parser. Keys that come twice it does not notice.
func scanExample(list []occurrence, data []byte) ([]occurrence, bool) {
	pos, ok := enter(data, 0, wire.Bytes1)
	if !ok {
		return list, len(data) == 0
	}
	for pos < len(data) {
		entry, ok := wire.At(data, pos)
		if !ok || entry.Tag != wire.Bytes1 || len(list) == tfrecord.MaxFeatures {
			return list, false
		}
		key, ok := wire.At(data[:entry.To], entry.From)
		if !ok || key.Tag != wire.Bytes1 {
			return list, false
		}
		at, ok := enter(data[:entry.To], key.To, wire.Bytes2)
		if !ok || at >= entry.To {
			return list, false
		}
		c := occurrence{key: data[key.From:key.To], usual: true}
		switch data[at] {
		case wire.Bytes1:
			c.kind = tfrecord.KindBytes
		case wire.Bytes2:
			c.kind = tfrecord.KindFloat
		case wire.Bytes3:
			c.kind = tfrecord.KindInt64
		default:
			return list, false
		}
		from, ok := enter(data[:entry.To], at, uint64(data[at]))
		if !ok || !c.scan(data[from:entry.To:entry.To]) {
			return list, false
		}
		list = append(list, c)
		pos = entry.To
	}
	return list, true
}

// enter returns where the content of the field at pos begins, which must have a
// tag of one byte and reach to the end of data.
func enter(data []byte, pos int, tag uint64) (from int, ok bool) {
	f, ok := wire.At(data, pos)
	return f.From, ok && f.Tag == tag && f.To == len(data)
}

// scan looks at the content of a list, and reports whether it is whole and of
// the usual form.
func (c *occurrence) scan(list []byte) bool {
	if c.kind == tfrecord.KindBytes {
		for at := 0; at < len(list); c.values++ {
			f, ok := wire.At(list, at)
			if !ok || f.Tag != wire.Bytes1 {
				return false
			}
			at = f.To
		}
		c.packed = list
		return true
	}
	if len(list) == 0 {
		return true
	}
	from, ok := enter(list, 0, wire.Bytes1)
	if !ok {
		return false
	}
	c.packed = list[from:]
	if c.kind == tfrecord.KindFloat {
		c.values = len(c.packed) / 4
		return len(c.packed)%4 == 0
	}
	for at := 0; at < len(c.packed); c.values++ {
		if c.packed[at] < 0x80 {
			at++
			continue
		}
		_, n := binary.Uvarint(c.packed[at:])
		if n <= 0 {
			return false
		}
		at += n
	}
	return true
}
