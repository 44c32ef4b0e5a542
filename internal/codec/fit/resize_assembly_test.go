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

// withoutAssembly runs f as on a processor without assembly.
func withoutAssembly(f func()) {
	defer func(was bool) { resample.UseAssembly = was }(resample.UseAssembly)
	resample.UseAssembly = false
	f()
}

// The assembly and its reference implementation make the same bytes of images of all shapes,
// reduced and enlarged, up to sizes where every loop runs.
func TestAssemblyReference(t *testing.T) {
	race.Skip(t)
	if !resample.UseAssembly {
		t.Skip("the assembly does not run on this processor")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		src := imagetest.Noise(1+r.IntN(400), 1+r.IntN(120), 1+2*r.IntN(2))
		if r.IntN(2) == 0 {
			src = imagetest.Spaced(src, r.IntN(9))
		}
		if r.IntN(3) == 0 {
			for i := range src.Pix { // the extremes overshoot most
				src.Pix[i] = uint8(int8(src.Pix[i]) >> 7)
			}
		}
		w, h, f, antialias := 1+r.IntN(150), 1+r.IntN(150), resample.Filter(r.IntN(len(resample.FilterNames))), r.IntN(2) == 0
		var fast, plain bitmap.Image
		if err := Resize(&fast, src, w, h, f, antialias); err != nil {
			t.Fatal(err)
		}
		withoutAssembly(func() {
			if err := Resize(&plain, src, w, h, f, antialias); err != nil {
				t.Fatal(err)
			}
		})
		if !bytes.Equal(fast.Pix, plain.Pix) {
			t.Fatalf("%dx%dx%d, stride %d, to %dx%d %v antialias=%v: other bytes", src.Width, src.Height, src.Channels, src.Stride, w, h, f, antialias)
		}
	}
}

func TestGoldensWithoutAssembly(t *testing.T) {
	withoutAssembly(func() { TestResizeGoldens(t) })
}

func BenchmarkResizePlain(b *testing.B) {
	withoutAssembly(func() { BenchmarkResize(b) })
}
