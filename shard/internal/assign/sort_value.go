package assign

import (
	"encoding/binary"
	"math"

	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// sortValue is the first value of a feature.
type sortValue struct {
	kind  tfrecord.Kind // KindNone: no value
	bits  uint64        // of a number, in the order of the numbers
	bytes []byte
}

// valueOf returns the value to sort a record by. Its only error is from [source.Record.Example].
func (s *Sorted) valueOf(r *source.Record) (sortValue, error) {
	if v, ok := quickValue(r.Data, s.Key); ok {
		return v, nil
	}
	e, err := r.Example()
	if err != nil {
		return sortValue{}, err
	}
	return plainValue(e, s.Key), nil
}

// plainValue is the first value of a feature of an Example.
func plainValue(e *tfrecord.Example, key string) sortValue {
	f, _ := e.Get(key)
	if f.Len() == 0 {
		return sortValue{}
	}
	v := sortValue{kind: f.Kind()}
	switch v.kind {
	case tfrecord.KindInt64:
		n, _ := f.Int64()
		v.bits = sortableInt(uint64(n))
	case tfrecord.KindFloat:
		x, _ := f.Float()
		v.bits = uint64(sortableFloat(x))
	default:
		v.bytes, _ = f.Bytes()
	}
	return v
}

// mostQuick is the maximum number of features of a record in the usual form.
const mostQuick = 1000

// quickValue is a fast path of plainValue for records in the usual form (see tfrecord.ScanExample),
// whose bytes features have one value each. It returns false for others, malformed ones among them.
func quickValue(data []byte, key string) (v sortValue, ok bool) {
	pos, ok := tfrecord.ScanExample(data)
	if !ok {
		return v, false
	}
	for n := 0; pos < len(data); n++ {
		e, ok := tfrecord.ScanEntry(data, pos)
		if !ok || n == mostQuick {
			return v, false
		}
		kind, values, _, ok := features.ScanValues(data[e.From:e.To])
		if !ok {
			return v, false
		}
		pos = e.To
		if string(data[e.KeyFrom:e.KeyTo]) != key {
			continue
		}
		if v.kind != tfrecord.KindNone { // the key comes twice
			return v, false
		}
		v.kind = kind
		switch kind {
		case tfrecord.KindBytes:
			v.bytes = values
		case tfrecord.KindFloat:
			v.bits = uint64(sortableFloat(math.Float32frombits(binary.LittleEndian.Uint32(values))))
		default:
			number, _ := binary.Uvarint(values)
			v.bits = sortableInt(number)
		}
	}
	return v, true
}

// append encodes the value: see [Sorted.AppendKey].
func (v *sortValue) append(dst []byte) []byte {
	switch v.kind {
	case tfrecord.KindNone:
		return append(dst, 1)
	case tfrecord.KindInt64:
		return binary.BigEndian.AppendUint64(append(dst, 0), v.bits)
	case tfrecord.KindFloat:
		return binary.BigEndian.AppendUint32(append(dst, 0), uint32(v.bits))
	default:
		return append(append(dst, 0), v.bytes...)
	}
}

// sortableInt returns a number that sorts like the int64 with these bits.
func sortableInt(bits uint64) uint64 { return bits ^ 1<<63 }

// sortableFloat returns a number that sorts like the float.
func sortableFloat(v float32) uint32 {
	switch {
	case v != v:
		return math.MaxUint32
	case v == 0:
		v = 0 // of either sign
	}
	b := math.Float32bits(v)
	if b>>31 == 1 {
		return ^b
	}
	return b | 1<<31
}
