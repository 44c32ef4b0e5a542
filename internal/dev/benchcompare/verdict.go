package main

import "slices"

// cost is the time of one run of a job, in seconds.
type cost struct {
	cpu     float64 // user and system, of all threads
	elapsed float64
}

// pair is one run of each build, one after the other.
type pair struct {
	before, after cost
}

// rule says when a job has lost.
type rule struct {
	pairs int     // measured at first; twice as many if it seems to have lost
	limit float64 // of the ratios' medians, above 1
}

// verdict is the result of a job: medians over its pairs.
type verdict struct {
	before, after float64 // CPU time
	cpu, elapsed  float64 // new divided by old
	again         bool    // measured twice
	lost          bool
}

// judge measures pairs until it is clear whether the new build has lost.
func (r rule) judge(measure func() (pair, error)) (verdict, error) {
	v, err := r.round(r.pairs, measure)
	if err != nil || !v.lost {
		return v, err
	}
	v, err = r.round(2*r.pairs, measure)
	v.again = true
	return v, err
}

func (r rule) round(n int, measure func() (pair, error)) (verdict, error) {
	pairs := make([]pair, n)
	for i := range pairs {
		var err error
		if pairs[i], err = measure(); err != nil {
			return verdict{}, err
		}
	}
	v := verdict{
		before:  median(pairs, func(p pair) float64 { return p.before.cpu }),
		after:   median(pairs, func(p pair) float64 { return p.after.cpu }),
		cpu:     median(pairs, func(p pair) float64 { return p.after.cpu / p.before.cpu }),
		elapsed: median(pairs, func(p pair) float64 { return p.after.elapsed / p.before.elapsed }),
	}
	v.lost = v.cpu > 1+r.limit && v.elapsed > 1+r.limit
	return v, nil
}

func (v verdict) remark() string {
	switch {
	case v.lost:
		return "  slower, twice"
	case v.again:
		return "  slower at first, not again"
	}
	return ""
}

// median returns the median of a figure of the pairs; of an even number, the upper one.
func median(pairs []pair, figure func(pair) float64) float64 {
	figures := make([]float64, len(pairs))
	for i, p := range pairs {
		figures[i] = figure(p)
	}
	slices.Sort(figures)
	return figures[len(figures)/2]
}
