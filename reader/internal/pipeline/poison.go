package pipeline

import (
	"math"

	"github.com/tfrec/tfrec/columns"
)

// Values that Options.PoisonRecycled writes into recycled memory: a byte that is invalid UTF-8 when
// repeated, a number that panics as an index, and a float that spreads.
const (
	PoisonByte  = 0xdb
	PoisonInt64 = -0x2424242424242425 // 0xdbdb...
	PoisonHalf  = 0x7fff              // a NaN as float16 and as bfloat16
)

var PoisonFloat = float32(math.NaN())

// Fill overwrites all of the memory of a slice.
func Fill[T any](s []T, v T) {
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
func (b *Block) poison() {
	Fill(b.Buf, PoisonByte)
	for _, memory := range b.lent {
		Fill(memory, PoisonByte)
	}
	if b.Loan != nil {
		Fill(b.Loan.Data, PoisonByte)
	}
}

// PoisonColumns overwrites the values.
func PoisonColumns(all *columns.Columns) {
	for i := range all.Columns {
		c := &all.Columns[i]
		Fill(c.Int64s, PoisonInt64)
		Fill(c.Floats, PoisonFloat)
		Fill(c.Bytes, PoisonByte)
		Fill(c.Offsets, PoisonInt64)
		Fill(c.Splits, PoisonInt64)
		Fill(c.StepSplits, PoisonInt64)
	}
}

// PoisonObjects overwrites the objects.
func PoisonObjects(o *columns.Objects) {
	Fill(o.Boxes, PoisonFloat)
	Fill(o.Labels, PoisonInt64)
	Fill(o.Indexes, PoisonInt64)
	Fill(o.Weights, PoisonFloat)
	Fill(o.Masks, PoisonByte)
	Fill(o.Keypoints, PoisonFloat)
	Fill(o.Splits, PoisonInt64)
	Fill(o.Counts, PoisonInt64)
}
