package stats

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// leastShare is the share that PSI assumes for an empty decile.
const leastShare = 0.0001

// compareNumbers compares numbers; nil if one side has none.
func compareNumbers(a, b *Numbers) *NumbersDrift {
	if a == nil || b == nil || a.Count == 0 || b.Count == 0 {
		return nil
	}
	d := &NumbersDrift{
		Mean: [2]float64{a.Mean, b.Mean}, Std: [2]float64{a.Std, b.Std},
		Median: [2]float64{a.median(), b.median()},
	}
	if a.Std > 0 {
		d.Shift = (b.Mean - a.Mean) / a.Std
	}
	d.KS = kolmogorovSmirnov(a.bins, b.bins)
	d.PSI = stability(a.bins, b.bins)
	return d
}

func (n *Numbers) median() float64 {
	for _, q := range n.Quantiles {
		if q.Share == 0.5 {
			return q.Value
		}
	}
	return 0
}

// kolmogorovSmirnov returns the largest difference between the cumulative distributions of two sets
// of numbers.
func kolmogorovSmirnov(a, b []bin) float64 {
	var belowA, belowB int64
	totalA, totalB := numbersIn(a), numbersIn(b)
	distance := 0.0
	for len(a) > 0 && len(b) > 0 {
		at := min(a[0].at, b[0].at)
		for len(a) > 0 && a[0].at == at {
			belowA, a = belowA+a[0].n, a[1:]
		}
		for len(b) > 0 && b[0].at == at {
			belowB, b = belowB+b[0].n, b[1:]
		}
		distance = max(distance, math.Abs(share(belowA, totalA)-share(belowB, totalB)))
	}
	return distance
}

// stability returns the population stability index of b over the deciles of a. A number that spans
// several deciles makes one cell.
func stability(a, b []bin) float64 {
	var edges []float64
	for tenth := 1; tenth < 10; tenth++ {
		if at := quantile(a, float64(tenth)/10); len(edges) == 0 || at > edges[len(edges)-1] {
			edges = append(edges, at)
		}
	}
	index := 0.0
	p, q := cellShares(a, edges), cellShares(b, edges)
	for i := range p {
		p, q := max(p[i], leastShare), max(q[i], leastShare)
		index += float64((q - p) * math.Log(q/p))
	}
	return index
}

// cellShares returns the shares of the numbers up to each edge, and of those after the last one.
func cellShares(bins []bin, edges []float64) []float64 {
	counts := make([]int64, len(edges)+1)
	for _, b := range bins {
		i, _ := slices.BinarySearch(edges, b.at)
		counts[i] += b.n
	}
	shares, total := make([]float64, len(counts)), numbersIn(bins)
	for i, n := range counts {
		shares[i] = share(n, total)
	}
	return shares
}

// compareTexts returns a lower bound of the total variation distance between the shares of bytes
// values; nil if there is nothing to compare.
func compareTexts(a, b *Texts) *float64 {
	if a == nil || b == nil || a.names() && b.names() {
		return nil
	}
	counts := map[string][2]int64{}
	for _, c := range a.counts {
		counts[c.key] = [2]int64{0: c.n}
	}
	for _, c := range b.counts {
		n := counts[c.key]
		n[1] = c.n
		counts[c.key] = n
	}
	sum := 0.0
	for _, value := range slices.Sorted(maps.Keys(counts)) { // sums depend on the order
		n := counts[value]
		p, q := share(n[0], a.count), share(n[1], b.count)
		// Each is that share or higher by up to its error.
		slackP, slackQ := share(a.TopError, a.count), share(b.TopError, b.count)
		sum += max(0, p-(q+slackQ), q-(p+slackP))
	}
	distance := sum / 2
	return &distance
}

// names reports whether most values occur only once.
func (t *Texts) names() bool { return 2*t.Distinct > t.count }

// compareLabels compares the shares of labels, for features that are labels on either side.
func compareLabels(a, b []LabelCounts) []LabelDrift {
	type label struct {
		number bool
		id     int64
		name   string // of a text label
	}
	keys := map[string][2]*LabelCounts{}
	for side, list := range [][]LabelCounts{a, b} {
		for i := range list {
			pair := keys[list[i].Key]
			pair[side] = &list[i]
			keys[list[i].Key] = pair
		}
	}
	drifts := []LabelDrift{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		shares := map[label]*LabelShares{}
		d := LabelDrift{Key: key, Shares: []LabelShares{}}
		for side, counts := range keys[key] {
			if counts == nil {
				continue
			}
			total := counts.Omitted
			for _, c := range counts.Counts {
				total += c.Records
			}
			for _, c := range counts.Counts {
				l := label{name: c.Name}
				if c.ID != nil {
					l = label{number: true, id: *c.ID}
				}
				if shares[l] == nil {
					shares[l] = &LabelShares{ID: c.ID, Name: c.Name}
				}
				shares[l].Shares[side] = share(c.Records, total)
				shares[l].Name = cmp.Or(shares[l].Name, c.Name)
			}
		}
		for _, s := range shares {
			d.Shares = append(d.Shares, *s)
		}
		slices.SortFunc(d.Shares, func(a, b LabelShares) int {
			return cmp.Or(cmp.Compare(b.change(), a.change()), compareIDs(a.ID, b.ID), cmp.Compare(a.Name, b.Name))
		})
		for i := range d.Shares {
			d.Distance += d.Shares[i].change() / 2
		}
		drifts = append(drifts, d)
	}
	slices.SortStableFunc(drifts, func(a, b LabelDrift) int { return cmp.Compare(b.Distance, a.Distance) })
	return drifts
}

func (s *LabelShares) change() float64 { return math.Abs(s.Shares[0] - s.Shares[1]) }

func compareIDs(a, b *int64) int {
	if a == nil || b == nil {
		return 0
	}
	return cmp.Compare(*a, *b)
}
