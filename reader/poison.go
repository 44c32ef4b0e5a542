package reader

import "math"

// What Options.PoisonRecycled leaves in recycled memory: a byte that is no UTF-8 when repeated, a
// number that panics as an index, and a float that spreads.
const (
	poisonByte  = 0xdb
	poisonInt64 = -0x2424242424242425 // 0xdbdb...
)

var poisonFloat = float32(math.NaN())

// fill overwrites all of the memory of a slice.
func fill[T any](s []T, v T) {
	s = s[:cap(s)]
	if len(s) == 0 {
		return
	}
	s[0] = v
	for n := 1; n < len(s); n *= 2 {
		copy(s[n:], s[:n])
	}
}

// poison overwrites the records' data.
func (b *Block) poison() { fill(b.buf, poisonByte) }

// poison overwrites the values.
func (b *ColumnBatch) poison() {
	for i := range b.Columns.Columns {
		c := &b.Columns.Columns[i]
		fill(c.Int64s, poisonInt64)
		fill(c.Floats, poisonFloat)
		fill(c.Bytes, poisonByte)
		fill(c.Offsets, poisonInt64)
		fill(c.Splits, poisonInt64)
	}
}

// poison overwrites pixels and labels.
func (b *ImageBatch) poison() {
	fill(b.Pixels, poisonFloat)
	fill(b.Bytes, poisonByte)
	fill(b.Labels, poisonInt64)
}
