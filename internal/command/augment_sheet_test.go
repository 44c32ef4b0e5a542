package command

import (
	"testing"

	"github.com/tfrec/tfrec/augment"
)

func TestSheet(t *testing.T) {
	s, err := newSheet(3, 16)
	if err != nil {
		t.Fatal(err)
	}
	if im := &s.image; im.Width != 2*20+4 || im.Height != 2*20+4 {
		t.Errorf("%dx%d", im.Width, im.Height)
	}
	black := &augment.Image{Pix: make([]uint8, 32*16), Width: 32, Height: 16, Channels: 1, Stride: 32}
	for range 3 {
		if err := s.add(black); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.add(black); err == nil {
		t.Error("a fourth picture went onto a sheet of three")
	}
	level := func(x, y int) uint8 { return s.image.Row(y)[3*x] }
	for _, c := range []struct {
		x, y int
		want uint8
	}{{0, 0, 255}, {4, 4, 255}, {4, 12, 0}, {19, 12, 0}, {20, 12, 255}, {24, 12, 0}, {4, 32, 0}, {24, 32, 255}} {
		if got := level(c.x, c.y); got != c.want {
			t.Errorf("level %d at %d,%d, want %d", got, c.x, c.y, c.want)
		}
	}
	for _, c := range [][2]int{{0, 16}, {1, 0}, {1 << 30, 1000}} {
		if _, err := newSheet(c[0], c[1]); err == nil {
			t.Errorf("sheet of %d images of %d pixels was made", c[0], c[1])
		}
	}
}
