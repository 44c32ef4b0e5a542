package stats

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// Drift is how the records of B differ from those of A. Pairs are of A and B.
type Drift struct {
	Records [2]int64 `json:"records"`
	// Features and FeatureLists by how much they differ, most first.
	Features     []FeatureDrift `json:"features"`
	FeatureLists []FeatureDrift `json:"feature_lists,omitempty"`
	// Labels by how much their shares differ, most first.
	Labels []LabelDrift `json:"labels"`
}

// FeatureDrift is how one feature differs.
type FeatureDrift struct {
	Key string `json:"key"`
	// In is "both", or which of "a" and "b" alone has the feature.
	In string `json:"in"`
	// Score is 0 for no difference and 1 for the largest: 1 for a feature that
	// only one has or that has other kinds of values, else the largest of the
	// differences below that are shares, and of the changes of the pixels' means.
	Score float64 `json:"score"`
	// Kinds of the values, as "int64" or "float|int64"; "" where there are none.
	Kinds [2]string `json:"kinds"`
	// Missing are the shares of the records that lack the feature.
	Missing [2]float64 `json:"missing"`
	// How numbers, lengths of bytes and sizes of images differ; nil where one
	// side has none.
	Int64   *NumbersDrift `json:"int64,omitempty"`
	Float   *NumbersDrift `json:"float,omitempty"`
	Lengths *NumbersDrift `json:"lengths,omitempty"`
	Width   *NumbersDrift `json:"width,omitempty"`
	Height  *NumbersDrift `json:"height,omitempty"`
	// NaNs are the shares of the floats that are NaN or infinite.
	NaNs [2]float64 `json:"nans"`
	// Values is the total variation distance between the shares of the bytes
	// values: half of the sum of their differences. Where counts are no exact
	// ones it is the least that it can be. It is nil where one side has none, and
	// where most values of both come once: names of things, that always differ.
	Values *float64 `json:"values,omitempty"`
	// Pixels are the means and standard deviations of the images' channels;
	// nil where one side has none.
	Pixels *PixelsDrift `json:"pixels,omitempty"`
}

// NumbersDrift is how numbers differ.
type NumbersDrift struct {
	Mean   [2]float64 `json:"mean"`
	Std    [2]float64 `json:"std"`
	Median [2]float64 `json:"median"`
	// Shift is how far B's mean is from A's, in A's standard deviations; 0 where
	// A has none.
	Shift float64 `json:"shift"`
	// KS is the distance of Kolmogorov and Smirnov: the largest difference of
	// the shares that do not exceed a number. It is off by up to RankError for each
	// side that is not Exact.
	KS float64 `json:"ks"`
	// PSI is the population stability index over the tenths of A: the sum of
	// (b-a)·ln(b/a) of their shares, none of which is taken as less than 0.0001.
	// Usual readings: below 0.1 little has changed, above 0.25 much.
	PSI float64 `json:"psi"`
}

// PixelsDrift is how pixels differ: Pixels' means and standard deviations.
type PixelsDrift struct {
	Mean [2][3]float64 `json:"mean"`
	Std  [2][3]float64 `json:"std"`
}

// LabelDrift is how the shares of the labels of one feature differ.
type LabelDrift struct {
	Key string `json:"key"`
	// Distance is the total variation distance: half of the sum of the
	// differences of the shares.
	Distance float64 `json:"distance"`
	// Shares of the labels, those that differ most first.
	Shares []LabelShares `json:"shares"`
}

// LabelShares are the shares of one label.
type LabelShares struct {
	ID     *int64     `json:"id,omitempty"` // nil for a label that is text
	Name   string     `json:"name,omitempty"`
	Shares [2]float64 `json:"shares"`
}

// Compare says how the records of b differ from those of a, both of which
// come from Measure. Groups are not compared.
func Compare(a, b *Report) *Drift {
	d := &Drift{Records: [2]int64{a.Records, b.Records}, Labels: compareLabels(a.Labels, b.Labels)}
	labels := map[string]float64{}
	for _, l := range d.Labels {
		labels[l.Key] = l.Distance
	}
	d.Features = compareFeatures(a.Features, b.Features, labels)
	d.FeatureLists = compareFeatures(a.FeatureLists, b.FeatureLists, nil)
	return d
}

