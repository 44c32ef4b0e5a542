package resample

import (
	"fmt"
	"math"
	"strings"
)

// Filter selects the weights of the pixels around a position. The zero value is Bilinear.
type Filter uint8

// The filters, in the words of tf.image.resize.
const (
	// Bilinear weighs by a triangle over one pixel to each side.
	Bilinear Filter = iota
	// Nearest takes the one pixel whose area contains the position.
	Nearest
	// Area averages the rectangle of the source that a pixel covers, its
	// edges by the share that is covered.
	Area
	// Bicubic is Keys' cubic over two pixels to each side, with a = -0.5.
	Bicubic
	// Lanczos3 is the windowed sinc over three pixels to each side.
	Lanczos3
)

// FilterNames are the names of the filters, by their values.
var FilterNames = [...]string{"bilinear", "nearest", "area", "bicubic", "lanczos3"}

// String returns the name that [ParseFilter] reads.
func (f Filter) String() string {
	if int(f) < len(FilterNames) {
		return FilterNames[f]
	}
	return fmt.Sprintf("Filter(%d)", uint8(f))
}

// ParseFilter returns the filter of a name: bilinear, nearest, area, bicubic or
// lanczos3.
func ParseFilter(name string) (Filter, error) {
	for i, n := range FilterNames {
		if n == name {
			return Filter(i), nil
		}
	}
	return 0, fmt.Errorf("unknown filter %q: want %s", name, strings.Join(FilterNames[:], ", "))
}

// Valid reports whether f is one of the filters above.
func Valid(f Filter) bool { return int(f) < len(FilterNames) }

// kernel returns the kernel of a filter and its reach in pixels, for the filters that have one.
// weigh returns the weight of a pixel at a distance.
func (f Filter) kernel() (weigh func(float64) float64, reach float64) {
	switch f {
	case Bicubic:
		return cubic, 2
	case Lanczos3:
		return lanczos3, 3
	default:
		return triangle, 1
	}
}

// In what follows each product is converted explicitly: Go may otherwise fuse
// it with the sum around it on some architectures, and round differently there.

// triangle is the bilinear kernel.
func triangle(x float64) float64 {
	return max(0, 1-math.Abs(x))
}

// cubic is Keys' kernel ("Cubic convolution interpolation for digital image
// processing", 1981) with a = -0.5.
func cubic(x float64) float64 {
	x = math.Abs(x)
	switch {
	case x < 1:
		return float64(float64((float64(1.5*x)-2.5)*x)*x) + 1
	case x < 2:
		return float64((float64((float64((x-5)*x)+8)*x) - 4) * -0.5)
	}
	return 0
}

// lanczos3 is the sinc windowed by a sinc of three times its width.
func lanczos3(x float64) float64 {
	if x < -3 || x >= 3 {
		return 0
	}
	return sinc(x) * sinc(x/3)
}

// sinc is sin(πx)/(πx).
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return sinPi(x) / (x * math.Pi)
}

// sinPi is sin(πx), to the last bit or two, with the same bits everywhere:
// math.Sin promises that for no two architectures.
func sinPi(x float64) float64 {
	n := math.RoundToEven(x)
	r := float64((x - n) * math.Pi) // within ±π/2
	r2 := float64(r * r)
	// Taylor's series, whose next term is below 1e-18 of the sum.
	sum := 0.0
	for k := 21.0; k >= 3; k -= 2 {
		sum = float64((1+sum)*r2) / -(k * (k - 1))
	}
	s := float64(r * (1 + sum))
	if math.Mod(n, 2) != 0 {
		return -s
	}
	return s
}

// MarshalText writes the filter's name.
func (f Filter) MarshalText() ([]byte, error) {
	if !Valid(f) {
		return nil, fmt.Errorf("unknown filter %v", f)
	}
	return []byte(f.String()), nil
}

// UnmarshalText reads a name as [ParseFilter] does.
func (f *Filter) UnmarshalText(text []byte) error {
	parsed, err := ParseFilter(string(text))
	if err == nil {
		*f = parsed
	}
	return err
}
