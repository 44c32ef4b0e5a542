package records

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/zeebo/xxh3"
)

// Sampler lists the records of each epoch, as a torch.utils.data.Sampler does.
type Sampler struct {
	// Name identifies the lists in a State: another name makes another pipeline.
	Name string
	// Records returns the numbers of the records of an epoch in the order in which they are read:
	// any of 0 up to, not including, Set.Len, as Set.At counts them, each any number of times;
	// its copies get the same draws of ImageSpec.Policy. All workers of a job must get the same
	// list. The list is not changed, and kept until the next epoch begins.
	Records func(epoch int64) ([]int64, error)

	// each means that the lists depend on one number per record, and of is their count.
	each bool
	of   int
	// seeded, if not nil, returns the sampler for the seed of the set.
	seeded func(seed uint64) Sampler
}

// withSeed returns the sampler for the seed, or for the seed of the set if it is nil.
func withSeed(seed *uint64, sampler func(seed uint64) Sampler) Sampler {
	if seed != nil {
		return sampler(*seed)
	}
	s := sampler(0)
	s.seeded = sampler
	return s
}

// Sample returns a source of the records that a sampler lists.
func Sample(s *fileset.Set, from Sampler) *pipeline.Link {
	return inOrder(s, "sample", func(*pipeline.Run) (string, globalOrder, error) {
		from := from
		if from.seeded != nil {
			from = from.seeded(s.Opts.Seed)
		}
		if from.Name == "" || from.Records == nil {
			return "", nil, errors.New("reader: Sample: want a Sampler with a Name and Records")
		}
		return fmt.Sprintf("sample(%s", from.Name), func(epoch, records int64) (sequence, int64, error) {
			list, err := from.Records(epoch)
			if err == nil && from.each && int64(from.of) != records {
				err = fmt.Errorf("there are %s for the %s of the set: want one for each, those of other workers included", plural.Of(from.of, "number"), plural.Of(records, "record"))
			}
			if err != nil {
				return nil, 0, fmt.Errorf("reader: sampler %s, epoch %d: %w", from.Name, epoch, err)
			}
			for i, n := range list {
				if n < 0 || n >= records {
					return nil, 0, fmt.Errorf("reader: sampler %s, epoch %d: element %d is record %d, and the set has records 0 to %d", from.Name, epoch, i, n, records-1)
				}
			}
			return listed(list), int64(len(list)), nil
		}, nil
	})
}

// listed is an order in memory.
type listed []int64

func (l listed) At(place int64) int64 { return l[place] }

// WeightedOptions are the options of [WeightedSampler].
type WeightedOptions struct {
	// Records is the number of elements of an epoch. Default: as many as there are weights above 0.
	Records int64
	// Replacement draws each element from all records, so that a record may come any number of
	// times. The copies of an epoch get the same draws of ImageSpec.Policy. Default: each comes
	// once at most, those with large weights rather early.
	Replacement bool
	// Seed of the draws. Default: Seed of the Options.
	Seed *uint64
}

// WeightedSampler draws records with probabilities proportional to their weights: weights[i] is the
// weight of record i, 0 or more, and there is one for each record of the whole set. To draw classes
// equally often, give each record 1 / the number of records of its class, with Replacement; the
// Set.Records of a set opened without Workers are in the order of the weights. The weights are not
// changed, and must not be while the sampler is in use.
//
// It is torch.utils.data.WeightedRandomSampler. With replacement it uses the alias method (Vose: A
// Linear Algorithm for Generating Random Numbers with a Given Distribution, 1991), with 16 bytes of
// memory for each weight and 8 for each element of an epoch; without, exponential keys (Efraimidis,
// Spirakis: Weighted Random Sampling with a Reservoir, 2006), with 24 bytes for each weight, which
// are sorted at the beginning of each epoch.
func WeightedSampler(weights []float64, o WeightedOptions) Sampler {
	table := sync.OnceValue(func() *aliases { return newAliases(weights) })
	hash := hashOf(weights)
	return withSeed(o.Seed, func(seed uint64) Sampler {
		name := fmt.Sprintf("weighted(weights=%016x,records=%d,replacement=%t,seed=%d)", hash, o.Records, o.Replacement, seed)
		return Sampler{Name: name, each: true, of: len(weights), Records: func(epoch int64) ([]int64, error) {
			if err := pipeline.CheckWeights(weights); err != nil {
				return nil, err
			}
			positive := int64(0)
			for _, w := range weights {
				if w > 0 {
					positive++
				}
			}
			n := cmp.Or(o.Records, positive)
			if n < 0 || n > pipeline.MaxSkip || !o.Replacement && n > positive {
				return nil, fmt.Errorf("%d Records of %d weights above 0: want 0 or more, and without Replacement no more than these", o.Records, positive)
			}
			numbers := pipeline.Draws(pipeline.Key(seed, pipeline.ForSample, uint64(epoch)))
			if o.Replacement {
				return table().draw(numbers, n), nil
			}
			return weightedOrder(weights, numbers)[:n], nil
		}}
	})
}

