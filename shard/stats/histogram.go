package stats

import "math"

// The number of buckets of a histogram: maximum, minimum (for more slots than mostBuckets) and
// preferred.
const (
	mostBuckets   = 32
	fewestBuckets = 10
	usualBuckets  = 20
)

// slots are the possible positions of numbers: from first to last, step apart. Buckets that cover
// the same number of slots show no artificial peaks or gaps.
type slots struct {
	first, last, step float64
	before            float64 // distance from the start of a bucket to its first slot
}

// histogram counts the numbers in bins, which are sorted and at slots.
func (s slots) histogram(bins []bin) []Bucket {
	count, each := deal(math.Round((s.last-s.first)/s.step) + 1)
	from, width := s.first-s.before, float64(each*s.step)
	list := make([]Bucket, count)
	for i := range list {
		list[i].From, list[i].To = from+float64(float64(i)*width), from+float64(float64(i+1)*width)
	}
	last := &list[count-1]
	last.To = max(last.To, s.last) // which rounding may exclude
	fill(list, bins)
	return list
}

// deal returns the number of buckets for n slots, and the slots per bucket. The last bucket may
// have fewer; the choice keeps it as full as possible.
func deal(n float64) (buckets int, each float64) {
	if n <= mostBuckets {
		return int(n), 1
	}
	const unnoticed = 0.02 // of a bucket
	least := math.Inf(1)
	for i := range mostBuckets - fewestBuckets + 1 {
		k := usualBuckets - i
		if k < fewestBuckets {
			k = fewestBuckets + i // from usualBuckets+1 to mostBuckets
		}
		of := math.Ceil(n / float64(k))
		count := math.Ceil(n / of)
		missing := max(unnoticed, (float64(count*of)-n)/of)
		if count >= fewestBuckets && missing < least {
			buckets, each, least = int(count), of, missing
		}
	}
	return buckets, each
}

// histogramOf counts the numbers in bins, which are sorted and have one distinct number each.
func histogramOf(bins []bin) []Bucket {
	low, high := bins[0].at, bins[len(bins)-1].at
	if low == high {
		return []Bucket{{low, high, numbersIn(bins)}}
	}
	if step, whole := stepOf(bins); whole {
		return slots{first: low, last: high, step: step}.histogram(bins)
	} else if step > 0 {
		return slots{first: low, last: high, step: step, before: step / 2}.histogram(bins)
	}
	list := make([]Bucket, usualBuckets)
	width := (high - low) / usualBuckets
	for i := range list {
		list[i].From, list[i].To = low+float64(float64(i)*width), low+float64(float64(i+1)*width)
	}
	list[len(list)-1].To = high
	fill(list, bins)
	return list
}

// fill counts the numbers in bins, which are sorted, into buckets.
func fill(list []Bucket, bins []bin) {
	at := 0
	for _, b := range bins {
		for at < len(list)-1 && b.at >= list[at].To {
			at++
		}
		list[at].Count += b.n
	}
}

// stepOf returns the largest step of which the differences between all numbers in bins are
// multiples: 0.1 for lengths in tenths. The bins are sorted and at least two. Integers always have
// a step; whole reports whether all numbers are integers. For others the step is 0 if there is
// none, or if it is so small that one slot more or less in a bucket does not show.
func stepOf(bins []bin) (step float64, whole bool) {
	low, high := bins[0].at, bins[len(bins)-1].at
	whole = true
	for _, b := range bins {
		whole = whole && b.at == math.Trunc(b.at)
	}
	rounding := 0.0
	if !whole {
		rounding = max(-low, high) / (1 << 20) // 16 times a float32's
	}
	for i := 1; i < len(bins); i++ {
		for gap := bins[i].at - bins[i-1].at; gap > rounding; { // Euclid's algorithm
			step, gap = gap, math.Abs(math.Remainder(step, gap))
		}
		if step <= rounding {
			return 0, whole // the numbers hardly differ
		}
	}
	if whole {
		return step, true
	}
	const mostSlots = 1000
	n := math.Round((high - low) / step)
	if n > mostSlots {
		return 0, false
	}
	step = (high - low) / n // more precise: rounding is spread over n steps
	for _, b := range bins {
		if slot := (b.at - low) / step; math.Abs(slot-math.Round(slot)) > 0.1 {
			return 0, false
		}
	}
	return step, false
}
