package steps

import (
	"math"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

// plainBlur is the definition of the blur, in floats.
func plainBlur(im *bitmap.Image, s GaussianBlur) []float64 {
	bell := func(n int, sigma float64) []float64 {
		w, sum := make([]float64, n), 0.0
		for i := range w {
			x := float64(i-n/2) / sigma
			w[i] = math.Exp(-x * x / 2)
			sum += w[i]
		}
		for i := range w {
			w[i] /= sum
		}
		return w
	}
	// walk mirrors by walking back and forth.
	walk := func(at, n int) int {
		for n > 1 && (at < 0 || at >= n) {
			if at < 0 {
				at = -at
			} else {
				at = 2*(n-1) - at
			}
		}
		if n == 1 {
			return 0
		}
		return at
	}
	across, down := bell(s.Kernel[0], s.Sigma[0]), bell(s.Kernel[1], s.Sigma[1])
	var out []float64
	for y := range im.Height {
		for x := range im.Width {
			for c := range im.Channels {
				sum := 0.0
				for j, v := range down {
					row := im.Row(walk(y+j-len(down)/2, im.Height))
					for i, h := range across {
						sum += v * h * float64(row[walk(x+i-len(across)/2, im.Width)*im.Channels+c])
					}
				}
				out = append(out, sum)
			}
		}
	}
	return out
}

func TestBlurAgainstDefinition(t *testing.T) {
	var dst bitmap.Image
	for _, size := range [][2]int{{1, 1}, {2, 1}, {1, 3}, {3, 2}, {5, 9}, {30, 4}} {
		for _, kernel := range [][2]int{{1, 1}, {3, 1}, {1, 5}, {7, 3}, {23, 23}} {
			for _, sigma := range [][2]float64{{0.01, 0.3}, {1, 2}, {900, 40}} {
				for _, channels := range []int{1, 3} {
					s := GaussianBlur{Kernel: kernel, Sigma: sigma}
					src := imagetest.Noise(size[0], size[1], channels)
					if err := s.apply(&dst, src, nil); err != nil {
						t.Fatal(err)
					}
					for i, want := range plainBlur(src, s) {
						if got := float64(dst.Pix[i]); math.Abs(got-want) > 0.5001 {
							t.Errorf("%+v of %v, sample %d: %v, want %v", s, size, i, got, want)
						}
					}
				}
			}
		}
	}
}

// One level stays as it is: the weights sum to 1 exactly.
func TestBlurKeepsFlat(t *testing.T) {
	src := new(bitmap.Image)
	src.Reset(9, 7, 1)
	var dst bitmap.Image
	for _, level := range []uint8{0, 1, 254, 255} {
		bitmap.Fill(src.Pix, []uint8{level})
		for kernel := 1; kernel <= 255; kernel += 2 {
			s := GaussianBlur{Kernel: [2]int{kernel, kernel}, Sigma: [2]float64{float64(kernel) / 6, 1.7}}
			if err := s.apply(&dst, src, nil); err != nil {
				t.Fatal(err)
			}
			for _, v := range dst.Pix {
				if v != level {
					t.Fatalf("%+v made %d of %d", s, v, level)
				}
			}
		}
	}
}
