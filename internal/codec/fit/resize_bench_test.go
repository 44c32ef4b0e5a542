package fit

import (
	"fmt"
	"image"
	"testing"

	"github.com/disintegration/imaging"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

func BenchmarkResize(b *testing.B) {
	for _, size := range [][2]int{{500, 375}, {4000, 3000}} {
		src := imagetest.Noise(size[0], size[1], 3)
		for _, f := range []resample.Filter{resample.Bilinear, resample.Bicubic, resample.Lanczos3, resample.Area, resample.Nearest} {
			for _, antialias := range []bool{true, false} {
				if antialias && (f == resample.Area || f == resample.Nearest) {
					continue
				}
				b.Run(fmt.Sprintf("%dx%d/%v/antialias=%v", size[0], size[1], f, antialias), func(b *testing.B) {
					b.SetBytes(int64(len(src.Pix)))
					b.ReportAllocs()
					var dst bitmap.Image
					for b.Loop() {
						if err := Resize(&dst, src, 224, 224, f, antialias); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// A plane of an image in YCbCr is resized as gray.
func BenchmarkResizeGray(b *testing.B) {
	src := imagetest.Noise(500, 375, 1)
	b.SetBytes(int64(len(src.Pix)))
	b.ReportAllocs()
	var dst bitmap.Image
	for b.Loop() {
		if err := Resize(&dst, src, 224, 224, resample.Bilinear, true); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkResizeImaging is what others make of the same images.
func BenchmarkResizeImaging(b *testing.B) {
	for _, size := range [][2]int{{500, 375}, {4000, 3000}} {
		src := image.NewNRGBA(image.Rect(0, 0, size[0], size[1]))
		for i := range src.Pix {
			src.Pix[i] = uint8(i*7) | 1
		}
		b.Run(fmt.Sprintf("%dx%d/bilinear", size[0], size[1]), func(b *testing.B) {
			b.SetBytes(int64(size[0] * size[1] * 3))
			b.ReportAllocs()
			for b.Loop() {
				imaging.Resize(src, 224, 224, imaging.Linear)
			}
		})
	}
}
