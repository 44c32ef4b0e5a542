package reshape

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// scenes draws the classes of the objects of n images: a few frequent ones, a long tail, classes
// that keep each other company, and a tenth without objects.
func scenes(n int, seed uint64) [][]int64 {
	rnd := rand.New(rand.NewPCG(seed, 0))
	list := make([][]int64, n)
	for i := range list {
		if i%10 == 0 {
			continue
		}
		for range 1 + rnd.IntN(6) {
			class := int64(80 * math.Pow(rnd.Float64(), 3))
			list[i] = append(list[i], class)
			if rnd.IntN(3) == 0 {
				list[i] = append(list[i], class^1)
			}
		}
	}
	return list
}

// unevenness is the root mean square, over classes and splits, of how many records of a class a
// split has too many or too few, the most of them, and the most records that a split has too many
// or too few.
func unevenness(list [][]int64, splits map[int64]string, ratios []shard.SplitShare) (rms, most, size float64) {
	have, total := map[int64]map[string]float64{}, map[int64]float64{}
	sizes := map[string]float64{}
	for i, classes := range list {
		sizes[splits[int64(i)]]++
		set := slices.Compact(slices.Sorted(slices.Values(classes)))
		if len(set) == 0 {
			set = []int64{-1}
		}
		for _, class := range set {
			if have[class] == nil {
				have[class] = map[string]float64{}
			}
			have[class][splits[int64(i)]]++
			total[class]++
		}
	}
	n := 0.
	for class := range total {
		for _, s := range ratios {
			off := math.Abs(have[class][s.Name] - s.Share*total[class])
			rms += off * off
			most = max(most, off)
			n++
		}
	}
	for _, s := range ratios {
		size = max(size, math.Abs(sizes[s.Name]-s.Share*float64(len(list))))
	}
	return math.Sqrt(rms / n), most, size
}

// Classes of objects, several a record, have their shares in all splits, much closer than at
// random, with the same result for any number of workers and another one for another seed.
func TestSplitStratifiedByClassesPresent(t *testing.T) {
	ratios := []shard.SplitShare{{Name: "train", Share: 0.7}, {Name: "val", Share: 0.2}, {Name: "test", Share: 0.1}}
	const n = 3000
	for seed := range uint64(3) {
		list := scenes(n, seed)
		set := madeSet(t, n, 3, nil, func(i int, b *tfrecord.Builder) {
			settest.Numbers(i, b)
			if i%20 != 0 { // without objects: an empty feature, or none
				b.Int64("classes", list[i]...)
			}
		})
		o := ResplitOptions{Splits: ratios, Stratify: "classes"}
		o.Seed = seed
		o.Workers = 1
		splits := resplit(t, set, o)
		o.Workers = 4
		if again := resplit(t, set, o); !maps.Equal(splits, again) {
			t.Error("the number of workers matters")
		}
		o.Seed = 77
		if other := resplit(t, set, o); maps.Equal(splits, other) {
			t.Error("the seed does not matter")
		}
		o.Stratify = ""
		rms, most, size := unevenness(list, splits, ratios)
		randomRMS, randomMost, randomSize := unevenness(list, resplit(t, set, o), ratios)
		t.Logf("seed %d: off by %.2f, at most %.1f, sizes by %.1f; at random %.2f, %.1f, %.1f", seed, rms, most, size, randomRMS, randomMost, randomSize)
		if rms > randomRMS/4 || most > randomMost/2 || size > n/100 {
			t.Error("not close enough")
		}
	}
}
