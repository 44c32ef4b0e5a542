package resample

import "slices"

// bandExtra is the number of rows that a band holds in addition to the rows that one row of the
// result needs, so that kept rows are seldom moved to the front.
const bandExtra = 16

// band holds the rows, one after another, that have been resized horizontally
// and that the next rows of the result need: few enough to stay in the cache.
type band[T uint8 | int16] struct {
	rows   []T
	length int // of a row
	most   int // rows that there is room for
	lo, n  int // the rows held: source rows lo to lo+n-1
	end    int // the source row after the last one needed
	sparse bool
}

// reserve makes room for the rows that the vertical pass needs.
func (b *band[T]) reserve(down *Axis) {
	_, b.end = down.Span(0, len(down.First))
	b.most = down.Most + bandExtra
	b.sparse = down.sparse
	n := b.most * b.length
	b.rows = slices.Grow(b.rows[:0], n)[:n]
}

// missing returns which source rows must be resized into room before rows first to first+count-1
// are complete, and moves the rows held to make that room. first must not decrease from call to
// call.
func (b *band[T]) missing(first, count int) (at, n int) {
	end := first + count
	if end <= b.lo+b.n {
		return 0, 0
	}
	if first >= b.lo+b.n {
		b.lo, b.n = first, 0
	} else if end > b.lo+b.most {
		keep := b.lo + b.n - first
		copy(b.rows, b.rows[(first-b.lo)*b.length:][:keep*b.length])
		b.lo, b.n = first, keep
	}
	at = b.lo + b.n
	if !b.sparse {
		end = min(b.lo+b.most, b.end) // several at a time
	}
	return at, end - at
}

// room returns the rows for the next n source rows.
func (b *band[T]) room(n int) []T {
	r := b.rows[b.n*b.length:][:n*b.length]
	b.n += n
	return r
}

// from is the band from source row first on.
func (b *band[T]) from(first int) []T {
	return b.rows[(first-b.lo)*b.length : b.n*b.length]
}
