package reshape

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/internal/random"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// stratifiedSplit splits the records of each value in the ratio of the shares. Records with several
// values, such as the classes of an image's objects, count for each of them, once.
//
// Records with the same set of values are a stratum; iterative stratification distributes the
// records of each stratum to the splits (K. Sechidis, G. Tsoumakas, I. Vlahavas: On the
// Stratification of Multi-Label Data, ECML PKDD 2011): value by value, the one with the fewest
// records left first, each record goes to the split that needs most records of this value. Unlike
// there, a split's target for a value is a whole number: its share, rounded at random, so that
// values with few records do not all favor the largest split.
type stratifiedSplit struct {
	*byFeature
	*values
	splits []shard.SplitShare
	seed   uint64

	mu   sync.Mutex
	sets map[digest.Hash][]digest.Hash // the values of strata with several
}

// Approximate memory use per stratum, and per value of one with several, in addition to valueBytes.
const (
	strataBytes   = 200
	valueRefBytes = 60
)

func newStratifiedSplit(ctx context.Context, in *source.Inputs, by *byFeature, o *ResplitOptions) (assign.Chooser, error) {
	s := &stratifiedSplit{byFeature: by, splits: o.Splits, seed: o.Seed, sets: map[digest.Hash][]digest.Hash{}}
	cost := func(m digest.Hash) int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return strataBytes + 16*len(o.Splits) + valueRefBytes*len(s.sets[m])
	}
	var err error
	if s.values, err = countValues(ctx, in, by, s.Look, cost); err != nil {
		return nil, err
	}
	s.deal()
	return s, nil
}

// Look returns the hash of a record's stratum, and remembers its values.
func (s *stratifiedSplit) Look(r *source.Record) (digest.Hash, error) {
	value, err := s.value(r)
	if err != nil || value.Len() < 2 {
		return digest.OfValue(value), err
	}
	set := digest.AppendEach(make([]digest.Hash, 0, value.Len()), value)
	slices.SortFunc(set, digest.Hash.Compare)
	set = slices.Compact(set)
	if len(set) == 1 {
		return set[0], nil
	}
	var form []byte
	for _, m := range set {
		form = m.Append(form)
	}
	stratum := digest.Of(form)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sets[stratum] == nil {
		s.sets[stratum] = slices.Clone(set)
	}
	return stratum, nil
}

// valuesOf returns the values of a stratum.
func (s *stratifiedSplit) valuesOf(stratum digest.Hash) []digest.Hash {
	if set := s.sets[stratum]; set != nil {
		return set
	}
	return []digest.Hash{stratum}
}

// Choose puts the records of a stratum into a random order and cuts it.
func (s *stratifiedSplit) Choose(_ int64, _ int, m digest.Hash) (int, error) {
	c := s.of[m]
	order := random.NewPermutation(c.records, m.Seeded(s.seed, "order of a value"))
	place := order.At(c.dealt)
	c.dealt++
	split := 0
	for place >= c.cuts[split] {
		split++
	}
	return split, nil
}

// stratumValue is one value of the feature, with its records still to deal.
type stratumValue struct {
	records int64
	order   uint64    // among values with as many records
	lacks   []int64   // records, by split
	strata  []stratum // that have it
}

// stratum is a set of values, and its records.
type stratum struct {
	digest.Hash
	*valueCount
}

// deal decides how many records of each stratum go to which split.
func (s *stratifiedSplit) deal() {
	strata := make([]stratum, 0, len(s.of))
	for m, c := range s.of {
		strata = append(strata, stratum{m, c})
	}
	slices.SortFunc(strata, func(a, b stratum) int {
		return cmp.Or(cmp.Compare(a.Seeded(s.seed, "order of values"), b.Seeded(s.seed, "order of values")), a.Compare(b.Hash))
	})
	of := map[digest.Hash]*stratumValue{}
	for _, g := range strata {
		for _, m := range s.valuesOf(g.Hash) {
			v := of[m]
			if v == nil {
				v = &stratumValue{order: m.Seeded(s.seed, "order of values")}
				of[m] = v
			}
			v.records += g.records
			v.strata = append(v.strata, g)
		}
	}
	var next rarest
	for m, v := range of {
		v.lacks = counts(cutsOf(v.records, shares.Unit(m.Seeded(s.seed, "cuts of a value")), s.splits))
		next = append(next, rarity{v, v.records})
	}
	heap.Init(&next)
	left := make([]float64, len(s.splits)) // missing records by split, of any value
	for i, split := range s.splits {
		left[i] = split.Share * float64(s.total)
	}
	for len(next) > 0 {
		r := heap.Pop(&next).(rarity)
		if r.records != r.value.records {
			continue // it was pushed again since
		}
		for _, g := range r.value.strata {
			if g.cuts != nil {
				continue
			}
			set := s.valuesOf(g.Hash)
			lacks := make([][]int64, len(set))
			for i, m := range set {
				lacks[i] = of[m].lacks
				of[m].records -= g.records
			}
			g.cuts = dealStratum(g.records, r.value.lacks, lacks, left)
			for _, m := range set {
				if v := of[m]; v != r.value && v.records > 0 {
					heap.Push(&next, rarity{v, v.records})
				}
			}
		}
	}
}

// dealStratum deals n records with the same values, one of which decides, and returns where to cut
// them.
func dealStratum(n int64, deciding []int64, all [][]int64, left []float64) []int64 {
	cuts := make([]int64, len(left))
	for range n {
		best := 0
		for i := range left {
			if deciding[i] > deciding[best] || deciding[i] == deciding[best] && left[i] > left[best] {
				best = i
			}
		}
		for _, lacks := range all {
			lacks[best]--
		}
		left[best]--
		cuts[best]++
	}
	for i := 1; i < len(cuts); i++ {
		cuts[i] += cuts[i-1]
	}
	return cuts
}

// cutsOf returns where n records are cut so that each split has its share to within one record.
// moved, from 0 to 1, decides how the shares are rounded.
func cutsOf(n int64, moved float64, splits []shard.SplitShare) []int64 {
	cuts := make([]int64, len(splits))
	var end float64
	for i, s := range splits {
		end += s.Share
		cuts[i] = int64(math.Floor(end*float64(n) + moved))
	}
	cuts[len(cuts)-1] = n
	return cuts
}

// counts turns cuts into the numbers of records between them.
func counts(cuts []int64) []int64 {
	for i := len(cuts) - 1; i > 0; i-- {
		cuts[i] -= cuts[i-1]
	}
	return cuts
}

// rarity is a value and how many of its records were left when it was pushed.
type rarity struct {
	value   *stratumValue
	records int64
}

// rarest is a heap of values, the one with the fewest records first.
type rarest []rarity

func (h rarest) Len() int { return len(h) }
func (h rarest) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].records, h[j].records), cmp.Compare(h[i].value.order, h[j].value.order)) < 0
}
func (h rarest) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *rarest) Push(x any)   { *h = append(*h, x.(rarity)) }
func (h *rarest) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
