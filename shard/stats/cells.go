package stats

import "math"

const (
	// The range of numbers is divided into at most 2^cellBits cells, and into more than a quarter
	// of that unless the numbers are too few or too close.
	cellBits  = 12
	cellCount = 1 << cellBits
)

// cellCounts counts numbers in cells of equal width. The width is a power of two, 2^exp, and cell i
// begins at i·2^exp. When the range of the numbers exceeds cellCount cells, neighbouring cells are
// merged, so counts stay exact. The same numbers give the same counts in any order.
type cellCounts struct {
	whole     bool // the numbers are integers: exp ≥ 0
	exp       int
	scale     float64 // 2^-exp
	low, high float64 // range covered
	counts    []int64 // of cell i at i modulo cellCount
}

// newCellCounts returns counts for numbers from low to high.
func newCellCounts(low, high float64, whole bool) *cellCounts {
	c := &cellCounts{whole: whole, low: low, high: high}
	c.widen(cellExp(low, high, whole))
	return c
}

// widen sets another cell width and empties the cells.
func (c *cellCounts) widen(exp int) {
	c.exp, c.scale, c.counts = exp, math.Ldexp(1, -exp), make([]int64, cellCount)
}

// cellExp returns the exponent of the cell width for a range. It does not decrease when the range
// grows.
func cellExp(low, high float64, whole bool) int {
	_, size := math.Frexp(max(math.Abs(low), math.Abs(high)))
	exp := size - 53 // so that a float64 holds i exactly
	if whole {
		exp = max(exp, 0)
	}
	if high > low {
		_, width := math.Frexp(high - low)
		exp = max(exp, width-1-cellBits)
	}
	for math.Floor(math.Ldexp(high, -exp))-math.Floor(math.Ldexp(low, -exp)) >= cellCount {
		exp++
	}
	return exp
}

// cell returns the cell of a number.
func (c *cellCounts) cell(x float64) int64 { return int64(math.Floor(x * c.scale)) }

// add adds a number n times.
func (c *cellCounts) add(x float64, n int64) {
	if x < c.low || x > c.high {
		c.cover(min(c.low, x), max(c.high, x))
	}
	c.counts[c.cell(x)&(cellCount-1)] += n
}

// cover extends the range to a larger one.
func (c *cellCounts) cover(low, high float64) {
	if exp := cellExp(low, high, c.whole); exp > c.exp {
		narrow := *c
		c.widen(exp)
		c.take(&narrow)
	}
	c.low, c.high = low, high
}

// take adds counts whose cells are not wider.
func (c *cellCounts) take(d *cellCounts) {
	for i, last := d.cell(d.low), d.cell(d.high); i <= last; i++ {
		c.counts[i>>(c.exp-d.exp)&(cellCount-1)] += d.counts[i&(cellCount-1)]
	}
}

// merge adds the counts of d, which it does not change.
func (c *cellCounts) merge(d *cellCounts) {
	c.cover(min(c.low, d.low), max(c.high, d.high))
	c.take(d)
}

// width returns the cell width.
func (c *cellCounts) width() float64 { return math.Ldexp(1, c.exp) }

// bins returns the count of each cell, placed at the start of the cell.
func (c *cellCounts) bins() []bin {
	list := make([]bin, 0, cellCount)
	for i, last := c.cell(c.low), c.cell(c.high); i <= last; i++ {
		list = append(list, bin{math.Ldexp(float64(i), c.exp), c.counts[i&(cellCount-1)]})
	}
	return list
}
