package stats

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/axiomhq/hyperloglog"
	"github.com/zeebo/xxh3"
)

// spread is Numbers under construction: of int64s or of float32s, not of both.
type spread struct {
	float   bool
	moments moments
	// The range; for int64s it is exact in minInt and maxInt.
	min, max       float64
	minInt, maxInt int64
	// known counts the numbers by their bits; estimates is nil while known has all of them.
	known     tally[uint64]
	estimates *estimates
}

// estimates describe more numbers than a tally can hold.
type estimates struct {
	ranks    *rankSketch
	cells    *cellCounts
	distinct *hyperloglog.Sketch
	// pending are keys of numbers that are yet to be added, also to the tally. Adding many numbers
	// of one feature at once uses the processor's cache better than one number of each feature.
	pending []uint64
}

// pendingNumbers is the number of values of a feature that are added at once.
const pendingNumbers = 128

func (s *spread) addInt(x int64) {
	if s.moments.n == 0 {
		s.minInt, s.maxInt = x, x
	}
	s.minInt, s.maxInt = min(s.minInt, x), max(s.maxInt, x)
	s.add(uint64(x), float64(x))
}

// addFloat adds a finite number.
func (s *spread) addFloat(x float32) {
	if x == 0 {
		x = 0 // normalise -0
	}
	s.float = true
	s.add(uint64(math.Float32bits(x)), float64(x))
}

func (s *spread) add(key uint64, x float64) {
	if s.moments.n == 0 {
		s.min, s.max = x, x
	}
	s.min, s.max = min(s.min, x), max(s.max, x)
	s.moments.add(x)
	if s.estimates != nil {
		s.estimates.pending = append(s.estimates.pending, key)
		if len(s.estimates.pending) == pendingNumbers {
			s.flush()
		}
		return
	}
	if i, known := s.known.index[key]; known {
		s.known.counts[i].n++
		return
	}
	if s.known.full() {
		s.startEstimates()
		s.estimates.pending = append(s.estimates.pending, key)
		return
	}
	s.known.insert(key, 1)
}

// flush adds the pending numbers.
func (s *spread) flush() {
	if s.estimates == nil {
		return
	}
	for _, key := range s.estimates.pending {
		if i, known := s.known.index[key]; known {
			s.known.counts[i].n++
			continue
		}
		if s.known.full() {
			s.known.purge()
		}
		s.known.insert(key, 1)
	}
	for _, key := range s.estimates.pending {
		x := s.number(key)
		s.estimates.ranks.add(x)
		s.estimates.cells.add(x, 1)
		s.estimates.distinct.InsertHash(hashNumber(key))
	}
	s.estimates.pending = s.estimates.pending[:0]
}

// startEstimates starts the estimates, unless already started, with all numbers so far, which are
// known.
func (s *spread) startEstimates() {
	if s.estimates != nil {
		return
	}
	s.estimates = &estimates{
		ranks: newRankSketch(s.moments.n), cells: newCellCounts(s.min, s.max, !s.float), distinct: hyperloglog.NewNoSparse(),
		pending: make([]uint64, 0, pendingNumbers),
	}
	for _, c := range s.known.counts {
		x := s.number(c.key)
		s.estimates.ranks.addMany(x, c.n)
		s.estimates.cells.add(x, c.n)
		s.estimates.distinct.InsertHash(hashNumber(c.key))
	}
}

func hashNumber(key uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return xxh3.Hash(b[:])
}

// number decodes a key of known.
func (s *spread) number(key uint64) float64 {
	if s.float {
		return float64(math.Float32frombits(uint32(key)))
	}
	return float64(int64(key))
}

// merge adds another spread, which must not be used afterwards.
func (s *spread) merge(t *spread) {
	if t.moments.n == 0 {
		return
	}
	if s.moments.n == 0 {
		*s = *t
		return
	}
	s.flush()
	t.flush()
	s.moments.merge(t.moments)
	s.min, s.max = min(s.min, t.min), max(s.max, t.max)
	s.minInt, s.maxInt = min(s.minInt, t.minInt), max(s.maxInt, t.maxInt)
	if s.estimates != nil || t.estimates != nil || s.known.together(&t.known) > tallySize {
		s.startEstimates()
		t.startEstimates()
		s.estimates.ranks.merge(t.estimates.ranks)
		s.estimates.cells.merge(t.estimates.cells)
		_ = s.estimates.distinct.Merge(t.estimates.distinct) // cannot fail: same parameters
	}
	s.known.merge(&t.known)
}

// bins returns the numbers in s.known, in order.
func (s *spread) bins() []bin {
	var list []bin
	for _, c := range s.known.counts {
		list = append(list, bin{s.number(c.key), c.n})
	}
	slices.SortFunc(list, compareBins)
	return list
}

func compareBins(a, b bin) int { return cmp.Compare(a.at, b.at) }

// numbers describes the numbers, with up to top of the most frequent ones; nil stays nil.
func (s *spread) numbers(top int) *Numbers {
	if s == nil {
		return nil
	}
	s.flush()
	n := &Numbers{
		Count: s.moments.n, Mean: s.moments.mean, Std: s.moments.std(), Exact: s.estimates == nil,
		Quantiles: []Quantile{}, Histogram: []Bucket{}, Top: []Top[json.Number]{},
		Distinct: int64(len(s.known.counts)), TopError: s.known.taken,
		Min: s.decimal(uint64(s.minInt), s.min), Max: s.decimal(uint64(s.maxInt), s.max),
	}
	if n.Count == 0 {
		return n
	}
	if e := s.estimates; e != nil {
		n.bins, n.Distinct = e.ranks.bins(), int64(e.distinct.Estimate())
		cells := e.cells.bins()
		n.Histogram = slots{first: cells[0].at, last: cells[len(cells)-1].at, step: e.cells.width()}.histogram(cells)
	} else {
		n.bins = s.bins()
		n.Histogram = histogramOf(n.bins)
	}
	for _, share := range quantileRanks {
		n.Quantiles = append(n.Quantiles, Quantile{share, quantile(n.bins, share)})
	}
	for _, c := range s.known.most(top) {
		n.Top = append(n.Top, Top[json.Number]{s.decimal(c.key, s.number(c.key)), c.n})
	}
	return n
}

func (s *spread) decimal(key uint64, x float64) json.Number {
	if s.float {
		return jsonFloat(x)
	}
	return json.Number(strconv.FormatInt(int64(key), 10))
}
