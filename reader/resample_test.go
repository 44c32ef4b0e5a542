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

// Of class 0 come 6000 records, of class 1 3000, of class 2 1000: record k of classOf.
func classOf(k int) int {
	switch {
	case k%10 < 6:
		return 0
	case k%10 < 9:
		return 1
	}
	return 2
}

func resampled(t *testing.T, set *Set, o ResampleOptions) Pipe {
	t.Helper()
	return Resample(set.Interleave(2, 3), func(r Record) (int, error) { return classOf(int(r.Number)), nil }, o)
}

// The shares become those of the target, no record is dropped of the class that limits them, and
// each epoch and seed keeps others.
func TestResampleMeetsItsTarget(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 5000, 5000), Options{Seed: 6})
	initial := []float64{0.6, 0.3, 0.1}
	for _, c := range []struct {
		target []float64
		want   [3]float64
	}{
		{nil, [3]float64{1000, 1000, 1000}},
		{[]float64{0.5, 0.25, 0.25}, [3]float64{2000, 1000, 1000}},
		{[]float64{0.6, 0.3, 0.1}, [3]float64{6000, 3000, 1000}},
		{[]float64{2, 1, 0}, [3]float64{6000, 3000, 0}},
	} {
		var got [3]float64
		for r, err := range resampled(t, set, ResampleOptions{Initial: initial, Target: c.target}).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got[classOf(int(r.Number))]++
		}
		for i, n := range []float64{6000, 3000, 1000} {
			p := c.want[i] / n
			if off := math.Abs(got[i] - c.want[i]); off > 4*math.Sqrt(n*p*(1-p)) {
				t.Errorf("target %v: %g records of class %d, want about %g", c.target, got[i], i, c.want[i])
			}
		}
	}
	all := idsOf(t, resampled(t, set, ResampleOptions{Initial: initial}).Repeat(2))
	seed := uint64(1)
	other := idsOf(t, resampled(t, set, ResampleOptions{Initial: initial, Seed: &seed}))
	second := all[len(other)/2:]
	if slices.Equal(all[:1000], other[:1000]) || slices.Equal(all[:1000], second[:1000]) {
		t.Error("another seed, or epoch, keeps the same records")
	}
	if !slices.Equal(all, idsOf(t, resampled(t, set, ResampleOptions{Initial: initial}).Repeat(2))) {
		t.Error("the same seed keeps other records")
	}
}

func TestResampleRefuses(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 20), Options{})
	for want, o := range map[string]ResampleOptions{
		"want the shares of the classes":   {},
		"in Initial: the weights add up":   {Initial: []float64{0, 0}},
		"too small to count":               {Initial: []float64{1e-320, 1}},
		"3 shares in Target, 2 in Initial": {Initial: []float64{1, 1}, Target: []float64{1, 1, 1}},
		"weight 1 is -1":                   {Initial: []float64{1, -1}},
		"class 1 has a share of 2":         {Initial: []float64{1, 0}, Target: []float64{1, 2}},
		"class 2: want one of the 2":       {Initial: []float64{1, 1}},
	} {
		if _, err := readAll(resampled(t, set, o)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it to say %q", err, want)
		}
	}
	if _, err := readAll(Resample(set.Records(), nil, ResampleOptions{Initial: []float64{1}})); err == nil || !strings.Contains(err.Error(), "want a function") {
		t.Errorf("no function: %v", err)
	}
	failed := errors.New("failed")
	if _, err := readAll(Resample(set.Records(), func(Record) (int, error) { return 0, failed }, ResampleOptions{Initial: []float64{1}})); !errors.Is(err, failed) {
		t.Errorf("a function that fails: %v", err)
	}
}
