package augment

import (
	"fmt"
	"image"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/imaging"
)

// noise is an image of random samples.
func noise(w, h, channels int) *Image {
	im := new(Image)
	im.Reset(w, h, channels)
	r := rand.New(rand.NewPCG(uint64(w), uint64(h)))
	for i := range im.Pix {
		im.Pix[i] = uint8(r.Uint32())
	}
	return im
}

func BenchmarkResize(b *testing.B) {
	for _, size := range [][2]int{{500, 375}, {4000, 3000}} {
		src := noise(size[0], size[1], 3)
		for _, f := range []Filter{Bilinear, Bicubic, Lanczos3, Area, Nearest} {
			for _, antialias := range []bool{true, false} {
				if antialias && (f == Area || f == Nearest) {
					continue
				}
				b.Run(fmt.Sprintf("%dx%d/%v/antialias=%v", size[0], size[1], f, antialias), func(b *testing.B) {
					b.SetBytes(int64(len(src.Pix)))
					b.ReportAllocs()
					var dst Image
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
	src := noise(500, 375, 1)
	b.SetBytes(int64(len(src.Pix)))
	b.ReportAllocs()
	var dst Image
	for b.Loop() {
		if err := Resize(&dst, src, 224, 224, Bilinear, true); err != nil {
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
