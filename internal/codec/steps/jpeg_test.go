package steps

import (
	"math"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

func TestJPEGArtefacts(t *testing.T) {
	scratch := testScratch(t)
	source := imagetest.ReadArray(t, "../../../testdata/augment/source.npy")
	for _, channels := range []int{1, 3} {
		src := tiled(source, 29, 37, channels)
		before := -1.0
		for _, quality := range []int{100, 75, 30, 5} {
			var dst bitmap.Image
			if err := (JPEGArtefacts{Quality: quality}).apply(&dst, src, scratch); err != nil {
				t.Fatal(err)
			}
			squares := 0.0
			for i, v := range dst.Pix {
				d := float64(v) - float64(src.Pix[i])
				squares += d * d
			}
			off := math.Sqrt(squares / float64(len(dst.Pix)))
			if off <= before {
				t.Errorf("%d channels, quality %d: off by %v levels, by %v for a higher one", channels, quality, off, before)
			}
			before = off
		}
	}
	small, err := imagefile.NewCodec(imagefile.CodecOptions{Decoder: "go", MaxPixels: 100})
	if err != nil {
		t.Fatal(err)
	}
	err = JPEGArtefacts{Quality: 90}.apply(new(bitmap.Image), imagetest.Noise(20, 20, 3), &workspace.Scratch{Codec: small})
	if err == nil || !strings.HasPrefix(err.Error(), "jpeg: ") {
		t.Errorf("more pixels than the codec takes: %v", err)
	}
}
