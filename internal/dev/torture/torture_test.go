package torture

import (
	"slices"
	"testing"
)

// TestSample: a sample has some of the cases, each once and in their order, and another seed draws
// others. With -short it has a quarter.
func TestSample(t *testing.T) {
	defer func(seed uint64, torture bool) { *draw, *on = seed, torture }(*draw, *on)
	cases := make([]int, 100)
	for i := range cases {
		cases[i] = i
	}
	*on = false
	drawn := map[int]bool{}
	want := fewer(10)
	for seed := range uint64(400) {
		*draw = seed
		sample := Sample(t, 10, cases)
		if len(sample) != want || !slices.IsSorted(sample) || len(slices.Compact(slices.Clone(sample))) != want {
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
		t.Errorf("400 samples of %d have only %d of 100 cases", want, len(drawn))
	}
	if got := Sample(t, 4*len(cases)+1, cases); !slices.Equal(got, cases) {
		t.Errorf("a sample of more than all: %d", got)
	}
	*on = true
	if got := Sample(t, 10, cases); !slices.Equal(got, cases) {
		t.Errorf("with -torture: %d", got)
	}
}
