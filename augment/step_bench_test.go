package augment

import (
	"os"
	"testing"
)

// photo224 is a photograph as large as networks want it.
func photo224(b *testing.B) *Image {
	data, err := os.ReadFile("../testdata/demo/photos/daisy/14354051035_1037b30421_n.jpg")
	if err != nil {
		b.Fatal(err)
	}
	var photo, resized Image
	if _, err := newCodec(b, CodecOptions{Decoder: "go"}).Decode(&photo, data, DecodeOptions{Channels: 3}); err != nil {
		b.Fatal(err)
	}
	if err := Resize(&resized, &photo, 224, 224, Bilinear, true); err != nil {
		b.Fatal(err)
	}
	return &resized
}

// BenchmarkStep runs each step on a photograph as large as networks want it.
func BenchmarkStep(b *testing.B) {
	src := photo224(b)
	scratch := Scratch{Codec: newCodec(b, CodecOptions{Decoder: "go"})}
	for _, c := range stepSamples {
		b.Run(c.name, func(b *testing.B) {
			var dst Image
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
