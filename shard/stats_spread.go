package shard

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/DataDog/sketches-go/ddsketch/mapping"
	"github.com/DataDog/sketches-go/ddsketch/store"
	"github.com/axiomhq/hyperloglog"
	"github.com/zeebo/xxh3"
)

// spread is Numbers under construction: of int64s or of float32s, not of both.
type spread struct {
	float   bool
	moments moments
	// The range, of int64s exactly.
	min, max       float64
	minInt, maxInt int64
	// known counts the numbers by their bits; sketch and distinct are nil while
	// it knows all of them.
	known    tally[uint64]
	sketch   *ddsketch.DDSketch
	distinct *hyperloglog.Sketch
}

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
		x = 0 // and not minus that: there is one zero
	}
	s.float = true
	if s.moments.n == 0 {
		s.min, s.max = float64(x), float64(x)
	}
	s.min, s.max = min(s.min, float64(x)), max(s.max, float64(x))
	s.add(uint64(math.Float32bits(x)), float64(x))
}

func (s *spread) add(key uint64, x float64) {
	s.moments.add(x)
	if s.sketch != nil {
		s.estimate(key, x, 1)
	}
	if i, known := s.known.index[key]; known {
		s.known.counts[i].n++
		return
	}
	if s.known.full() {
		if s.sketch == nil {
			s.startEstimates()
			s.estimate(key, x, 1)
		}
		s.known.purge()
	}
	s.known.insert(key, 1)
}

// estimate adds a number to what holds numbers that known has no room for.
func (s *spread) estimate(key uint64, x float64, n int64) {
	// Neither can fail: x is far inside of what a sketch of float64s takes.
	if n == 1 {
		_ = s.sketch.Add(x)
	} else {
		_ = s.sketch.AddWithCount(x, float64(n))
	}
	s.distinct.InsertHash(hashNumber(key))
}

// startEstimates begins the estimates with all numbers so far, which are known.
func (s *spread) startEstimates() {
	s.sketch, s.distinct = newSketch(), hyperloglog.NewNoSparse()
	for _, c := range s.known.counts {
		s.estimate(c.key, s.number(c.key), c.n)
	}
}

var sketchMapping = func() mapping.IndexMapping {
	m, err := mapping.NewCubicallyInterpolatedMapping(QuantileError)
	if err != nil {
		panic(err)
	}
	return m
}()

// newSketch returns an empty sketch. Its size is bounded by the range of its
// numbers alone: 2 times 77 KiB for those of float32.
func newSketch() *ddsketch.DDSketch {
	return ddsketch.NewDDSketch(sketchMapping, store.NewBufferedPaginatedStore(), store.NewBufferedPaginatedStore())
}

func hashNumber(key uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return xxh3.Hash(b[:])
}

// number returns the number of a key of known.
func (s *spread) number(key uint64) float64 {
	if s.float {
		return float64(math.Float32frombits(uint32(key)))
	}
	return float64(int64(key))
}

// merge adds what another spread has, and takes it over.
func (s *spread) merge(t *spread) {
	if t.moments.n == 0 {
		return
	}
	if s.moments.n == 0 {
		*s = *t
		return
	}
	s.moments.merge(t.moments)
	s.min, s.max = min(s.min, t.min), max(s.max, t.max)
	s.minInt, s.maxInt = min(s.minInt, t.minInt), max(s.maxInt, t.maxInt)
	if s.sketch == nil && t.sketch == nil && s.known.together(&t.known) <= tallySize {
		s.known.merge(&t.known)
		return
	}
	if s.sketch == nil {
		s.startEstimates()
	}
	if t.sketch == nil {
		t.startEstimates()
	}
	// Both are made alike, and can't refuse each other.
	_ = s.sketch.MergeWith(t.sketch)
	_ = s.distinct.Merge(t.distinct)
	s.known.merge(&t.known)
}

// bins returns where the numbers lie, in order.
func (s *spread) bins() []bin {
	if s.sketch != nil {
		return sketchBins(s.sketch)
	}
	var list []bin
	for _, c := range s.known.counts {
		list = append(list, bin{s.number(c.key), c.n})
	}
	slices.SortFunc(list, compareBins)
	return list
}

func compareBins(a, b bin) int { return cmp.Compare(a.at, b.at) }

// sketchBins returns what a sketch has, in order.
func sketchBins(sketch *ddsketch.DDSketch) []bin {
	var list []bin
	sketch.ForEach(func(at, n float64) bool {
		list = append(list, bin{at, int64(n)})
		return false
	})
	slices.SortFunc(list, compareBins)
	return list
}

// ends returns the least and the largest number.
func (s *spread) ends() (low, high float64) {
	if s.float {
		return s.min, s.max
	}
	return float64(s.minInt), float64(s.maxInt)
}

// numbers describes the numbers with up to top of those that come most often;
// nil stays nil.
func (s *spread) numbers(top int) *Numbers {
	if s == nil {
		return nil
	}
	n := &Numbers{
		Count: s.moments.n, Mean: s.moments.mean, Std: s.moments.std(), Exact: s.sketch == nil,
		Quantiles: []Quantile{}, Histogram: []Bucket{}, Top: []Top[json.Number]{},
		Distinct: int64(len(s.known.counts)), TopError: s.known.taken,
		Min: s.decimal(uint64(s.minInt), s.min), Max: s.decimal(uint64(s.maxInt), s.max),
	}
	if n.Count == 0 {
		return n
	}
	if s.distinct != nil {
		n.Distinct = int64(s.distinct.Estimate())
	}
	n.bins = s.bins()
	low, high := s.ends()
	for _, share := range quantileRanks {
		n.Quantiles = append(n.Quantiles, Quantile{share, min(max(quantile(n.bins, share), low), high)})
	}
	n.Histogram = histogram(n.bins, low, high, !s.float)
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
