package stats

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/set/features"
)

// Drift describes the differences between the records of A and B. Arrays of two hold the values for
// A and B.
type Drift struct {
	Records [2]int64 `json:"records"`
	// Features and FeatureLists, largest difference first.
	Features     []FeatureDrift `json:"features"`
	FeatureLists []FeatureDrift `json:"feature_lists,omitempty"`
	// Labels, largest difference in shares first.
	Labels []LabelDrift `json:"labels"`
	// Objects in images; nil if neither has any.
	Objects *ObjectsDrift `json:"objects,omitempty"`
}

// FeatureDrift describes the differences of one feature.
type FeatureDrift struct {
	Key string `json:"key"`
	// In is "both", or "a" or "b" if only that one has the feature.
	In string `json:"in"`
	// Score ranges from 0 for no difference to 1: 1 for a feature that only one has or whose kinds
	// of values differ, else the largest of those differences below that are shares, and of the
	// changes of the pixel means.
	Score float64 `json:"score"`
	// Kinds of the values, as in "int64" or "float|int64"; "" if there are none.
	Kinds [2]string `json:"kinds"`
	// Missing are the shares of the records without the feature.
	Missing [2]float64 `json:"missing"`
	// Differences of numbers, lengths of bytes and sizes of images; nil if one side has none.
	Int64   *NumbersDrift `json:"int64,omitempty"`
	Float   *NumbersDrift `json:"float,omitempty"`
	Lengths *NumbersDrift `json:"lengths,omitempty"`
	Width   *NumbersDrift `json:"width,omitempty"`
	Height  *NumbersDrift `json:"height,omitempty"`
	// NaNs are the shares of the floats that are NaN or infinite.
	NaNs [2]float64 `json:"nans"`
	// Values is the total variation distance between the shares of the bytes values: half the sum
	// of their differences. If counts are not exact it is a lower bound. It is nil if one side has
	// none, and if most values of both occur once: identifiers, which always differ.
	Values *float64 `json:"values,omitempty"`
	// Pixels are the means and standard deviations of the images' channels; nil if one side has
	// none.
	Pixels *PixelsDrift `json:"pixels,omitempty"`
}

// NumbersDrift describes the differences of numbers.
type NumbersDrift struct {
	Mean   [2]float64 `json:"mean"`
	Std    [2]float64 `json:"std"`
	Median [2]float64 `json:"median"`
	// Shift is the distance of B's mean from A's, in standard deviations of A; 0 if that is 0.
	Shift float64 `json:"shift"`
	// KS is the Kolmogorov-Smirnov distance: the largest difference between the cumulative
	// distributions. Its error is up to RankError for each side that is not Exact.
	KS float64 `json:"ks"`
	// PSI is the population stability index over the deciles of A: the sum of (b-a)·ln(b/a) of
	// their shares, each at least 0.0001. Usual interpretation: below 0.1 little has changed, above
	// 0.25 much.
	PSI float64 `json:"psi"`
}

// PixelsDrift describes the differences of pixels: the means and standard deviations of Pixels.
type PixelsDrift struct {
	Mean [2][3]float64 `json:"mean"`
	Std  [2][3]float64 `json:"std"`
}

// LabelDrift describes the differences between the shares of the labels of one feature.
type LabelDrift struct {
	Key string `json:"key"`
	// Distance is the total variation distance: half the sum of the differences of the shares.
	Distance float64 `json:"distance"`
	// Shares of the labels, largest difference first.
	Shares []LabelShares `json:"shares"`
}

// LabelShares are the shares of one label.
type LabelShares struct {
	ID     *int64     `json:"id,omitempty"` // nil for a text label
	Name   string     `json:"name,omitempty"`
	Shares [2]float64 `json:"shares"`
}

// Compare returns the differences between the records of a and b, both results of Measure. Groups
// are not compared.
func Compare(a, b *Report) *Drift {
	d := &Drift{
		Records: [2]int64{a.Records, b.Records}, Labels: compareLabels(a.Labels, b.Labels), Objects: compareObjects(a.Objects, b.Objects),
	}
	labels := map[string]float64{}
	if o := d.Objects; o != nil && o.Classes != nil {
		labels[o.Classes.Key] = o.Classes.Distance
	}
	for _, l := range d.Labels {
		labels[l.Key] = l.Distance
	}
	d.Features = compareFeatures(a.Features, b.Features, labels)
	d.FeatureLists = compareFeatures(a.FeatureLists, b.FeatureLists, nil)
	return d
}

// compareFeatures compares features with the same key. Labels are ids: their shares are compared,
// not their distribution as numbers.
func compareFeatures(a, b []Feature, labels map[string]float64) []FeatureDrift {
	list := []FeatureDrift{}
	for f, g := range features.Pairs(a, b, func(f *Feature) string { return f.Key }) {
		switch {
		case g == nil:
			list = append(list, FeatureDrift{Key: f.Key, In: "a", Score: 1, Kinds: [2]string{kindsOf(f)}, Missing: [2]float64{missing(f), 1}})
		case f == nil:
			list = append(list, FeatureDrift{Key: g.Key, In: "b", Score: 1, Kinds: [2]string{1: kindsOf(g)}, Missing: [2]float64{1, missing(g)}})
		default:
			d := compareFeature(f, g)
			if distance, ok := labels[d.Key]; ok && d.Int64 != nil {
				d.Score = max(d.score(true), distance)
			}
			list = append(list, d)
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
	if p, q := a.Images, b.Images; p != nil && q != nil {
		d.Width, d.Height = compareNumbers(p.Width, q.Width), compareNumbers(p.Height, q.Height)
		if p.Pixels != nil && q.Pixels != nil {
			d.Pixels = &PixelsDrift{Mean: [2][3]float64{p.Pixels.Mean, q.Pixels.Mean}, Std: [2][3]float64{p.Pixels.Std, q.Pixels.Std}}
		}
	}
	d.Score = d.score(false)
	return d
}

// score returns the Score of a feature that both have; for a label it ignores the distribution of
// its numbers.
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

// kindsOf returns the kinds of values of a feature, in order.
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

// share returns n/total; 0 if total is 0.
func share(n, total int64) float64 {
	if total == 0 {
		return 0
	}
	return float64(n) / float64(total)
}
