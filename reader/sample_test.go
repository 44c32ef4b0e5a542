package reader

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// listOf returns the list of an epoch.
func listOf(t *testing.T, s Sampler, epoch int64) []int64 {
	t.Helper()
	list, err := s.Records(epoch)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Each record comes as often as its weight says, within four standard deviations.
func TestWeightedSamplerDraws(t *testing.T) {
	weights := []float64{0, 1, 2, 0, 5, 0.25, 1.75, 0}
	const n = 40_000
	list := listOf(t, WeightedSampler(weights, WeightedOptions{Records: n, Replacement: true, Seed: new(uint64(1))}), 0)
	count := make([]float64, len(weights))
	for _, i := range list {
		count[i]++
	}
	for i, w := range weights {
		p := w / 10
		if off := math.Abs(count[i] - n*p); off > 4*math.Sqrt(n*p*(1-p)) {
			t.Errorf("record %d with a share of %g: %g of %d draws", i, p, count[i], n)
		}
	}
}

// Without replacement the first record is drawn by weight, and all of them come once.
func TestWeightedSamplerWithoutReplacement(t *testing.T) {
	weights := []float64{1, 0, 6, 3}
	const rounds = 5000
	first, second := make([]float64, 4), 0.0
	s := WeightedSampler(weights, WeightedOptions{Seed: new(uint64(2))})
	for epoch := range int64(rounds) {
		list := listOf(t, s, epoch)
		if sorted := slices.Sorted(slices.Values(list)); !slices.Equal(sorted, []int64{0, 2, 3}) {
			t.Fatalf("epoch %d: %v", epoch, list)
		}
		first[list[0]]++
		if list[0] == 2 && list[1] == 3 {
			second++
		}
	}
	for i, w := range weights {
		if p := w / 10; math.Abs(first[i]-rounds*p) > 4*math.Sqrt(rounds*p*(1-p)) {
			t.Errorf("record %d with a share of %g came first in %g of %d epochs", i, p, first[i], rounds)
		}
	}
	// After record 2 the others are drawn with 1 and 3 parts of 4.
	if p := 0.6 * 0.75; math.Abs(second-rounds*p) > 4*math.Sqrt(rounds*p*(1-p)) {
		t.Errorf("2, then 3: %g of %d epochs, want about %g", second, rounds, rounds*p)
	}
}

func TestSortedSampler(t *testing.T) {
	keys := []float64{3, 1, 2, 1, 0, 9, 4, 1, 7, 5}
	if list, want := listOf(t, SortedSampler(keys, SortedOptions{}), 3), []int64{4, 1, 3, 7, 2, 0, 6, 9, 8, 5}; !slices.Equal(list, want) {
		t.Errorf("all sorted: %v, want %v", list, want)
	}
	windows := func(o SortedOptions, check func(run []int64)) {
		t.Helper()
		a, b := listOf(t, SortedSampler(keys, o), 0), listOf(t, SortedSampler(keys, o), 1)
		if slices.Equal(a, b) {
			t.Errorf("%+v: two epochs have the same order", o)
		}
		for _, list := range [][]int64{a, b} {
			for run := range slices.Chunk(list, 4) {
				check(run)
			}
			if len(slices.Compact(slices.Sorted(slices.Values(list)))) != len(keys) {
				t.Errorf("%+v: not each record once: %v", o, list)
			}
		}
	}
	windows(SortedOptions{Window: 4}, func(run []int64) {
		if !slices.IsSortedFunc(run, func(a, b int64) int { return int(keys[a] - keys[b]) }) {
			t.Errorf("a window is not sorted: %v", run)
		}
	})
	last := math.Inf(-1)
	windows(SortedOptions{Shuffle: 4}, func(run []int64) {
		low, high := math.Inf(1), math.Inf(-1)
		for _, i := range run {
			low, high = min(low, keys[i]), max(high, keys[i])
		}
		if low < last {
			t.Errorf("a run has keys from %g, the one before up to %g", low, last)
		}
		if last = high; len(run) < 4 { // the last one of a list
			last = math.Inf(-1)
		}
	})
}

// Sample returns the records of the list, from any State, among any number of workers.
func TestSampleReadsTheList(t *testing.T) {
	lengths := []int{30, 0, 45, 25}
	dir, all := readertest.WriteShards(t, tfrecord.CompressionNone, lengths...), readertest.InOrder(lengths...)
	list := []int64{5, 99, 5, 5, 0, 31, 74, 75, 99, 30, 29, 1, 2, 3, 99}
	sampler := Sampler{Name: "test", Records: func(epoch int64) ([]int64, error) { return list[epoch:], nil }}
	var want []int
	for _, n := range list[1:] {
		want = append(want, all[n])
	}
	for _, workers := range []int{1, 2, 4} {
		got := make([]int, len(want))
		for w := range workers {
			p := open(t, dir, Options{Worker: w, Workers: workers}).Sample(sampler)
			s, err := p.Start(t.Context(), From{Epoch: 1})
			if err != nil {
				t.Fatal(err)
			}
			for i := w; i < len(want); i += workers {
				r, err := s.Next()
				if err != nil {
					t.Fatal(err)
				}
				got[i] = idOf(r)
				state, err := roundTrip(s.State())
				if err != nil {
					t.Fatal(err)
				}
				s.Close()
				if s, err = p.Start(t.Context(), From{State: &state}); err != nil {
					t.Fatal(err)
				}
			}
			if left := rest(t, s); len(left) > 0 {
				t.Errorf("worker %d of %d: %d records too many", w, workers, len(left))
			}
			s.Close()
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: %v, want %v", workers, got, want)
		}
	}
}

func TestSampleRefuses(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 3), Options{})
	fixed := func(list ...int64) Sampler {
		return Sampler{Name: "fixed", Records: func(int64) ([]int64, error) { return list, nil }}
	}
	for want, s := range map[string]Sampler{
		"want a Sampler with a Name":    {},
		"element 1 is record 3":         fixed(0, 3),
		"element 0 is record -1":        fixed(-1),
		"sampler x, epoch 0: no":        {Name: "x", Records: func(int64) ([]int64, error) { return nil, errors.New("no") }},
		"weight 1 is NaN":               WeightedSampler([]float64{1, math.NaN(), 2}, WeightedOptions{}),
		"add up to 0":                   WeightedSampler(make([]float64, 3), WeightedOptions{}),
		"3 Records of 2 weights":        WeightedSampler([]float64{1, 2, 0}, WeightedOptions{Records: 3}),
		"-1 Records":                    WeightedSampler([]float64{1, 2, 0}, WeightedOptions{Records: -1, Replacement: true}),
		"there are 4 numbers for the 3": WeightedSampler([]float64{0, 0, 0, 1}, WeightedOptions{}),
		"there are 2 numbers for the 3": SortedSampler([]float64{0, 1}, SortedOptions{}),
		"key 0 is NaN":                  SortedSampler([]float64{math.NaN(), 0, 0}, SortedOptions{}),
		"a Window of -1":                SortedSampler(make([]float64, 3), SortedOptions{Window: -1}),
	} {
		if _, err := readAll(set.Sample(s)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it to say %q", err, want)
		}
	}
	if n, err := readAll(set.Sample(fixed())); n != 0 || err != nil {
		t.Errorf("an empty list: %d records, %v", n, err)
	}
	first, err := set.Sample(WeightedSampler([]float64{1, 2, 3}, WeightedOptions{})).Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	other := set.Sample(WeightedSampler([]float64{1, 2, 4}, WeightedOptions{}))
	if _, err := other.Start(t.Context(), From{State: new(first.State())}); !errors.Is(err, ErrState) {
		t.Errorf("a State of other weights: %v", err)
	}
}
