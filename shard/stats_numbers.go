package shard

import (
	"encoding/json"
	"math"
	"strconv"
)

// QuantileError and DistinctError are how far estimates in [Stats] are off.
const (
	// QuantileError is the relative error of quantiles that are not exact, at
	// most: the value given is within 1 % of the one of exactly that rank. It is
	// that of DDSketch (Masson, Rim, Lee: DDSketch: A Fast and Fully-Mergeable
	// Quantile Sketch with Relative-Error Guarantees, 2019).
	QuantileError = 0.01
	// DistinctError is the standard error of counts of distinct values that are
	// not exact, as a share: 1.04 by the root of 2¹⁴ registers (Flajolet et al.:
	// HyperLogLog, 2007).
	DistinctError = 0.008125
)

// quantileRanks are the shares that quantiles are given for.
var quantileRanks = [...]float64{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99}

// histogramBuckets is how many buckets a histogram has at most.
const histogramBuckets = 20

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
	// Histogram has up to 20 buckets of equal width from Min to Max, in order.
	Histogram []Bucket `json:"histogram"`
	// Exact says that quantiles, histogram, distinct values and counts of values
	// are exact, which is so for up to 1024 distinct numbers. Else quantiles are
	// within QuantileError, and a number may be counted in the bucket of one
	// that differs from it by no more.
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
// histogram has those at To, too. Whole numbers of a small range get a bucket
// each.
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

// histogram counts the numbers in the bins, which lie from low to high. Whole
// numbers of a small range get a bucket each.
func histogram(bins []bin, low, high float64, whole bool) []Bucket {
	n, width := histogramBuckets, (high-low)/histogramBuckets
	switch {
	case low == high:
		n, width = 1, 0
	case whole && high-low < histogramBuckets:
		n, width = int(high-low)+1, 1
	}
	list := make([]Bucket, n)
	for i := range list {
		list[i].From, list[i].To = low+float64(float64(i)*width), low+float64(float64(i+1)*width)
	}
	if last := &list[n-1]; width != 1 {
		last.To = high
	}
	at := 0
	for _, b := range bins {
		for at < n-1 && b.at >= list[at].To {
			at++
		}
		list[at].Count += b.n
	}
	return list
}

// jsonFloat writes a float32 as the shortest number that is read as the same.
func jsonFloat(x float64) json.Number {
	return json.Number(strconv.FormatFloat(x, 'g', -1, 32))
}
