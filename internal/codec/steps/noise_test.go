package steps

import (
	"bytes"
	"math"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

func TestGaussianNoise(t *testing.T) {
	src := new(bitmap.Image)
	src.Reset(300, 200, 3)
	bitmap.Fill(src.Pix, []uint8{128})
	for _, c := range []struct{ mean, sigma float64 }{{0, 0.1}, {0, 0.02}, {0.1, 0.05}, {-0.2, 0.08}, {0.05, 0}} {
		var dst bitmap.Image
		if err := (GaussianNoise{Mean: c.mean, Sigma: c.sigma, Seed: 3}).apply(&dst, src, nil); err != nil {
			t.Fatal(err)
		}
		n, sum, squares, within := float64(len(dst.Pix)), 0.0, 0.0, 0.0
		for _, v := range dst.Pix {
			d := float64(v) - 128 - 255*c.mean
			sum += d
			squares += d * d
			if math.Abs(d) < 255*c.sigma {
				within++
			}
		}
		mean, deviation := sum/n, math.Sqrt(squares/n-sum/n*sum/n)
		// Cutting the fraction off moves all by up to a level towards 0.
		if math.Abs(mean) > 1 {
			t.Errorf("%+v: the mean is off by %v levels", c, mean)
		}
		if math.Abs(deviation-255*c.sigma) > 0.02*255*c.sigma+0.5 {
			t.Errorf("%+v: a standard deviation of %v levels", c, deviation)
		}
		if share := within / n; c.sigma > 0.07 && math.Abs(share-0.6827) > 0.03 {
			t.Errorf("%+v: %v of the samples are within a standard deviation", c, share)
		}
	}
}

// What a seed means never changes.
func TestNoiseFrozen(t *testing.T) {
	src := new(bitmap.Image)
	src.Reset(7, 2, 1)
	bitmap.Fill(src.Pix, []uint8{100})
	var dst bitmap.Image
	if err := (GaussianNoise{Sigma: 0.2, Seed: 42}).apply(&dst, src, nil); err != nil {
		t.Fatal(err)
	}
	if want := []uint8{71, 88, 112, 43, 4, 152, 20, 90, 144, 96, 73, 118, 181, 103}; !bytes.Equal(dst.Pix, want) {
		t.Errorf("noise: %v, want %v", dst.Pix, want)
	}
	if err := (Erase{X: 1, Y: 0, W: 5, H: 2, Noise: true, Seed: 42}).apply(&dst, src, nil); err != nil {
		t.Fatal(err)
	}
	if want := []uint8{100, 149, 110, 235, 47, 38, 100, 100, 3, 241, 102, 178, 51, 100}; !bytes.Equal(dst.Pix, want) {
		t.Errorf("erased: %v, want %v", dst.Pix, want)
	}
	// The first number of Vigna's splitmix64.c for the seed 1234567.
	if s := splitMix(1234567); s.next() != 6457827717110365317 {
		t.Error("not SplitMix64")
	}
}

func TestNoiseSeeds(t *testing.T) {
	src := imagetest.Noise(50, 50, 3)
	for _, steps := range [][2]Step{
		{GaussianNoise{Sigma: 0.1, Seed: 1}, GaussianNoise{Sigma: 0.1, Seed: 2}},
		{Erase{W: 9, H: 9, Noise: true, Seed: 1}, Erase{W: 9, H: 9, Noise: true, Seed: 2}},
	} {
		var a, b bitmap.Image
		if err := steps[0].apply(&a, src, nil); err != nil {
			t.Fatal(err)
		}
		if err := steps[1].apply(&b, src, nil); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(a.Pix, b.Pix) {
			t.Errorf("%s: two seeds, the same noise", steps[0].op())
		}
	}
}

func TestNormalQuantiles(t *testing.T) {
	z := NormalQuantiles()
	for i, v := range z {
		x := float64(v) / normalOne
		// Within a unit of the quantile, by the distribution function.
		p := (float64(i) + 0.5) / float64(len(z))
		if lo, hi := math.Erf((x-1.0/normalOne)/math.Sqrt2), math.Erf((x+1.0/normalOne)/math.Sqrt2); p < lo || p > hi {
			t.Fatalf("quantile %d is %v, whose share is %v to %v, want %v", i, x, lo, hi, p)
		}
	}
}
