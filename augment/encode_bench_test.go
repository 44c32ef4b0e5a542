package augment

import (
	"bytes"
	"image"
	_ "image/jpeg"
	"image/png"
	"os"
	"testing"
)

// photograph is a real image, resized to w by h.
func photograph(tb testing.TB, w, h int) *Image {
	tb.Helper()
	f, err := os.Open("../testdata/demo/photos/daisy/14354051035_1037b30421_n.jpg")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	in, _, err := image.Decode(f)
	if err != nil {
		tb.Fatal(err)
	}
	var full, im Image
	full.Reset(in.Bounds().Dx(), in.Bounds().Dy(), 3)
	for y := range full.Height {
		for x := range full.Width {
			r, g, b, _ := in.At(x, y).RGBA()
			copy(full.Row(y)[3*x:], []uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)})
		}
	}
	if err := Resize(&im, &full, w, h, Bilinear, true); err != nil {
		tb.Fatal(err)
	}
	return &im
}

func BenchmarkAppendPNG(b *testing.B) {
	im := photograph(b, 224, 224)
	b.SetBytes(int64(len(im.Pix)))
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		var err error
		if out, err = AppendPNG(out[:0], im); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(out)), "bytes")
}

// BenchmarkImagePNG is what image/png makes of the same image.
func BenchmarkImagePNG(b *testing.B) {
	im := photograph(b, 224, 224)
	rgba := image.NewRGBA(image.Rect(0, 0, im.Width, im.Height))
	for i := range im.Width * im.Height {
		copy(rgba.Pix[4*i:], append(im.Pix[3*i:3*i+3:3*i+3], 255))
	}
	b.SetBytes(int64(len(im.Pix)))
	b.ReportAllocs()
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		if err := png.Encode(&out, rgba); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(out.Len()), "bytes")
}

func BenchmarkAppendFloat32(b *testing.B) {
	im := photograph(b, 224, 224)
	n := Normalize{Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}}
	b.SetBytes(int64(len(im.Pix)))
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		out = AppendFloat32(out[:0], im, n)
	}
}
