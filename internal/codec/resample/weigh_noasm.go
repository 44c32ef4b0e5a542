//go:build (!amd64 && !arm64) || noasm

package resample

import "github.com/tfrec/tfrec/internal/codec/bitmap"

// readBeyond is the number of bytes after a row that are read.
const readBeyond = 0

// packed is empty without assembly.
type packed struct{}

func (packed) fill(*Axis, int) {}
func (packed) bytes() int      { return 0 }

// weighColumns resizes n rows of src from row y on horizontally, into rows that
// begin stride apart in dst.
func (a *Axis) weighColumns(dst []uint8, stride int, src *bitmap.Image, y, n int) {
	a.weighColumnsPlain(dst, stride, src, y, n)
}

// weighRows makes row i of the result from the rows that it needs, which begin
// stride apart in src.
func (a *Axis) weighRows(dst, src []uint8, stride, i int) {
	a.weighRowsPlain(dst, src, stride, i)
}
