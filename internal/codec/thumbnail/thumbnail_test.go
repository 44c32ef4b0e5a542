package thumbnail

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/tfrec/tfrec/augment"
)

// TestNew makes images smaller and, if asked to, larger.
func TestNew(t *testing.T) {
	var gray, color augment.Image
	gray.Reset(30, 20, 1)
	color.Reset(30, 20, 3)
	for i := range gray.Pix {
		gray.Pix[i] = 7
		copy(color.Pix[3*i:], []uint8{1, 2, 3})
	}
	for _, c := range []struct {
		im      *augment.Image
		side    int
		upscale bool
		size    image.Point
		want    [4]uint8
	}{
		{&gray, 15, false, image.Pt(15, 10), [4]uint8{7, 7, 7, 255}},
		{&color, 15, true, image.Pt(15, 10), [4]uint8{1, 2, 3, 255}},
		{&color, 60, false, image.Pt(30, 20), [4]uint8{1, 2, 3, 255}},
		{&color, 60, true, image.Pt(60, 40), [4]uint8{1, 2, 3, 255}},
	} {
		thumb, err := New(c.im, c.side, c.upscale, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := thumb.Rect.Size(); got != c.size {
			t.Errorf("%+v: size %v", c, got)
		}
		for i := 0; i < len(thumb.Pix); i += 4 {
			if [4]uint8(thumb.Pix[i:]) != c.want {
				t.Fatalf("%+v: pixel %d is %v", c, i/4, thumb.Pix[i:i+4])
			}
		}
		data, err := PNG(thumb)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := png.Decode(bytes.NewReader(data)); err != nil || back.Bounds() != thumb.Rect {
			t.Errorf("%+v: the PNG gives %v, %v", c, back, err)
		}
		if _, r, err := JPEG(thumb, 6, 80); err != nil || r != image.Rect(0, 0, 6, 4) {
			t.Errorf("%+v: the JPEG is %v, %v", c, r, err)
		}
	}
}
