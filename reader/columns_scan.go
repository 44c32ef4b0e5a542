package reader

import (
	"encoding/binary"
	"math"

	"github.com/tfrec/tfrec/tfrecord"
)

// Tags of the fields, number<<3 | wire type, in the form in which every writer
// leaves an Example: one Features message, entries with a key and then a value,
// one list in a value, numbers packed.
const (
	tagFeatures = 1<<3 | 2 // Example.features
	tagEntry    = 1<<3 | 2 // an entry of Features.feature
	tagKey      = 1<<3 | 2
	tagValue    = 2<<3 | 2
	tagElement  = 1<<3 | 2 // a value of a BytesList, or all of a FloatList or Int64List
)

// listTags are the tags of Feature's lists.
var listTags = [...]byte{tfrecord.KindBytes: 1<<3 | 2, tfrecord.KindFloat: 2<<3 | 2, tfrecord.KindInt64: 3<<3 | 2}

// scan finds the features of the schema in a record of the usual form. False
// leaves the record, good or bad, to appendPlain.
func (p *ColumnParser) scan(data []byte) bool {
	clear(p.spans)
	if len(data) == 0 {
		return true
	}
	if data[0] != tagFeatures {
		return false
	}
	n, pos := length(data, 1)
	if n != len(data)-pos {
		return false
	}
	for node := 0; pos < len(data); {
		if data[pos] != tagEntry {
			return false
		}
		n, at := length(data, pos+1)
		end := at + n
		if n > len(data)-at || n == 0 || data[at] != tagKey {
			return false
		}
		n, at = length(data, at+1)
		if n >= end-at {
			return false
		}
		key := data[at : at+n]
		at += n
		if data[at] != tagValue {
			return false
		}
		if n, at = length(data, at+1); n != end-at {
			return false
		}
		next := p.keys[node].next
		if string(p.keys[next].key) != string(key) || next == 0 {
			next = p.find(node, key)
		}
		node = next
		if f := p.keys[node].field; f >= 0 {
			p.spans[f] = span{at, end}
		}
		pos = end
	}
	return true
}

// length reads the length at pos, and returns what follows it. A length that is
// none is too large for any data.
func length(data []byte, pos int) (n, next int) {
	if pos < len(data) && data[pos] < 0x80 {
		return int(data[pos]), pos + 1
	}
	return longLength(data, pos)
}

func longLength(data []byte, pos int) (n, next int) {
	if pos > len(data) {
		return math.MaxInt, pos
	}
	v, k := binary.Uvarint(data[pos:])
	if k <= 0 || v > math.MaxInt {
		return math.MaxInt, pos
	}
	return int(v), pos + k
}

// appendScanned appends the features that scan found. False leaves the record
// to appendPlain.
func (p *ColumnParser) appendScanned(dst *Columns, record []byte) bool {
	for i, s := range p.spans {
		col, want := &dst.Columns[i], p.counts[i]
		if s.from == 0 {
			if want >= 0 && p.defaults[i] == nil {
				return false
			}
			p.appendDefault(col, i)
			continue
		}
		feature := record[s.from:s.to]
		if len(feature) == 0 || feature[0] != listTags[col.Kind] {
			return false
		}
		n, from := length(feature, 1)
		if n != len(feature)-from {
			return false
		}
		if !col.appendList(feature[from:], want) {
			return false
		}
	}
	return true
}

// appendList appends the values of a list: want of them, or any number when
// want is negative.
func (c *Column) appendList(list []byte, want int) bool {
	if c.Kind == tfrecord.KindBytes {
		n := 0
		for pos := 0; pos < len(list); n++ {
			if list[pos] != tagElement {
				return false
			}
			size, from := length(list, pos+1)
			if size > len(list)-from {
				return false
			}
			pos = from + size
			c.appendBytes(list[from:pos])
		}
		return n == want || want < 0
	}
	if len(list) == 0 {
		return want <= 0
	}
	if list[0] != tagElement {
		return false
	}
	size, from := length(list, 1)
	if size != len(list)-from {
		return false
	}
	if c.Kind == tfrecord.KindFloat {
		return c.appendFloats(list[from:], want)
	}
	return c.appendInt64s(list[from:], want)
}

func (c *Column) appendFloats(packed []byte, want int) bool {
	n := len(packed) / 4
	if len(packed)%4 != 0 || want >= 0 && n != want {
		return false
	}
	at := len(c.Floats)
	c.Floats = extend(c.Floats, n)
	dst := c.Floats[at:]
	for ; len(packed) >= 16 && len(dst) >= 4; packed, dst = packed[16:], dst[4:] {
		dst[0] = math.Float32frombits(binary.LittleEndian.Uint32(packed))
		dst[1] = math.Float32frombits(binary.LittleEndian.Uint32(packed[4:]))
		dst[2] = math.Float32frombits(binary.LittleEndian.Uint32(packed[8:]))
		dst[3] = math.Float32frombits(binary.LittleEndian.Uint32(packed[12:]))
	}
	for ; len(packed) >= 4 && len(dst) >= 1; packed, dst = packed[4:], dst[1:] {
		dst[0] = math.Float32frombits(binary.LittleEndian.Uint32(packed))
	}
	return true
}

// extend returns s with n more elements, of any value.
func extend(s []float32, n int) []float32 {
	if n <= cap(s)-len(s) {
		return s[:len(s)+n]
	}
	return append(s, make([]float32, n)...)
}

func (c *Column) appendInt64s(packed []byte, want int) bool {
	n := 0
	for ; len(packed) > 0; n++ {
		if b := packed[0]; b < 0x80 {
			c.Int64s, packed = append(c.Int64s, int64(b)), packed[1:]
			continue
		}
		v, k := binary.Uvarint(packed)
		if k <= 0 {
			return false
		}
		c.Int64s, packed = append(c.Int64s, int64(v)), packed[k:]
	}
	return n == want || want < 0
}
