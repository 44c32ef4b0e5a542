package stats

import (
	"encoding/json"
	"math"
	"strconv"
)

// RankError and DistinctError are the errors of estimates in [Report].
const (
	// RankError bounds the error of quantiles that are not exact, as a share of the numbers: the
	// rank of the reported median is between 0.5-RankError and 0.5+RankError. The bound does not
	// depend on the distribution of the numbers. It is statistical (KLL, see rankSketch): of a
	// hundred sketches, one has a rank that is off by more than 0.0011.
	RankError = 0.002
	// DistinctError is the standard error of counts of distinct values that are not exact, as a
	// share: 1.04 divided by the square root of 2¹⁴ registers (Flajolet et al.: HyperLogLog, 2007).
	DistinctError = 0.008125
)

// quantileRanks are the ranks of the reported quantiles.
var quantileRanks = [...]float64{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99}

// Numbers describes the distribution of numbers.
type Numbers struct {
	// Count is the number of values, without NaNs and infinities.
	Count int64 `json:"count"`
	// Min and Max are exact; "0" without values.
	Min json.Number `json:"min"`
	Max json.Number `json:"max"`
	// Mean and Std, the population standard deviation (divided by Count), as NumPy's mean and std
	// in float64.
	Mean float64 `json:"mean"`
	Std  float64 `json:"std"`
	// Quantiles for 0.01, 0.05, 0.25, 0.5, 0.75, 0.95 and 0.99.
	Quantiles []Quantile `json:"quantiles"`
	// Histogram has up to 32 buckets of equal width, in order. Its counts are always exact; the
	// bounds of the buckets are chosen to allow that. Integers have buckets of integer width: one
	// each for up to 32 integers from Min to Max, and at least 10 buckets otherwise. The same
	// applies to numbers at regular steps, such as multiples of 25 or of 0.1. The first bucket may
	// begin before Min, and the last one end after Max.
	Histogram []Bucket `json:"histogram"`
	// Exact means that quantiles, distinct values and counts of values are exact, as they are for
	// up to 1024 distinct numbers. Otherwise quantiles are within RankError.
	Exact bool `json:"exact"`
	// Distinct is the number of distinct numbers; see DistinctError.
	Distinct int64 `json:"distinct"`
	// Top are the most frequent numbers, the most frequent first. If they are not Exact, each may
	// occur up to TopError times more often than counted, and only those counted more often than
	// that are listed.
	Top      []Top[json.Number] `json:"top"`
	TopError int64              `json:"top_error"`

	bins []bin
}

// Quantile is the smallest of the numbers that at least a given share of them does not exceed
// (NumPy's inverted_cdf).
type Quantile struct {
	Share float64 `json:"share"`
	Value float64 `json:"value"`
}

// Bucket counts numbers at or above From and below To; the last one of a histogram includes To.
// int64s are compared as float64s.
type Bucket struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Count int64   `json:"count"`
}

// Top is a value and its count.
type Top[V json.Number | string] struct {
	Value V     `json:"value"`
	Count int64 `json:"count"`
}

// bin is the count of numbers at a position, or near it.
type bin struct {
	at float64
	n  int64
}

// numbersIn returns the total count of the bins.
func numbersIn(bins []bin) int64 {
	var n int64
	for _, b := range bins {
		n += b.n
	}
	return n
}

// quantile returns the smallest number that at least a given share of the numbers in bins does not
// exceed. bins must not be empty.
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

// jsonFloat formats a float32 as the shortest number that parses to the same value.
func jsonFloat(x float64) json.Number {
	return json.Number(strconv.FormatFloat(x, 'g', -1, 32))
}
