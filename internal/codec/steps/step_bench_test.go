package steps

import (
	"os"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// photo224 is a photograph as large as networks want it.
func photo224(b *testing.B) *bitmap.Image {
	data, err := os.ReadFile("../../../testdata/demo/photos/daisy/14354051035_1037b30421_n.jpg")
	if err != nil {
		b.Fatal(err)
	}
	var photo, resized bitmap.Image
	if _, err := newCodec(b, imagefile.CodecOptions{Decoder: "go"}).Decode(&photo, data, imagefile.DecodeOptions{Channels: 3}); err != nil {
		b.Fatal(err)
	}
	if err := fit.Resize(&resized, &photo, 224, 224, resample.Bilinear, true); err != nil {
		b.Fatal(err)
	}
	return &resized
}

// BenchmarkStep runs each step on a photograph as large as networks want it.
func BenchmarkStep(b *testing.B) {
	src := photo224(b)
	scratch := workspace.Scratch{Codec: newCodec(b, imagefile.CodecOptions{Decoder: "go"})}
	for _, c := range stepSamples {
		b.Run(c.name, func(b *testing.B) {
			var dst bitmap.Image
			b.SetBytes(int64(len(src.Pix)))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.step.apply(&dst, src, &scratch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
