package records

import (
	"github.com/tfrec/tfrec/internal/random"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// order is a seeded random order of all records of a set, with random access and without a list.
// With blocks, runs of records stay near each other: the runs are put into a random order, and the
// records of each window of runs are mixed. It is not safe for concurrent use.
type order struct {
	total  int64
	block  int64 // records per run
	window int64 // runs per window
	seed   uint64
	runs   random.Permutation
	short  int64 // index of the last run of the set, which may be short
	lacks  int64 // records missing from it

	current int64 // window that mixed is for; -1 for none
	mixed   random.Permutation
}

// NewOrder returns an order of total records, 1 or more.
func NewOrder(total, block, window int64, seed uint64) *order {
	o := &order{total: total, block: block, window: window, seed: seed, current: -1}
	n := (total + block - 1) / block
	o.runs = random.NewPermutation(n, pipeline.Key(seed, pipeline.ForOrder))
	o.lacks = n*block - total
	if block > 1 {
		for o.runs.At(o.short) != n-1 {
			o.short++
		}
	}
	return o
}

// At returns the number of the record at an index of the order.
func (o *order) At(place int64) int64 {
	if o.block == 1 {
		return o.runs.At(place)
	}
	// Windows after the one with the short run begin that much earlier.
	full := o.window * o.block
	shortWindow := o.short / o.window
	if place >= (shortWindow+1)*full-o.lacks {
		place += o.lacks
	}
	w := place / full
	if w != o.current {
		o.current = w
		size := min(o.window, o.runs.Len()-w*o.window) * o.block
		if w == shortWindow {
			size -= o.lacks
		}
		o.mixed = random.NewPermutation(size, pipeline.Key(o.seed, pipeline.ForWindow, uint64(w)))
	}
	i := o.mixed.At(place % full)
	if w == shortWindow && i >= (o.short%o.window+1)*o.block-o.lacks {
		i += o.lacks
	}
	return o.runs.At(w*o.window+i/o.block)*o.block + i%o.block
}
