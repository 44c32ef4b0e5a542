package stats

import (
	"encoding/json"
	"math"
	"strconv"
)

// RankError and DistinctError are the errors of estimates in [Report].
const (
	// RankError bounds the error of quantiles that are not exact, as a share of
	// the numbers: the median given is exceeded by a share of them between
	// 0.5-RankError and 0.5+RankError. The bound does not depend on how the numbers
	// are distributed. It is statistical (KLL, see rankSketch): of a hundred sketches, one
	// has a rank that is off by more than 0.0011.
	RankError = 0.002
	// DistinctError is the standard error of counts of distinct values that are
	// not exact, as a share: 1.04 by the root of 2¹⁴ registers (Flajolet et al.:
	// HyperLogLog, 2007).
	DistinctError = 0.008125
)

// quantileRanks are the shares that quantiles are given for.
var quantileRanks = [...]float64{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99}

// Numbers says how numbers lie.
type Numbers struct {
	// Count of the numbers; NaNs and infinities are not among them.
	Count int64 `json:"count"`
	// Min and Max, exactly; "0" of none.
	Min json.Number `json:"min"`
	Max json.Number `json:"max"`
	// Mean and Std, the standard deviation of the numbers themselves (divided
	// by Count), as NumPy's mean and std in float64.
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
	// Quantiles are at the shares 0.01, 0.05, 0.25, 0.5, 0.75, 0.95 and 0.99.
	Quantiles []Quantile `json:"quantiles"`
	// Histogram has up to 32 buckets of equal width, in order. Its counts are
	// always exact; the bounds of the buckets are chosen to allow that. Integers
	// have buckets of integer width: one each for up to 32 integers from Min to Max,
	// and 10 buckets or more otherwise. The same holds for numbers at regular steps,
	// such as multiples of 25 or of 0.1. The first bucket may begin before Min, and
	// the last one end after Max.
	Histogram []Bucket `json:"histogram"`
	// Exact says that quantiles, distinct values and counts of values are exact,
	// which is so for up to 1024 distinct numbers. Else quantiles are within
	// RankError.
	Exact bool `json:"exact"`
	// Distinct is how many distinct numbers there are; see DistinctError.
	Distinct int64 `json:"distinct"`
	// Top are the numbers that come most often, those first. Of numbers that are
	// not Exact, each may come up to TopError times more often than counted, and
	// only those that are counted more often than that are here.
	Top      []Top[json.Number] `json:"top"`
	TopError int64              `json:"top_error"`

	bins []bin
}

// Quantile is the least of some numbers that at least a share of them does not
// exceed (NumPy's inverted_cdf).
type Quantile struct {
	Share float64 `json:"share"`
	Value float64 `json:"value"`
}

// Bucket counts numbers at or above From and below To; the last one of a
// histogram has those at To, too. int64s are compared as float64s.
type Bucket struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Count int64   `json:"count"`
}

// Top is a value and how often it came.
type Top[V json.Number | string] struct {
	Value V     `json:"value"`
	Count int64 `json:"count"`
}

// bin is how many numbers lie at a place, or about there.
type bin struct {
	at float64
	n  int64
}

// numbersIn returns how many numbers are in the bins.
func numbersIn(bins []bin) int64 {
	var n int64
	for _, b := range bins {
		n += b.n
	}
	return n
}

// quantile returns the least number that at least a share of those in the bins
// does not exceed. There must be one.
func quantile(bins []bin, share float64) float64 {
	var seen int64
	rank := int64(math.Ceil(float64(share * float64(numbersIn(bins)))))
	for _, b := range bins {
		if seen += b.n; seen >= rank {
			return b.at
		}
	}
	return bins[len(bins)-1].at
}

// jsonFloat writes a float32 as the shortest number that is read as the same.
func jsonFloat(x float64) json.Number {
	return json.Number(strconv.FormatFloat(x, 'g', -1, 32))
}
