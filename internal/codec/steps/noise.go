package steps

import (
	"sync"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/exact"
)

// GaussianNoise adds to each sample a random number of a normal distribution,
// its fraction cut off, as torchvision's gaussian_noise does to bytes, and clips
// the sum. The distribution is cut into 65,536 parts of the same probability: no
// number is further than 4.2 standard deviations from the mean.
type GaussianNoise struct {
	// Mean and Sigma are the parameters of the distribution, as fractions of the full range of 255
	// levels; Mean is -10 to 10, Sigma 0 to 10.
	Mean  float64 `json:"mean"`
	Sigma float64 `json:"sigma"`
	// Seed distinguishes one noise from the next.
	Seed uint64 `json:"seed"`
}

func (s GaussianNoise) op() string { return "gaussian_noise" }

func (s GaussianNoise) size(w, h int) (int, int) { return w, h }

func (s GaussianNoise) validate() error {
	if err := checkRange(s.op(), "mean", s.Mean, -10, 10); err != nil {
		return err
	}
	return checkRange(s.op(), "sigma", s.Sigma, 0, 10)
}

func (s GaussianNoise) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	quantiles := NormalQuantiles()
	mean, sigma := FixedNoise(s)
	random := splitMix(s.Seed)
	bits := uint64(0)
	i := 0 // samples so far; four share 64 bits, across rows too
	for y := range src.Height {
		from := src.Row(y)
		to := dst.Row(y)[:len(from)]
		for x, v := range from {
			if i&3 == 0 {
				bits = random.next()
			}
			i++
			// The lowest bit is the sign, the others are the quantile. A
			// branch would be mispredicted half of the time.
			negative := -int64(bits & 1)
			z := int64(quantiles[bits>>1&0x7fff])
			z = (z ^ negative) - negative
			bits >>= 16
			noise := (mean + z*sigma) / (noiseOne * normalOne)
			to[x] = uint8(min(max(int64(v)+noise, 0), 255))
		}
	}
	return nil
}

// noiseOne is 1 in what mean and sigma are multiplied with.
const noiseOne = 1 << 16

// FixedNoise is mean and sigma, in levels, in the fractions that they are added up in.
func FixedNoise(s GaussianNoise) (mean, sigma int64) {
	return int64(float64(s.Mean*255) * (noiseOne * normalOne)), int64(float64(s.Sigma*255) * noiseOne)
}

// normalOne is a standard deviation in the units of NormalQuantiles.
const normalOne = 1 << 12

// NormalQuantiles holds the middles of 32,768 parts of the upper half of the
// normal distribution that are all as probable.
var NormalQuantiles = sync.OnceValue(func() *[1 << 15]int16 {
	// The density is summed up from 0 by Simpson's rule.
	const width = 1.0 / 512
	density := func(x float64) float64 {
		const perSqrt2Pi = 0.39894228040143267794
		return float64(perSqrt2Pi * exact.Exp(-float64(float64(x*x)/2)))
	}
	z := new([1 << 15]int16)
	x, below := 0.0, 0.0
	share := func() float64 {
		inner := float64(4 * density(x+width/2))
		return float64((density(x) + inner + density(x+width)) * (width / 6))
	}
	next := share()
	for i := range z {
		target := (float64(i) + 0.5) / (2 * float64(len(z)))
		for below+next < target {
			below += next
			x += width
			next = share()
		}
		at := x + float64(width*((target-below)/next))
		z[i] = int16(float64(at*normalOne) + 0.5)
	}
	return z
})

// splitMix generates random bits from a seed: Steele, Lea and Flood, "Fast Splittable Pseudorandom
// Number Generators" (2014). Its results define the meaning of seeds and never change.
type splitMix uint64

// next returns 64 bits.
func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
