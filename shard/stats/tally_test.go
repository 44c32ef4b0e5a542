package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTallyKeepsWhatComesOften counts streams of many values with tallies of several files, and
// compares what is kept with the true counts.
func TestTallyKeepsWhatComesOften(t *testing.T) {
	for name, draw := range map[string]func(rnd *rand.Rand) uint64{
		"few":           func(rnd *rand.Rand) uint64 { return rnd.Uint64N(1000) },
		"all different": func(rnd *rand.Rand) uint64 { return rnd.Uint64() },
		"skewed":        func(rnd *rand.Rand) uint64 { return uint64(math.Pow(rnd.Float64(), -3)) },
		"one of ten": func(rnd *rand.Rand) uint64 {
			if rnd.IntN(10) == 0 {
				return 7
			}
			return rnd.Uint64N(1 << 40)
		},
	} {
		t.Run(name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(5, 6))
			truth := map[uint64]int64{}
			var total tally[uint64]
			n := int64(0)
			exact := true
			for range 4 {
				var part tally[uint64]
				for range 25_000 {
					x := draw(rnd)
					n++
					truth[x]++
					if i, known := part.index[x]; known {
						part.counts[i].n++
						continue
					}
					if part.full() {
						exact = false
						part.purge()
					}
					part.insert(x, 1)
				}
				together := total.together(&part)
				room := total.merge(&part)
				if room != (together <= tallySize) {
					t.Errorf("together %d, room %v", together, room)
				}
				exact = exact && room
			}
			if len(total.counts) > tallySize || len(total.counts) != len(total.index) {
				t.Fatalf("%d values, %d in the index", len(total.counts), len(total.index))
			}
			if exact != (total.taken == 0) || total.taken > n/(tallySize/2) {
				t.Errorf("exact %v, %d taken of %d", exact, total.taken, n)
			}
			for x, count := range truth {
				kept := int64(0)
				if i, known := total.index[x]; known {
					kept = total.counts[i].n
				}
				if kept > count || count > kept+total.taken {
					t.Fatalf("%d: counted %d and %d more, came %d times", x, kept, total.taken, count)
				}
			}
			list := total.most(5)
			for i := 1; i < len(list); i++ {
				if list[i].n > list[i-1].n {
					t.Errorf("not in order: %v", list)
				}
			}
			if name == "one of ten" && (len(list) == 0 || list[0].key != 7) {
				t.Errorf("most frequent: %v", list)
			}
		})
	}
}

// TestMomentsOfFarNumbers: naive sums of squares would lose all precision.
func TestMomentsOfFarNumbers(t *testing.T) {
	const far = 1e9
	var whole, merged moments
	merged.merge(moments{})
	for part := range 10 {
		var m moments
		for i := range 1000 {
			x := far + float64((part*1000+i)%7)
			whole.add(x)
			m.add(x)
		}
		merged.merge(m)
	}
	want := moments{}
	for i := range 10_000 {
		want.add(float64(i % 7))
	}
	for name, m := range map[string]moments{"one by one": whole, "merged": merged} {
		if m.n != 10_000 || math.Abs(m.mean-far-want.mean) > 1e-4 || math.Abs(m.std()-want.std()) > 1e-6 {
			t.Errorf("%s: %d numbers, mean %v, std %v; want %v, %v", name, m.n, m.mean, m.std(), far+want.mean, want.std())
		}
	}
}
