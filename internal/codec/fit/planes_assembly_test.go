//go:build (amd64 || arm64) && !noasm

package fit

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// The assembly and its reference implementation make the same planes.
func TestPlanesReference(t *testing.T) {
	race.Skip(t)
	if !resample.UseAssembly {
		t.Skip("the assembly does not run on this processor")
	}
	r := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		s := anySpec(r)
		src := imagetest.NoisyPlanes(1+r.IntN(300), 1+r.IntN(200), 1<<r.IntN(4), imagetest.Subsamplings[r.IntN(4)], r.IntN(9))
		g := s.Geometry(src.Width, src.Height)
		to := imagetest.Subsamplings[r.IntN(4)]
		var fast, plain bitmap.Planes
		if err := s.RenderPlanes(&fast, src, g, to, nil); err != nil {
			t.Fatal(err)
		}
		withoutAssembly(func() {
			if err := s.RenderPlanes(&plain, src, g, to, nil); err != nil {
				t.Fatal(err)
			}
		})
		for i, im := range bitmap.Components(&fast) {
			if !bytes.Equal(im.Pix, bitmap.Components(&plain)[i].Pix) {
				t.Fatalf("%+v of %dx%d %s at 1/%d to %s: plane %d has other bytes", s, src.Width, src.Height, src.Subsampling, src.Denom, to, i)
			}
		}
	}
}
