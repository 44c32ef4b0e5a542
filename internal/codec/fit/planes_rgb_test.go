package fit

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// TestRenderRGB: the window holds the colours of the planes rendered, and padding is exactly of
// its colour.
func TestRenderRGB(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(31, 32))
	var scratch workspace.Scratch
	var got bitmap.Image
	for range 300 {
		s := anySpec(r)
		src := imagetest.NoisyPlanes(1+r.IntN(120), 1+r.IntN(120), 1<<r.IntN(4), imagetest.Subsamplings[r.IntN(4)], r.IntN(5))
		g := s.Geometry(src.Width, src.Height)
		if err := s.RenderRGB(&got, src, g, &scratch); err != nil {
			t.Fatal(err)
		}
		var planes bitmap.Planes
		if err := s.RenderPlanes(&planes, src, g, "444", nil); err != nil {
			t.Fatal(err)
		}
		var want bitmap.Image
		if err := planes.RGB(&want); err != nil {
			t.Fatal(err)
		}
		for y := range want.Height {
			for x := range want.Width {
				if x < g.PadX || x >= g.PadX+g.WindowWidth || y < g.PadY || y >= g.PadY+g.WindowHeight {
					copy(want.Row(y)[3*x:], s.PadColor[:])
				}
			}
		}
		if got.Width != want.Width || got.Height != want.Height || !bytes.Equal(got.Pix, want.Pix) {
			t.Fatalf("%+v of %dx%d %s at 1/%d: other pixels", s, src.Width, src.Height, src.Subsampling, src.Denom)
		}
	}
}

func TestRenderRGBRefuses(t *testing.T) {
	src := imagetest.NoisyPlanes(20, 10, 1, "420", 0)
	spec := ResizeSpec{Width: 5, Height: 5, Filter: resample.Nearest, NoAntialias: true}
	if err := spec.RenderRGB(new(bitmap.Image), src, spec.Geometry(20, 10), nil); err == nil {
		t.Error("nearest came")
	}
	spec.Filter = resample.Bilinear
	src.Cr.Width--
	if err := spec.RenderRGB(new(bitmap.Image), src, spec.Geometry(20, 10), nil); err == nil {
		t.Error("planes of two sizes came")
	}
}

// Rendered to the same size again and again, nothing is allocated.
func TestRenderRGBAllocations(t *testing.T) {
	src := imagetest.NoisyPlanes(200, 100, 1, "420", 0)
	spec := ResizeSpec{Width: 50, Height: 50, Fit: Pad}
	g := spec.Geometry(200, 100)
	var dst bitmap.Image
	var scratch workspace.Scratch
	if n := testing.AllocsPerRun(20, func() {
		if err := spec.RenderRGB(&dst, src, g, &scratch); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
