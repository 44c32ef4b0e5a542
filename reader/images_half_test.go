package reader

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/reader/internal/images"
)

// halfFormat is a 16-bit float, by its definition.
type halfFormat struct {
	name     string
	mantissa int // bits
	bias     int
	of       func(float32) uint16
	value    func(uint16) float32
	finite   []float64 // all numbers from 0, and what follows as if the exponents went on
}

var halfFormats = []*halfFormat{
	newHalfFormat(halfFormat{name: "float16", mantissa: 10, bias: 15, of: images.Float16Of, value: images.Float16Value}),
	newHalfFormat(halfFormat{name: "bfloat16", mantissa: 7, bias: 127, of: images.BFloat16Of, value: images.BFloat16Value}),
}

func newHalfFormat(f halfFormat) *halfFormat {
	for h := uint16(0); !math.IsInf(f.define(h), 0); h++ {
		f.finite = append(f.finite, f.define(h))
	}
	f.finite = append(f.finite, math.Ldexp(1, f.bias+1))
	return &f
}

// define returns the number that bits stand for.
func (f *halfFormat) define(h uint16) float64 {
	sign := 1 - 2*float64(h>>15)
	fraction := float64(h&(1<<f.mantissa-1)) / float64(int(1)<<f.mantissa)
	switch exponent := int(h&0x7fff) >> f.mantissa; {
	case exponent == 1<<(15-f.mantissa)-1 && fraction != 0:
		return math.NaN()
	case exponent == 1<<(15-f.mantissa)-1:
		return math.Inf(int(sign))
	case exponent == 0:
		return math.Copysign(math.Ldexp(fraction, 1-f.bias), sign)
	default:
		return sign * math.Ldexp(1+fraction, exponent-f.bias)
	}
}

// nearest returns the bits nearest to x, which is no NaN, by search among all numbers.
func (f *halfFormat) nearest(x float64) uint16 {
	sign := uint16(0)
	if math.Signbit(x) {
		sign, x = 0x8000, -x
	}
	infinity := len(f.finite) - 1
	h, found := slices.BinarySearch(f.finite, x) // the first number from x on
	if found || h > infinity {
		return sign | uint16(min(h, infinity))
	}
	half := (f.finite[h-1] + f.finite[h]) / 2 // exact
	if x < half || x == half && h%2 == 1 {
		h--
	}
	return sign | uint16(h)
}

// check compares the conversion of x with the nearest number.
func (f *halfFormat) check(t *testing.T, x float32) {
	t.Helper()
	got := f.of(x)
	if x != x {
		if f.define(got) == f.define(got) {
			t.Fatalf("%s of a NaN, %#x, is %#04x", f.name, math.Float32bits(x), got)
		}
		return
	}
	if want := f.nearest(float64(x)); got != want {
		t.Fatalf("%s of %g (%#x) is %#04x, want %#04x", f.name, x, math.Float32bits(x), got, want)
	}
}

func TestHalves(t *testing.T) {
	for _, f := range halfFormats {
		t.Run(f.name, func(t *testing.T) {
			for h := range 1 << 16 {
				h := uint16(h)
				want, got := f.define(h), f.value(h)
				if want != want {
					if got == got {
						t.Fatalf("%#04x is %g, want a NaN", h, got)
					}
					f.check(t, got)
					continue
				}
				if float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) {
					t.Fatalf("%#04x is %g, want %g", h, got, want)
				}
				if back := f.of(got); back != h {
					t.Fatalf("%#04x comes back as %#04x", h, back)
				}
				// Halfway to the next number, and just next to that, on both sides.
				if next := f.define(h + 1); !math.IsNaN(next) && h&0x7fff != 0x7fff {
					half := float32((want + next) / 2)
					for _, x := range []float32{half, math.Nextafter32(half, 0), math.Nextafter32(half, 2*half)} {
						f.check(t, x)
					}
				}
			}
			rnd := rand.New(rand.NewPCG(6, 6))
			for range 300_000 {
				f.check(t, math.Float32frombits(rnd.Uint32()))
				f.check(t, float32(rnd.NormFloat64()))
			}
			for _, x := range []float32{0, float32(math.Copysign(0, -1)), math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32,
				65504, 65519.996, 65520, 65536, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())} {
				f.check(t, x)
			}
		})
	}
}
