package reshape

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// values counts the records of each value of a feature, by the hash of the value.
type values struct {
	of map[digest.Hash]*valueCount
}

type valueCount struct {
	records int64
	dealt   int64   // records assigned to splits so far
	split   int     // split of all records, in a groupSplit
	cuts    []int64 // number of records up to the end of each split, in a stratifiedSplit
}

// valueBytes is the approximate memory use per value.
const valueBytes = 120

// countValues reads all records and counts their values, by the hash that look returns. A value
// takes cost bytes of memory in addition to valueBytes.
func countValues(ctx context.Context, in *source.Inputs, by *byFeature, look func(*source.Record) (digest.Hash, error), cost func(digest.Hash) int) (*values, error) {
	v := &values{of: map[digest.Hash]*valueCount{}}
	var bytes int64
	err := in.EachRecord(ctx, in.Workers, look, func(_ int64, _ int, m digest.Hash) error {
		c := v.of[m]
		if c == nil {
			if bytes += valueBytes + int64(cost(m)); bytes > in.Memory && len(v.of) > 0 {
				return source.OptionError(by.field, "feature %q has more than %d values, which is what %s holds: give more, or use %s, which needs none", by.key, len(v.of), optname.OptionsMemory, optname.ResplitOptionsByHash)
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

// groupSplit keeps all records of a value in one split.
type groupSplit struct {
	*byFeature
	*values
}

// newGroupSplit assigns the values in a random order, each to the split that is furthest below its
// share at that point.
func newGroupSplit(ctx context.Context, in *source.Inputs, by *byFeature, o *ResplitOptions) (assign.Chooser, error) {
	v, err := countValues(ctx, in, by, by.Look, func(digest.Hash) int { return 0 })
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
		return cmp.Or(cmp.Compare(a.order, b.order), a.Compare(b.Hash))
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

func (s *groupSplit) Choose(_ int64, _ int, m digest.Hash) (int, error) { return s.of[m].split, nil }
