package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// distributions draw numbers like those of real columns. Floats are rounded to float32, as in
// records.
var distributions = map[string]struct {
	float bool
	draw  func(r *rand.Rand, i int) float64
}{
	"normal":     {true, func(r *rand.Rand, _ int) float64 { return r.NormFloat64() }},
	"far":        {true, func(r *rand.Rand, _ int) float64 { return 1e6 + r.NormFloat64() }},
	"negative":   {true, func(r *rand.Rand, _ int) float64 { return -1e-3 * r.ExpFloat64() }},
	"lognormal":  {true, func(r *rand.Rand, _ int) float64 { return math.Exp(8 * r.NormFloat64()) }},
	"cauchy":     {true, func(r *rand.Rand, _ int) float64 { return math.Tan(math.Pi * (r.Float64() - 0.5)) }},
	"tiny, huge": {true, func(r *rand.Rand, _ int) float64 { return math.Pow(10, -40+78*r.Float64()) * float64(1-2*r.IntN(2)) }},
	"bits": {true, func(r *rand.Rand, _ int) float64 {
		for {
			if x := float64(math.Float32frombits(r.Uint32())); !math.IsNaN(x) && !math.IsInf(x, 0) {
				return x
			}
		}
	}},
	"prices": {true, func(r *rand.Rand, _ int) float64 { return math.Round(100*math.Exp(3*r.NormFloat64())) / 100 }},
	"mixture": {true, func(r *rand.Rand, _ int) float64 {
		switch r.IntN(4) {
		case 0:
			return 0
		case 1:
			return 1000 + r.NormFloat64()
		}
		return -3
	}},
	"tenths":     {true, func(r *rand.Rand, _ int) float64 { return float64(130+r.IntN(90)) / 10 }},
	"constant":   {true, func(*rand.Rand, int) float64 { return 0.1 }},
	"sorted":     {false, func(_ *rand.Rand, i int) float64 { return float64(i) }},
	"descending": {false, func(_ *rand.Rand, i int) float64 { return float64(-3 * i) }},
	"sawtooth":   {false, func(_ *rand.Rand, i int) float64 { return float64(i%7*1_000_000 + i) }},
	"by turns":   {false, func(r *rand.Rand, i int) float64 { return float64(i/500%2*1_000_000 + r.IntN(10_000)) }},
	"seconds":    {false, func(r *rand.Rand, _ int) float64 { return float64(1_735_689_600 + r.IntN(365*86400)) }},
	"nanoseconds": {false, func(r *rand.Rand, _ int) float64 {
		return float64(1_735_689_600_000_000_000 + r.Int64N(int64(365*24*time.Hour)))
	}},
	"hours": {false, func(r *rand.Rand, _ int) float64 { return float64(r.IntN(24)) }},
	"zipf":  {false, func(r *rand.Rand, _ int) float64 { return math.Floor(math.Min(1e15, math.Pow(r.Float64(), -2))) }},
	"any":   {false, func(r *rand.Rand, _ int) float64 { return float64(r.Int64() - r.Int64()) }},
	"ends": {false, func(r *rand.Rand, _ int) float64 {
		return []float64{math.MinInt64, -1 << 53, -1, 0, 1, 1 << 62, math.MaxInt64 - 1023}[r.IntN(7)] + float64(r.IntN(2)*r.IntN(2000))
	}},
}

// TestSpreads draws numbers of all kinds, merges parts of all sizes, and compares the figures with
// those of the sorted numbers.
func TestSpreads(t *testing.T) {
	for name, d := range distributions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed, n := range []int{1, 2, 30, tallySize, 5000, 100_000} {
				rnd := rand.New(rand.NewPCG(uint64(seed), 7))
				var all []float64
				cuts := []int{0, rnd.IntN(n + 1), rnd.IntN(n + 1), rnd.IntN(n + 1), n}
				slices.Sort(cuts)
				total := &spread{float: d.float}
				for p := range cuts[1:] {
					part := &spread{float: d.float}
					for i := cuts[p]; i < cuts[p+1]; i++ {
						x := d.draw(rnd, i)
						if d.float {
							x = float64(float32(x))
							part.addFloat(float32(x))
						} else {
							x = min(x, math.MaxInt64-1023)
							part.addInt(int64(x))
						}
						all = append(all, x)
					}
					total.merge(part)
				}
				if total.float = d.float; len(all) != n {
					t.Fatal("drawn", len(all))
				}
				judgeNumbers(t, fmt.Sprintf("%s %d", name, n), total.numbers(20), all)
			}
		})
	}
}

