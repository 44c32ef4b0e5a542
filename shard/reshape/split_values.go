package reshape

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tfrec/tfrec/internal/digest"
	"github.com/tfrec/tfrec/internal/random"
	"github.com/tfrec/tfrec/internal/shares"
	"github.com/tfrec/tfrec/shard"
)

// values counts the records of each value of a feature, by the hash of the value.
type values struct {
	of    map[digest.Hash]*valueCount
	limit int
}

type valueCount struct {
	records int64
	dealt   int64 // records assigned to splits so far
	split   int   // split of all records, in a groupSplit
}

// valueBytes is the approximate memory use per value.
const valueBytes = 96

// countValues reads all records and counts their values.
func countValues(ctx context.Context, in *inputs, by *byFeature, o *ResplitOptions) (*values, error) {
	v := &values{of: map[digest.Hash]*valueCount{}, limit: int(max(o.memory()/valueBytes, 1))}
	err := in.eachRecord(ctx, o.workers(), by.look, func(_ int64, _ int, m digest.Hash) error {
		c := v.of[m]
		if c == nil {
			if len(v.of) == v.limit {
				return optionError(by.field, "feature %q has more than %d values, which is what Options.Memory holds: give more, or use ResplitOptions.ByHash, which needs none", by.key, v.limit)
			}
			c = new(valueCount)
			v.of[m] = c
		}
		c.records++
		return nil
	})
	if err != nil {
		return nil, err
	}
	return v, by.check()
}

// stratifiedSplit splits each value in the ratio of the shares.
type stratifiedSplit struct {
	*byFeature
	*values
	splits []shard.SplitShare
	seed   uint64
}

func newStratifiedSplit(ctx context.Context, in *inputs, by *byFeature, o *ResplitOptions) (chooser, error) {
	v, err := countValues(ctx, in, by, o)
	return &stratifiedSplit{by, v, o.Splits, o.Seed}, err
}

// choose puts the records of a value into a random order and cuts it at the cumulative shares. All
// cuts of a value are shifted by the same random fraction of a record: each split gets its share to
// within one record, and many values with few records do not all favor the same split.
func (s *stratifiedSplit) choose(_ int64, _ int, m digest.Hash) (int, error) {
	c := s.of[m]
	order := random.NewPermutation(c.records, m.Seeded(s.seed, "order of a value"))
	place := order.At(c.dealt)
	c.dealt++
	return cutAt(place, c.records, shares.Unit(m.Seeded(s.seed, "cuts of a value")), s.splits), nil
}

// cutAt returns the split of the record at a position among n.
func cutAt(place, n int64, moved float64, splits []shard.SplitShare) int {
	var end float64
	for i, s := range splits[:len(splits)-1] {
		end += s.Share
		if place < int64(math.Floor(end*float64(n)+moved)) {
			return i
		}
	}
	return len(splits) - 1
}

// groupSplit keeps all records of a value in one split.
type groupSplit struct {
	*byFeature
	*values
}

// newGroupSplit assigns the values in a random order, each to the split that is furthest below its
// share at that point.
func newGroupSplit(ctx context.Context, in *inputs, by *byFeature, o *ResplitOptions) (chooser, error) {
	v, err := countValues(ctx, in, by, o)
	if err != nil {
		return nil, err
	}
	type group struct {
		digest.Hash
		order uint64
	}
	groups := make([]group, 0, len(v.of))
	for m := range v.of {
		groups = append(groups, group{m, m.Seeded(o.Seed, "order of values")})
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
	})
	have := make([]int64, len(o.Splits))
	var dealt int64
	for _, g := range groups {
		c := v.of[g.Hash]
		dealt += c.records
		least, lacks := 0, math.Inf(-1)
		for i, s := range o.Splits {
			if l := s.Share*float64(dealt) - float64(have[i]); l > lacks {
				least, lacks = i, l
			}
		}
		c.split = least
		have[least] += c.records
	}
	return &groupSplit{by, v}, nil
}

func (s *groupSplit) choose(_ int64, _ int, m digest.Hash) (int, error) { return s.of[m].split, nil }
