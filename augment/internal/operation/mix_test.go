package operation

import (
	"fmt"
	"image"
	"math"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// betaCDF is the distribution function of Beta(a, a), integrated by Simpson's rule after a
// substitution that leaves no pole: t = x^a, or the square of a sine.
func betaCDF(a, x float64) float64 {
	if x > 0.5 {
		return 1 - betaCDF(a, 1-x)
	}
	f, end := func(t float64) float64 { return math.Pow(1-math.Pow(t, 1/a), a-1) }, func(x float64) float64 { return math.Pow(x, a) }
	if a >= 0.5 {
		f, end = func(t float64) float64 { return math.Pow(math.Sin(2*t), 2*a-1) }, func(x float64) float64 { return math.Asin(math.Sqrt(x)) }
	}
	integral := func(to float64) float64 {
		const n = 2000
		sum := f(0) + f(to)
		for i := 1; i < n; i++ {
			sum += f(to*float64(i)/n) * float64(2+2*(i%2))
		}
		return sum * to / n
	}
	return integral(end(x)) / integral(end(0.5)) / 2
}

// TestBeta compares draws with the distribution (Kolmogorov and Smirnov).
func TestBeta(t *testing.T) {
	race.Skip(t)
	if c := betaCDF(1, 0.3); math.Abs(c-0.3) > 1e-9 {
		t.Fatalf("CDF of Beta(1,1) at 0.3: %v", c)
	}
	if c, want := betaCDF(2, 0.3), 3*0.09-2*0.027; math.Abs(c-want) > 1e-6 {
		t.Fatalf("CDF of Beta(2,2) at 0.3: %v, want %v", c, want)
	}
	const n = 20_000
	for _, a := range []float64{0.001, 0.1, 0.2, 0.4, 0.5, 0.500001, 0.8, 1, 1.5, 2, 8, 50, 1000} {
		r := RandomFor(3, "beta", 0)
		draws := make([]float64, n)
		squares := 0.0
		for i := range draws {
			x := r.beta(a)
			if !(x >= 0 && x <= 1) {
				t.Fatalf("Beta(%v): %v", a, x)
			}
			draws[i] = x
			squares += (x - 0.5) * (x - 0.5)
		}
		if got, want := squares/n, 1/(4*(2*a+1)); math.Abs(got/want-1) > 0.04 {
			t.Errorf("Beta(%v): variance %v, want %v", a, got, want)
		}
		slices.Sort(draws)
		most := 0.0
		for i, x := range draws {
			if i%100 != 0 || a < 0.01 && (x < 1e-12 || x > 1-1e-12) {
				continue // float64 has many of the latter as one number
			}
			c := betaCDF(a, x)
			most = max(most, math.Abs(c-float64(i)/n), math.Abs(c-float64(i+1)/n))
		}
		if limit := 1.95 / math.Sqrt(n); most > limit { // one in a thousand
			t.Errorf("Beta(%v): a distance of %.4f, want at most %.4f", a, most, limit)
		}
	}
}

// TestMixBoxes follows torchvision's CutMix step by step from the same numbers.
func TestMixBoxes(t *testing.T) {
	empty, whole, cut := 0, 0, 0
	for i := range 2000 {
		m := Mix{CutMix: []float64{0.1, 1, 4}[i%3]}
		w, h := 1+i%37, 1+i%23
		d := m.Draw(9, "a.tfrecord#3", i, w, h)
		r := RandomFor(9, "mix\x00a.tfrecord#3", i)
		lambda := r.beta(m.CutMix)
		x, y := r.below(w), r.below(h)
		half := 0.5 * math.Sqrt(1-lambda)
		dx, dy := int(half*float64(w)), int(half*float64(h))
		x1, y1, x2, y2 := max(x-dx, 0), max(y-dy, 0), min(x+dx, w), min(y+dy, h)
		area := (x2 - x1) * (y2 - y1)
		if want := 1 - float64(area)/float64(w*h); d.Lambda != want {
			t.Fatalf("draw %d: lambda %v, want %v", i, d.Lambda, want)
		}
		switch {
		case area == 0:
			empty++
			if d != (MixDraw{Lambda: 1}) {
				t.Fatalf("draw %d is %v without an area", i, d)
			}
		case d.Box != image.Rect(x1, y1, x2, y2):
			t.Fatalf("draw %d: box %v, want %d,%d to %d,%d", i, d.Box, x1, y1, x2, y2)
		case area == w*h:
			whole++
		default:
			cut++
		}
	}
	if empty < 50 || cut < 500 {
		t.Errorf("%d boxes are empty, %d whole, %d neither", empty, whole, cut)
	}
}

func TestMixDraws(t *testing.T) {
	both := Mix{MixUp: 0.8, CutMix: 1}
	seen := map[MixDraw]string{}
	boxes := 0
	for seed := range uint64(3) {
		for _, key := range []string{"a#0", "a#1", "b#0"} {
			for epoch := range 30 {
				name := fmt.Sprint(seed, key, epoch)
				d := both.Draw(seed, key, epoch, 224, 224)
				if again := both.Draw(seed, key, epoch, 224, 224); again != d {
					t.Fatalf("%s: %v, then %v", name, d, again)
				}
				if other, ok := seen[d]; ok && d.Lambda != 1 {
					t.Errorf("%s is drawn as %s: %v", name, other, d)
				}
				seen[d] = name
				if !d.Box.Empty() {
					boxes++
				}
			}
		}
	}
	if boxes < 100 || boxes > 170 {
		t.Errorf("%d of 270 are CutMix", boxes)
	}
	if d := (Mix{}).Draw(1, "a", 2, 3, 4); d != (MixDraw{Lambda: 1}) {
		t.Errorf("nothing is drawn as %v", d)
	}
	// Part of what a seed means.
	for _, c := range []struct {
		mix  Mix
		want MixDraw
	}{
		{Mix{MixUp: 0.2}, MixDraw{Lambda: 0.9981925514945337}},
		{Mix{MixUp: 1}, MixDraw{Lambda: 0.6301125253104162}},
		{Mix{CutMix: 1}, MixDraw{Lambda: 0.7321428571428572, Box: image.Rect(124, 53, 224, 149)}},
	} {
		if d := c.mix.Draw(42, "train-00001.tfrecord#17", 2, 224, 160); d != c.want {
			t.Errorf("%v draws %#v, want %#v", c.mix, d, c.want)
		}
	}
}

func TestMixValidate(t *testing.T) {
	for _, alpha := range []float64{0, 0.001, 0.2, 1, 1000} {
		if err := (Mix{MixUp: alpha, CutMix: alpha}).Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, alpha := range []float64{-1, 0.0009, 1001, math.NaN(), math.Inf(1)} {
		if (Mix{MixUp: alpha}).Validate() == nil || (Mix{CutMix: alpha}).Validate() == nil {
			t.Errorf("alpha %v is accepted", alpha)
		}
	}
}
