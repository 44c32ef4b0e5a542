package thumbnail

import (
	"image/color"
	"testing"

	"github.com/tfrec/tfrec/augment"
)

func TestSheet(t *testing.T) {
	layout := func(side int) Layout { return Layout{Side: side, Gap: 4, Ground: color.White} }
	s, err := NewSheet(3, layout(16))
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Image.Rect; r.Dx() != 2*20+4 || r.Dy() != 2*20+4 {
		t.Errorf("%dx%d", r.Dx(), r.Dy())
	}
	black := &augment.Image{Pix: make([]uint8, 32*16), Width: 32, Height: 16, Channels: 1, Stride: 32}
	thumb, err := New(black, 16, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.Add(thumb); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Add(thumb); err == nil {
		t.Error("a fourth image went onto a sheet of three")
	}
	level := func(x, y int) uint8 { return s.Image.RGBAAt(x, y).R }
	for _, c := range []struct {
		x, y int
		want uint8
	}{{0, 0, 255}, {4, 4, 255}, {4, 12, 0}, {19, 12, 0}, {20, 12, 255}, {24, 12, 0}, {4, 32, 0}, {24, 32, 255}} {
		if got := level(c.x, c.y); got != c.want {
			t.Errorf("level %d at %d,%d, want %d", got, c.x, c.y, c.want)
		}
	}
	for _, c := range [][2]int{{0, 16}, {1, 0}, {1 << 30, 1000}} {
		if _, err := NewSheet(c[0], layout(c[1])); err == nil {
			t.Errorf("sheet of %d images of %d pixels was made", c[0], c[1])
		}
	}
}
