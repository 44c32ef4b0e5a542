//go:build (amd64 || arm64) && !noasm

package augment

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// The assembly and its reference implementation make the same planes.
func TestPlanesReference(t *testing.T) {
	race.Skip(t)
	if !useAssembly {
		t.Skip("the assembly does not run on this processor")
	}
	r := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		s := anySpec(r)
		src := noisyPlanes(1+r.IntN(300), 1+r.IntN(200), 1<<r.IntN(4), subsamplings[r.IntN(4)], r.IntN(9))
		g := s.Geometry(src.Width, src.Height)
		to := subsamplings[r.IntN(4)]
		var fast, plain Planes
		if err := s.RenderPlanes(&fast, src, g, to, nil); err != nil {
			t.Fatal(err)
		}
		withoutAssembly(func() {
			if err := s.RenderPlanes(&plain, src, g, to, nil); err != nil {
				t.Fatal(err)
			}
		})
		for i, im := range fast.images() {
			if !bytes.Equal(im.Pix, plain.images()[i].Pix) {
				t.Fatalf("%+v of %dx%d %s at 1/%d to %s: plane %d has other bytes", s, src.Width, src.Height, src.Subsampling, src.Denom, to, i)
			}
		}
	}
}
