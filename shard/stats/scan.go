package stats

import (
	"encoding/binary"
	"math"

	"github.com/tfrec/tfrec/tfrecord"
)

// occurrence is a feature of one record. Its values are packed, as in the record, if that has the
// usual form, and otherwise in value.
type occurrence struct {
	key    []byte
	kind   tfrecord.Kind
	values int
	packed []byte // content of the FloatList's or Int64List's one field, or of the BytesList
	value  tfrecord.Feature
	usual  bool
}

// occurrenceOf returns the occurrence for a parsed feature.
func occurrenceOf(key []byte, value tfrecord.Feature) occurrence {
	return occurrence{key: key, kind: value.Kind(), values: value.Len(), value: value}
}

// one returns the value of a feature with exactly one: an int64, a float32 or bytes, by its kind;
// false for others.
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
		b, _, _ = tfrecord.ScanBytes(c.packed)
	}
	return i, f, b, true
}

// scanExample appends the features of an Example in the usual form (see tfrecord.ScanExample).
// False leaves the record, whatever it is, to the parser. It does not detect duplicate keys.
func scanExample(list []occurrence, data []byte) ([]occurrence, bool) {
	pos, ok := tfrecord.ScanExample(data)
	for ok && pos < len(data) {
		var entry tfrecord.ScannedEntry
		if entry, ok = tfrecord.ScanEntry(data, pos); !ok || len(list) == tfrecord.MaxFeatures {
			return list, false
		}
		c := occurrence{key: data[entry.KeyFrom:entry.KeyTo], usual: true}
		if c.kind, c.packed, ok = tfrecord.ScanFeature(data[entry.From:entry.To:entry.To]); !ok || !c.count() {
			return list, false
		}
		list = append(list, c)
		pos = entry.To
	}
	return list, ok
}

// count counts the packed values, and reports whether all of them are complete.
func (c *occurrence) count() bool {
	switch c.kind {
	case tfrecord.KindBytes:
		for rest := c.packed; len(rest) > 0; c.values++ {
			var ok bool
			if _, rest, ok = tfrecord.ScanBytes(rest); !ok {
				return false
			}
		}
		return true
	case tfrecord.KindFloat:
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
