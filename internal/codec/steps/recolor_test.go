package steps

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

// anyColorStep is a colour step with parameters that do much or little.
func anyColorStep(r *rand.Rand) Step {
	factor := [...]float64{0, 1, 2 * r.Float64(), 0.8 + 0.4*r.Float64(), 100}[r.IntN(5)]
	return [...]Step{
		Brightness{factor}, Contrast{factor}, Saturation{factor}, Hue{r.Float64() - 0.5}, Gamma{0.5 + r.Float64(), 1},
		Grayscale{}, Invert{}, Posterize{r.IntN(9)}, Solarize{float64(r.IntN(257))}, Equalize{}, AutoContrast{},
	}[r.IntN(11)]
}

// TestColorsTogether: colour steps done together make the bytes of one step after the other, also
// among steps of other kinds, whatever the image's size, channels and stride.
func TestColorsTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	var scratch workspace.Scratch
	var got bitmap.Image
	for range 400 {
		src := imagetest.Noise(1+r.IntN(70), 1+r.IntN(20), 1+2*r.IntN(2))
		for i, v := range src.Pix { // as many different levels as equalize and autocontrast leave something of
			src.Pix[i] = 40 + v/uint8(1+r.IntN(3))/2
		}
		if r.IntN(2) == 0 {
			src = imagetest.Spaced(src, 1+r.IntN(7))
		}
		var draw Draw
		for range 1 + r.IntN(7) {
			draw.Steps = append(draw.Steps, anyColorStep(r))
			if r.IntN(8) == 0 {
				draw.Steps = append(draw.Steps, HFlip{})
			}
		}
		before := string(src.Pix)
		if err := draw.Apply(&got, src, &scratch); err != nil {
			t.Fatal(err)
		}
		if string(src.Pix) != before {
			t.Fatalf("%v changed its source", draw)
		}
		want := src
		for _, step := range draw.Steps {
			next := new(bitmap.Image)
			if err := step.apply(next, want, nil); err != nil {
				t.Fatal(err)
			}
			want = next
		}
		if !samePixels(&got, want) {
			t.Fatalf("%dx%dx%d, %s: other bytes than one by one", src.Width, src.Height, src.Channels, fmt.Sprintf("%#v", draw.Steps))
		}
	}
}

func TestColorsTogetherRefuse(t *testing.T) {
	src := imagetest.Noise(5, 5, 3)
	err := Draw{[]Step{VFlip{}, Invert{}, Gamma{Gamma: -1}, HFlip{}}}.Apply(new(bitmap.Image), src, nil)
	if want := "step 2: gamma: gamma -1: want 0 to 1000"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := (Draw{[]Step{Invert{}, Grayscale{}}}).Apply(src, src, nil); err == nil {
		t.Error("an image became its own result")
	}
}

// BenchmarkColors does the steps of common policies to a photograph as large as networks want it,
// together and one by one:
//
//	go test -run xxx -bench Colors ./internal/codec/steps
func BenchmarkColors(b *testing.B) {
	src := photo224(b)
	for _, c := range []struct {
		name  string
		steps []Step
	}{
		{"tables", []Step{Brightness{1.2}, Gamma{1.1, 1}, Posterize{5}, Solarize{200}, Invert{}}},
		{"jitter", []Step{Brightness{1.2}, Contrast{0.8}, Saturation{1.3}, Hue{0.05}}},
		{"jitter, saturation first", []Step{Saturation{1.3}, Contrast{0.8}, Brightness{1.2}, Hue{0.05}}},
		{"jitter without hue", []Step{Brightness{1.2}, Contrast{0.8}, Saturation{1.3}}},
	} {
		var dst bitmap.Image
		var between [2]bitmap.Image
		var scratch workspace.Scratch
		b.Run(c.name+"/together", func(b *testing.B) {
			b.SetBytes(int64(len(src.Pix)))
			b.ReportAllocs()
			for b.Loop() {
				if err := (Draw{c.steps}).Apply(&dst, src, &scratch); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/one by one", func(b *testing.B) {
			b.SetBytes(int64(len(src.Pix)))
			b.ReportAllocs()
			for b.Loop() {
				from := src
				for i, step := range c.steps {
					if err := step.apply(&between[i&1], from, &scratch); err != nil {
						b.Fatal(err)
					}
					from = &between[i&1]
				}
			}
		})
	}
}
