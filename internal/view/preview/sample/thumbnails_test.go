package sample

import (
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/codec/rawpixels"
	"github.com/tfrec/tfrec/internal/dev/previewtest"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestStoredSamples shows images that are stored raw and as float32 as they
// are.
func TestStoredSamples(t *testing.T) {
	raw := augment.Image{Pix: []uint8{0, 255, 255, 0, 51, 102}, Width: 3, Height: 2, Channels: 1, Stride: 3}
	p := Thumbnails{Codec: previewtest.NewCodec(t), Gate: NewGate()}
	sides := func(format string, h, w, c int64) *tfrecord.Features {
		var b tfrecord.Builder
		b.String(imagekey.Format, format)
		b.Int64(imagekey.Height, h)
		b.Int64(imagekey.Width, w)
		b.Int64(imagekey.Channels, c)
		var e tfrecord.Example
		if err := e.Parse(b.Append(nil)); err != nil {
			t.Fatal(err)
		}
		return &e.Features
	}
	floats := augment.AppendFloat32(nil, &raw, augment.Normalize{Mean: [3]float32{0.5}, Std: [3]float32{0.25}})
	for _, c := range []struct {
		format string
		data   []byte
	}{{rawpixels.Uint8, raw.Pix}, {rawpixels.Float32, floats}} {
		if _, err := p.small(sides(c.format, 2, 3, 1), c.data, 1000); err != nil {
			t.Fatalf("%s: %v", c.format, err)
		}
		if string(p.full.Pix) != string(raw.Pix) {
			t.Errorf("%s gives %v, want %v", c.format, p.full.Pix, raw.Pix)
		}
	}
	for _, bad := range []struct {
		what    string
		h, w, c int64
		data    []byte
	}{
		{rawpixels.Uint8, 2, 3, 2, raw.Pix}, {rawpixels.Uint8, 3, 3, 1, raw.Pix}, {rawpixels.Uint8, -2, -3, 1, raw.Pix}, {rawpixels.Uint8, 1 << 40, 1, 1, raw.Pix},
		{rawpixels.Float32, 2, 3, 1, floats[:23]}, {rawpixels.Float32, 1, 1, 1, []byte{0, 0, 0xc0, 0x7f}}, {rawpixels.Uint8, 1, 1, 1, nil},
	} {
		if _, err := p.small(sides(bad.what, bad.h, bad.w, bad.c), bad.data, 1000); err == nil {
			t.Errorf("%s of %d x %d x %d in %d bytes is taken", bad.what, bad.h, bad.w, bad.c, len(bad.data))
		}
	}
}

// TestImagesFitTheirBudget makes images of many shapes as large as they may be.
func TestImagesFitTheirBudget(t *testing.T) {
	p := Thumbnails{Codec: previewtest.NewCodec(t), Gate: NewGate()}
	for _, c := range []struct{ w, h, channels, budget int }{
		{1, 1, 1, 4000}, {64, 64, 3, 40_000}, {64, 64, 3, 4000}, {900, 600, 3, 30_000}, {900, 600, 1, 8000}, {3000, 2, 3, 4000}, {700, 700, 3, 3500},
	} {
		data := previewtest.EncodePNG(t, previewtest.Noise(3, c.w, c.h, c.channels))
		got, err := p.small(new(tfrecord.Features), data, c.budget)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		if n := len(got.Uri); n > c.budget+40 {
			t.Errorf("%v takes %d bytes", c, n)
		}
		if got.Width != c.w || got.Height != c.h || got.ShownWidth > maxSide || got.ShownHeight > maxSide {
			t.Errorf("%v is %+v", c, got)
		}
	}
}
