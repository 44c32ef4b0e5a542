package reader

import (
	"math"

	"github.com/tfrec/tfrec/columns"
)

// What Options.PoisonRecycled leaves in recycled memory: a byte that is no UTF-8 when repeated, a
// number that panics as an index, and a float that spreads.
const (
	poisonByte  = 0xdb
	poisonInt64 = -0x2424242424242425 // 0xdbdb...
	poisonHalf  = 0x7fff              // a NaN as float16 and as bfloat16
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
func (b *recordBlock) poison() {
	fill(b.buf, poisonByte)
	for _, memory := range b.lent {
		fill(memory, poisonByte)
	}
	if b.loan != nil {
		fill(b.loan.Data, poisonByte)
	}
}

// poisonColumns overwrites the values.
func poisonColumns(all *columns.Columns) {
	for i := range all.Columns {
		c := &all.Columns[i]
		fill(c.Int64s, poisonInt64)
		fill(c.Floats, poisonFloat)
		fill(c.Bytes, poisonByte)
		fill(c.Offsets, poisonInt64)
		fill(c.Splits, poisonInt64)
		fill(c.StepSplits, poisonInt64)
	}
}

// poisonObjects overwrites the objects.
func poisonObjects(o *columns.Objects) {
	fill(o.Boxes, poisonFloat)
	fill(o.Labels, poisonInt64)
	fill(o.Indexes, poisonInt64)
	fill(o.Weights, poisonFloat)
	fill(o.Masks, poisonByte)
	fill(o.Keypoints, poisonFloat)
	fill(o.Splits, poisonInt64)
	fill(o.Counts, poisonInt64)
}
