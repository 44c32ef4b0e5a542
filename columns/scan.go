package columns

import (
	"encoding/binary"
	"math"

	"github.com/tfrec/tfrec/internal/wire"
	"github.com/tfrec/tfrec/tfrecord"
)

// scan finds the features of the schema in a record of the usual form. False leaves the record,
// valid or not, to appendPlain.
func (p *Parser) scan(data []byte) bool {
	clear(p.spans)
	if p.lists.fields == 0 {
		pos, ok := tfrecord.ScanExample(data)
		return ok && p.features.scan(p.spans, data, pos)
	}
	context, lists, ok := scanSequence(data)
	return ok && p.features.scan(p.spans, data[:context.to], context.from) &&
		p.lists.scan(p.spans, data[:lists.to], lists.from)
}

// scanSequence returns where the context features and the lists of a SequenceExample are: messages
// with entries for ScanEntry. The value of an entry of lists is a FeatureList, whose steps ScanBytes
// returns.
func scanSequence(data []byte) (context, lists span, ok bool) {
	for pos := 0; pos < len(data); {
		f, ok := wire.At(data, pos)
		switch {
		case ok && f.Tag == wire.Bytes1 && context.to == 0:
			context = span{f.From, f.To}
		case ok && f.Tag == wire.Bytes2 && lists.to == 0:
			lists = span{f.From, f.To}
		default:
			return context, lists, false
		}
		pos = f.To
	}
	return context, lists, true
}

// scan finds the entries of the table's fields at the end of data.
func (t *keyTable) scan(spans []span, data []byte, pos int) bool {
	for node := 0; pos < len(data); {
		e, ok := tfrecord.ScanEntry(data, pos)
		if !ok {
			return false
		}
		key := data[e.KeyFrom:e.KeyTo]
		next := t.nodes[node].next
		if string(t.nodes[next].key) != string(key) || next == 0 {
			next = t.find(node, key)
		}
		node = next
		if f := t.nodes[node].field; f >= 0 {
			spans[f] = span{e.From, e.To}
		}
		pos = e.To
	}
	return true
}

// appendScanned appends the features that scan found. False leaves the record
// to appendPlain.
func (p *Parser) appendScanned(dst *Columns, record []byte) bool {
	left := tfrecord.MaxSteps
	for i, s := range p.spans {
		col, want := &dst.Columns[i], p.counts[i]
		steps := p.schema[i].Steps
		if s.from == 0 && steps != NoSteps {
			if !p.schema[i].AllowMissing {
				return false
			}
			continue
		}
		if steps == ListSteps {
			if !col.appendScannedList(record[s.from:s.to], &left) {
				return false
			}
			continue
		}
		if s.from == 0 {
			if want >= 0 && p.defaults[i] == nil {
				return false
			}
			p.appendDefault(col, i)
			continue
		}
		kind, values, ok := tfrecord.ScanFeature(record[s.from:s.to])
		if !ok || kind != col.Kind || !col.appendList(values, want) {
			return false
		}
		if steps == FlatSteps && col.Len()%col.step != 0 {
			return false
		}
	}
	return true
}

// appendList appends the values of a list: exactly want, or any number if want is negative.
func (c *Column) appendList(values []byte, want int) bool {
	switch c.Kind {
	case tfrecord.KindFloat:
		return c.appendFloats(values, want)
	case tfrecord.KindInt64:
		return c.appendInt64s(values, want)
	}
	n := 0
	for len(values) > 0 {
		first, rest, ok := tfrecord.ScanBytes(values)
		if !ok {
			return false
		}
		c.appendBytes(first)
		values = rest
		n++
	}
	return n == want || want < 0
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

// extend returns s with n more elements of unspecified value.
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
