package imagefile

import (
	"bytes"
	"fmt"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/png/pngtest"
)

// BenchmarkDecodePNG decodes PNGs of each colour type, with image/png beside it.
func BenchmarkDecodePNG(b *testing.B) {
	const width, height = 500, 375
	r := rand.New(rand.NewPCG(1, 2))
	c := newCodec(b, CodecOptions{})
	for _, spec := range []struct {
		name string
		pngtest.Spec
	}{
		{"RGB", pngtest.Spec{Depth: 8, Color: pngtest.RGB}},
		{"RGBA", pngtest.Spec{Depth: 8, Color: pngtest.RGBA}},
		{"gray", pngtest.Spec{Depth: 8, Color: pngtest.Gray}},
		{"palette", pngtest.Spec{Depth: 8, Color: pngtest.Palette, Noisy: true}},
		{"RGB16", pngtest.Spec{Depth: 16, Color: pngtest.RGB}},
		{"RGBA16", pngtest.Spec{Depth: 16, Color: pngtest.RGBA, Noisy: true, Interlaced: true}},
		{"interlaced", pngtest.Spec{Depth: 8, Color: pngtest.RGB, Interlaced: true}},
	} {
		spec.Width, spec.Height = width, height
		data := spec.Encode(r)
		run := func(name string, decode func() error) {
			b.Run(fmt.Sprintf("%s/%s", spec.name, name), func(b *testing.B) {
				b.SetBytes(width * height)
				b.ReportAllocs()
				for b.Loop() {
					if err := decode(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		var im bitmap.Image
		run("tfrec", func() error {
			_, err := c.Decode(&im, data, DecodeOptions{})
			return err
		})
		run("image-png", func() error {
			_, err := png.Decode(bytes.NewReader(data))
			return err
		})
	}
}
