package torture

import (
	"slices"
	"testing"
)

// TestSample: a sample has some of the cases, each once and in their order, and another seed draws
// others.
func TestSample(t *testing.T) {
	defer func(seed uint64, torture bool) { *draw, *on = seed, torture }(*draw, *on)
	cases := make([]int, 100)
	for i := range cases {
		cases[i] = i
	}
	*on = false
	drawn := map[int]bool{}
	for seed := range uint64(100) {
		*draw = seed
		sample := Sample(t, 10, cases)
		if len(sample) != 10 || !slices.IsSorted(sample) || len(slices.Compact(slices.Clone(sample))) != 10 {
			t.Fatalf("seed %d: %d", seed, sample)
		}
		if again := Sample(t, 10, cases); !slices.Equal(sample, again) {
			t.Fatalf("seed %d: %d, and then %d", seed, sample, again)
		}
		for _, n := range sample {
			drawn[n] = true
		}
	}
	if len(drawn) != len(cases) {
		t.Errorf("100 samples of 10 have only %d of 100 cases", len(drawn))
	}
	if got := Sample(t, 101, cases); !slices.Equal(got, cases) {
		t.Errorf("a sample of more than all: %d", got)
	}
	*on = true
	if got := Sample(t, 10, cases); !slices.Equal(got, cases) {
		t.Errorf("with -torture: %d", got)
	}
}
