//go:build !amd64 || noasm

package png

// unfilter is unfilterPlain.
func unfilter(filter byte, dst, src, above []byte, n int) { unfilterPlain(filter, dst, src, above, n) }

// filter applies all filters to a row, and returns the sum of the absolute differences of each.
func (e *Encoder) filter(row, above []byte, n int) [filters]uint64 {
	return e.filterPlain(row, above, n)
}