// TestHistogramDependsOnNumbersOnly: their order and their files make no difference.
func TestHistogramDependsOnNumbersOnly(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	for name, d := range distributions {
		all := make([]float64, 20_000)
		for i := range all {
			all[i] = d.draw(rnd, i)
		}
		var first []Bucket
		for turn := range 4 {
			parts := make([]spread, 1+turn*turn)
			for i, x := range all {
				if part := &parts[i%len(parts)]; d.float {
					part.addFloat(float32(x))
				} else {
					part.addInt(int64(min(x, math.MaxInt64-1023)))
				}
			}
			for len(parts) > 1 {
				last := len(parts) - 1
				parts[rnd.IntN(last)].merge(&parts[last])
				parts = parts[:last]
			}
			got := parts[0].numbers(0)
			if turn == 0 {
				first = got.Histogram
			} else if diff := cmp.Diff(first, got.Histogram); diff != "" {
				t.Errorf("%s, %d parts: %s", name, 1+turn*turn, diff)
			}
			rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
	}
}

// TestHistogramsOfEvenNumbersAreEven: buckets that cover more possible numbers than others would
// show artificial peaks.
func TestHistogramsOfEvenNumbersAreEven(t *testing.T) {
	for _, c := range []struct {
		name        string
		float       bool
		from, step  float64
		n           int
		buckets     int
		least, most int64 // in a bucket; the last one may have fewer
	}{
		{"hours", false, 0, 1, 24, 24, 1, 1},
		{"days", false, 1, 1, 31, 31, 1, 1},
		{"percent", false, 0, 1, 101, 17, 6, 6},
		{"days of the year", false, 1, 1, 365, 16, 23, 23},
		{"years", false, 1900, 1, 120, 20, 6, 6},
		{"multiples", false, 2700, 25, 145, 29, 5, 5},
		{"far apart", false, 5, 1 << 50, 4, 4, 1, 1},
		{"negative", false, -300, 3, 40, 20, 2, 2},
		{"nanoseconds of days", false, 1_735_689_600e9, 86400e9, 365, 16, 23, 23},
		{"many", false, 0, 1, 300_000, 17, 17_536, 17_664},
		{"tenths", true, 13.1, 0.1, 85, 17, 5, 5},
		{"halves", true, 0.5, 0.5, 10, 10, 1, 1},
		{"whole floats", true, 0, 1, 24, 24, 1, 1},
		{"cents", true, 0.99, 1, 20, 20, 1, 1},
		{"two", true, 0.1, 0.2, 2, 2, 1, 1},
		{"fine", true, 0, 1e-5, 50_000, 20, 2490, 2510},
	} {
		s := &spread{float: c.float}
		var all []float64
		for i := range c.n {
			x := c.from + float64(i)*c.step
			if c.float {
				x = float64(float32(x))
				s.addFloat(float32(x))
			} else {
				s.addInt(int64(x))
			}
			all = append(all, x)
		}
		list := s.numbers(0).Histogram
		judgeHistogram(t, c.name, list, all)
		if len(list) != c.buckets {
			t.Errorf("%s: %d buckets, want %d", c.name, len(list), c.buckets)
		}
		for _, b := range list[:len(list)-1] {
			if b.Count < c.least || b.Count > c.most {
				t.Errorf("%s: %d from %v to %v, want %d to %d", c.name, b.Count, b.From, b.To, c.least, c.most)
			}
			if !c.float && (b.From != math.Trunc(b.From) || b.To != math.Trunc(b.To)) {
				t.Errorf("%s: whole numbers in a bucket from %v to %v", c.name, b.From, b.To)
			}
		}
	}
	for n := 1; n < 5000; n++ { // the last bucket is not left nearly empty
		if buckets, each := deal(float64(n)); n > mostBuckets && (buckets < fewestBuckets || buckets > mostBuckets) || float64(buckets)*each < float64(n) || float64(float64(buckets)*each-float64(n)) > 0.5*each {
			t.Errorf("%d slots are dealt to %d buckets of %v", n, buckets, each)
		}
	}
}

// TestHistogramOfHugeIntegers uses neighbours that are the same float64.
func TestHistogramOfHugeIntegers(t *testing.T) {
	for _, n := range []int64{3, tallySize + 1, 5000, 1 << 16} {
		for _, first := range []int64{math.MinInt64, math.MaxInt64 - n + 1, 1 << 62, -1 << 53} {
			var s spread
			var all []float64
			for i := range n {
				s.addInt(first + i)
				all = append(all, float64(first+i))
			}
			judgeHistogram(t, fmt.Sprint(n, " from ", first), s.numbers(0).Histogram, all)
		}
	}
}

// TestRankSketch: every rank in a sketch is within RankError, its size is bounded, and it is
// deterministic.
func TestRankSketch(t *testing.T) {
	race.Skip(t)
	for name, d := range distributions {
		for seed := range uint64(3) {
			const n = 60_000
			rnd := rand.New(rand.NewPCG(seed, 11))
			all := make([]float64, n)
			for i := range all {
				all[i] = d.draw(rnd, i)
			}
			parts := 1 + int(seed)*20
			sketch := func() *rankSketch {
				total := newRankSketch(0)
				for p := range parts {
					part := newRankSketch(0)
					for _, x := range all[p*n/parts : (p+1)*n/parts] {
						part.add(x)
					}
					total.merge(part)
				}
				return total
			}
			s := sketch()
			if most := 3*rankCapacity + leastRankLevel*len(s.levels); s.size > most {
				t.Errorf("%s: %d numbers in the sketch, want at most %d", name, s.size, most)
			}
			bins := s.bins()
			if !slices.Equal(bins, sketch().bins()) {
				t.Errorf("%s: another sketch of the same numbers", name)
			}
			slices.Sort(all)
			seen, worst := int64(0), 0.0
			for _, b := range bins {
				seen += b.n
				upTo, _ := slices.BinarySearch(all, math.Nextafter(b.at, math.Inf(1)))
				worst = max(worst, math.Abs(float64(seen-int64(upTo)))/n)
			}
			if seen != n || worst > RankError {
				t.Errorf("%s, %d parts: %d numbers, a rank is off by %v", name, parts, seen, worst)
			}
		}
	}
}

// TestRankSketchOfFrequentNumbers: a number that occurs a million times does not displace those
// that occur once.
func TestRankSketchOfFrequentNumbers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	const often = 1 << 20
	s := newRankSketch(often)
	s.addMany(-1, often)
	all := slices.Repeat([]float64{-1}, often)
	for range often {
		x := rnd.Float64()
		s.add(x)
		all = append(all, x)
	}
	slices.Sort(all)
	bins := s.bins()
	if numbersIn(bins) != 2*often {
		t.Errorf("%d numbers", numbersIn(bins))
	}
	for _, share := range []float64{0.5, 0.501, 0.51, 0.6, 0.75, 0.9, 0.99} {
		if off := rankError(all, Quantile{share, quantile(bins, share)}); off > RankError {
			t.Errorf("quantile %v is off by %v", share, off)
		}
	}
}

func TestSpreadOfZeros(t *testing.T) {
	s := &spread{float: true}
	s.addFloat(float32(math.Copysign(0, -1)))
	s.addFloat(0)
	if n := s.numbers(3); n.Distinct != 1 || n.Min != "0" || n.Max != "0" || len(n.Histogram) != 1 || n.Histogram[0].Count != 2 {
		t.Errorf("%+v", n)
	}
	if n := new(spread).numbers(3); n.Count != 0 || n.Min != "0" || len(n.Quantiles) != 0 {
		t.Errorf("of nothing: %+v", n)
	}
}