// compareFeatures compares features of the same key. Labels are ids: of them
// the shares count, not how the numbers lie.
func compareFeatures(a, b []Feature, labels map[string]float64) []FeatureDrift {
	list := []FeatureDrift{}
	for len(a) > 0 || len(b) > 0 {
		var order int
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = strings.Compare(a[0].Key, b[0].Key)
		}
		switch {
		case order < 0:
			list = append(list, FeatureDrift{Key: a[0].Key, In: "a", Score: 1, Kinds: [2]string{kindsOf(&a[0])}, Missing: [2]float64{missing(&a[0]), 1}})
			a = a[1:]
		case order > 0:
			list = append(list, FeatureDrift{Key: b[0].Key, In: "b", Score: 1, Kinds: [2]string{1: kindsOf(&b[0])}, Missing: [2]float64{1, missing(&b[0])}})
			b = b[1:]
		default:
			d := compareFeature(&a[0], &b[0])
			if distance, ok := labels[d.Key]; ok && d.Int64 != nil {
				d.Score = max(d.score(true), distance)
			}
			list = append(list, d)
			a, b = a[1:], b[1:]
		}
	}
	slices.SortStableFunc(list, func(a, b FeatureDrift) int { return cmp.Compare(b.Score, a.Score) })
	return list
}

func compareFeature(a, b *Feature) FeatureDrift {
	d := FeatureDrift{
		Key: a.Key, In: "both", Kinds: [2]string{kindsOf(a), kindsOf(b)}, Missing: [2]float64{missing(a), missing(b)},
		Int64: compareNumbers(a.Int64, b.Int64), Float: compareNumbers(a.Float, b.Float), Lengths: compareNumbers(a.Lengths, b.Lengths),
		NaNs: [2]float64{notFinite(a), notFinite(b)}, Values: compareTexts(a.Texts, b.Texts),
	}
	if p, q := a.Pictures, b.Pictures; p != nil && q != nil {
		d.Width, d.Height = compareNumbers(p.Width, q.Width), compareNumbers(p.Height, q.Height)
		if p.Pixels != nil && q.Pixels != nil {
			d.Pixels = &PixelsDrift{Mean: [2][3]float64{p.Pixels.Mean, q.Pixels.Mean}, Std: [2][3]float64{p.Pixels.Std, q.Pixels.Std}}
		}
	}
	d.Score = d.score(false)
	return d
}

// score returns the Score of a feature that both have; of a label without how
// its numbers lie.
func (d *FeatureDrift) score(label bool) float64 {
	if d.Kinds[0] != d.Kinds[1] {
		return 1
	}
	score := max(math.Abs(d.Missing[0]-d.Missing[1]), math.Abs(d.NaNs[0]-d.NaNs[1]))
	numbers := []*NumbersDrift{d.Float, d.Lengths, d.Width, d.Height}
	if !label {
		numbers = append(numbers, d.Int64)
	}
	for _, n := range numbers {
		if n != nil {
			score = max(score, n.KS)
		}
	}
	if d.Values != nil {
		score = max(score, *d.Values)
	}
	if d.Pixels != nil {
		for c, mean := range d.Pixels.Mean[0] {
			score = max(score, math.Abs(mean-d.Pixels.Mean[1][c]))
		}
	}
	return score
}

// kindsOf returns the kinds of values that there are, in order.
func kindsOf(f *Feature) string {
	kinds := slices.Sorted(maps.Keys(f.Kinds))
	if len(kinds) > 1 {
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == "none" })
	}
	return strings.Join(kinds, "|")
}

func missing(f *Feature) float64 { return share(f.Missing, f.Records+f.Missing) }

func notFinite(f *Feature) float64 {
	odd := f.NaNs + f.Infinities
	if f.Float != nil {
		return share(odd, odd+f.Float.Count)
	}
	return share(odd, odd)
}

// share returns n of total as a share; 0 of none.
func share(n, total int64) float64 {
	if total == 0 {
		return 0
	}
	return float64(n) / float64(total)
}
