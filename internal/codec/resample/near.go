//go:build (amd64 || arm64) && !noasm

package resample

// nearby holds the weights of an axis along gray rows where neighbours of the result need
// neighbours of the source: each four pixels no more than nearSpan. Its zero value holds none.
type nearby struct {
	// starts are the first source pixels of each four pixels. The last eight pixels may overlap the
	// ones before.
	starts []int32
	// tables hold the weights of each eight pixels, one or two per pixel at a time, and the
	// shuffles that select their source pixels.
	tables []uint8
	steps  int // over the weights of a pixel
}

// nearSpan is the number of source pixels that a shuffle reads.
const nearSpan = 16

// fill packs the weights of a, or reports that they are too far apart.
func (p *nearby) fill(a *Axis) bool {
	n := len(a.First)
	if n < 8 || a.in < nearSpan {
		return false
	}
	groups := (n + 7) / 8
	starts := make([]int32, 0, 2*groups)
	for g := range groups {
		for lane := range 2 {
			at := min(8*g, n-8) + 4*lane
			from, end := a.Span(at, at+4)
			start := min(from, a.in-nearSpan)
			if end-start > nearSpan {
				return false
			}
			starts = append(starts, int32(start))
		}
	}
	p.starts = starts
	p.fillTables(a)
	return true
}
