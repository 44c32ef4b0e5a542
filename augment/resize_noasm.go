package augment

// readBeyond is how many bytes behind a row may be read.
const readBeyond = 0

// pack has nothing to do without assembly.
func (a *axis) pack() {}

// weighColumns resizes n rows of src from row y on horizontally, into rows that
// begin stride apart in dst.
func (s *Scratch) weighColumns(a *axis, dst []uint8, stride int, src *Image, y, n int) {
	length := len(a.first) * src.Channels
	for i := range n {
		a.weighRowPlain(dst[i*stride:][:length], src.Row(y+i), src.Channels)
	}
}

// weighRows makes one row of the result from len(weights) rows that begin
// stride apart in src.
func weighRows(dst, src []uint8, stride int, weights []int32) {
	weighRowsPlain(dst, src, stride, weights)
}
