package stats

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tfrec/tfrec/internal/random"
)

const (
	// rankCapacity is the capacity of the top level of a rankSketch, which determines RankError.
	// All levels together hold about three times as many numbers, however long the stream is.
	rankCapacity = 2048
	// leastRankLevel is the capacity of the smallest levels.
	leastRankLevel = 64
)

// rankSketch estimates the quantiles of a stream of numbers in bounded memory. It is the sketch of
// Karnin, Lang and Liberty (Optimal Quantile Approximation in Streams, 2016), known as KLL. Each
// number on level h represents 2^h numbers of the stream. A level that is full is sorted, and every
// second number moves up one level; the others are dropped. Ranks are then off by at most 2^h, up
// or down, depending on whether the first or the second number of each pair moved.
//
// That choice is pseudorandom, so that errors cancel, but it depends only on the content of the
// sketch: the same numbers, added and merged in the same order, give the same sketch on every
// machine.
type rankSketch struct {
	levels [][]float64 // unsorted
	size   int         // of all levels together
	limit  int         // of size; compress keeps it below
	flips  uint64      // number of compactions so far
}

// newRankSketch returns a sketch for a stream of which about n numbers are already known and will
// be added by addMany.
func newRankSketch(n int64) *rankSketch {
	s := new(rankSketch)
	s.grow(max(1, bits.Len64(uint64(n/rankCapacity))+1))
	return s
}

// grow adds levels up to the given number.
func (s *rankSketch) grow(levels int) {
	for len(s.levels) < levels {
		s.levels = append(s.levels, nil)
	}
	s.limit = 0
	for h := range s.levels {
		s.limit += s.capacity(h)
	}
}

// capacity returns the capacity of level h: two thirds of the next level's.
func (s *rankSketch) capacity(h int) int {
	c := rankCapacity
	for range len(s.levels) - 1 - h {
		if c = c * 2 / 3; c <= leastRankLevel {
			return leastRankLevel
		}
	}
	return c
}

// add adds a number.
func (s *rankSketch) add(x float64) {
	s.levels[0] = append(s.levels[0], x)
	if s.size++; s.size >= s.limit {
		s.compress()
	}
}

// addMany adds a number n times.
func (s *rankSketch) addMany(x float64, n int64) {
	top := len(s.levels) - 1
	for h := range top {
		if n>>h&1 != 0 {
			s.levels[h] = append(s.levels[h], x)
			s.size++
		}
	}
	for range n >> top {
		s.levels[top] = append(s.levels[top], x)
		if s.size++; s.size >= s.limit {
			s.compress()
		}
	}
	if s.size >= s.limit {
		s.compress()
	}
}

// merge adds the numbers of another sketch, which it does not change.
func (s *rankSketch) merge(t *rankSketch) {
	s.grow(len(t.levels))
	for h, numbers := range t.levels {
		s.levels[h] = append(s.levels[h], numbers...)
		s.size += len(numbers)
	}
	s.compress()
}

// compress compacts full levels, the lowest first, until the sketch is below
// its limit.
func (s *rankSketch) compress() {
	for s.size >= s.limit {
		h := 0
		for len(s.levels[h]) < s.capacity(h) {
			h++ // the limit is the sum of the capacities, so some level is full
		}
		s.compact(h)
	}
}

// compact moves every second number of a level up.
func (s *rankSketch) compact(h int) {
	if h+1 == len(s.levels) {
		s.grow(h + 2)
	}
	numbers := s.levels[h]
	slices.Sort(numbers)
	kept := len(numbers) % 2 // a number without a partner stays
	pairs := numbers[kept:]
	s.flips++
	odd := int(random.Key(s.flips, math.Float64bits(pairs[0]), math.Float64bits(pairs[len(pairs)-1])) & 1)
	for i := odd; i < len(pairs); i += 2 {
		s.levels[h+1] = append(s.levels[h+1], pairs[i])
	}
	if cap(numbers) > 2*s.capacity(h) { // it was a higher level before
		numbers = append(make([]float64, 0, s.capacity(h)+1), numbers[:kept]...)
	}
	s.levels[h] = numbers[:kept]
	s.size -= len(pairs) / 2
}

// bins returns the remaining numbers with the count that each represents, in order.
func (s *rankSketch) bins() []bin {
	list := make([]bin, 0, s.size)
	for h, numbers := range s.levels {
		for _, x := range numbers {
			list = append(list, bin{x, 1 << h})
		}
	}
	slices.SortFunc(list, compareBins)
	merged := list[:0]
	for _, b := range list {
		if last := len(merged) - 1; last >= 0 && merged[last].at == b.at {
			merged[last].n += b.n
		} else {
			merged = append(merged, b)
		}
	}
	return merged
}
