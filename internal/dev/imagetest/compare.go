package imagetest

import (
	"math"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
)

// Farthest is the longest way from an edge of a box to that of another.
func Farthest(a, b bitmap.Box) float64 {
	return max(math.Abs(a.XMin-b.XMin), math.Abs(a.YMin-b.YMin), math.Abs(a.XMax-b.XMax), math.Abs(a.YMax-b.YMax))
}

// PSNR is the peak signal-to-noise ratio of two images of one size in dB, 99 when they are equal.
func PSNR(a, b *bitmap.Image) float64 {
	sum := 0
	for y := range a.Height {
		ra, rb := a.Row(y), b.Row(y)
		for x := range ra {
			d := int(ra[x]) - int(rb[x])
			sum += d * d
		}
	}
	if sum == 0 {
		return 99
	}
	return 10 * math.Log10(255*255*float64(a.Width*a.Height*a.Channels)/float64(sum))
}

// Within reports an error unless got is want, to a tolerance.
func Within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v within %v", what, got, want, tolerance)
	}
}