// hashOf identifies numbers.
func hashOf(numbers []float64) uint64 {
	h := xxh3.New()
	var word [8]byte
	for _, x := range numbers {
		binary.LittleEndian.PutUint64(word[:], math.Float64bits(x))
		h.Write(word[:])
	}
	return h.Sum64()
}

// aliases draws indexes with given probabilities: index i comes with probability keep[i] if it is
// drawn, and other[i] otherwise.
type aliases struct {
	keep  []float64
	other []int64
}

func newAliases(weights []float64) *aliases {
	n, total := len(weights), 0.0
	for _, w := range weights {
		total += w
	}
	a := &aliases{keep: make([]float64, n), other: make([]int64, n)}
	var small, large []int64
	for i, w := range weights {
		a.keep[i], a.other[i] = w/total*float64(n), int64(i)
		if a.keep[i] < 1 {
			small = append(small, int64(i))
		} else {
			large = append(large, int64(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.other[s] = l
		a.keep[l] -= 1 - a.keep[s]
		if a.keep[l] < 1 {
			small, large = append(small, l), large[:len(large)-1]
		}
	}
	// The remaining weights should be 1, but for rounding.
	for _, i := range slices.Concat(small, large) {
		if weights[i] > 0 {
			a.keep[i] = 1
		} else {
			a.other[i] = int64(slices.Index(weights, slices.Max(weights)))
		}
	}
	return a
}

// draw returns n indexes.
func (a *aliases) draw(numbers pipeline.Draws, n int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		k := numbers.Below(2*int64(i), len(a.keep))
		if numbers.Float(2*int64(i)+1) < a.keep[k] {
			list[i] = int64(k)
		} else {
			list[i] = a.other[k]
		}
	}
	return list
}

// weightedOrder returns the indexes of all weights above 0: each next one is drawn from those left,
// by weight.
func weightedOrder(weights []float64, numbers pipeline.Draws) []int64 {
	type keyed struct {
		key   float64 // exponentially distributed, with the weight as its rate
		index int64
	}
	var all []keyed
	for i, w := range weights {
		if w > 0 {
			all = append(all, keyed{-math.Log1p(-numbers.Float(int64(i))) / w, int64(i)})
		}
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.index, b.index)) })
	list := make([]int64, len(all))
	for i, k := range all {
		list[i] = k.index
	}
	return list
}

// SortedOptions are the options of [SortedSampler]; the zero value sorts all records.
type SortedOptions struct {
	// Window puts the records into a random order, another one in each epoch, and sorts each run of
	// that many of them: neighbours are then alike, such as of similar length, and the epoch is
	// still random. Default: all records are sorted.
	Window int64
	// Shuffle shuffles each run of that many records after sorting: a curriculum from small to
	// large keys that does not always have the same neighbours. Default: none.
	Shuffle int64
	// Seed of the random orders. Default: Seed of the Options.
	Seed *uint64
}

// SortedSampler orders records by ascending key. keys[i] is the key of record i, such as its
// difficulty or its length, and must not be NaN; there is one for each record of the whole set.
// Equal keys keep the order of the records. The keys must not be changed while the sampler is in
// use.
func SortedSampler(keys []float64, o SortedOptions) Sampler {
	hash := hashOf(keys)
	return withSeed(o.Seed, func(seed uint64) Sampler {
		name := fmt.Sprintf("sorted(keys=%016x,window=%d,shuffle=%d,seed=%d)", hash, o.Window, o.Shuffle, seed)
		return Sampler{Name: name, each: true, of: len(keys), Records: func(epoch int64) ([]int64, error) {
			if o.Window < 0 || o.Shuffle < 0 {
				return nil, fmt.Errorf("a Window of %d, a Shuffle of %d: want 0 or more", o.Window, o.Shuffle)
			}
			list := make([]int64, len(keys))
			for i := range list {
				if list[i] = int64(i); math.IsNaN(keys[i]) {
					return nil, fmt.Errorf("key %d is NaN", i)
				}
			}
			if o.Window > 0 {
				pipeline.Permute(list, pipeline.Draws(pipeline.Key(seed, pipeline.ForSample, uint64(epoch), 1)))
			}
			for run := range runs(list, o.Window) {
				slices.SortStableFunc(run, func(a, b int64) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
			}
			if o.Shuffle > 0 {
				n := uint64(0)
				for run := range runs(list, o.Shuffle) {
					pipeline.Permute(run, pipeline.Draws(pipeline.Key(seed, pipeline.ForSample, uint64(epoch), 2, n)))
					n++
				}
			}
			return list, nil
		}}
	})
}

// runs yields runs of n elements of a list; all of them at once if n is 0.
func runs(list []int64, n int64) func(yield func([]int64) bool) {
	if n == 0 || n > int64(len(list)) {
		n = int64(max(len(list), 1))
	}
	return slices.Chunk(list, int(n))
}
