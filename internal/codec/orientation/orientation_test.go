package orientation

import (
	"testing"

	"github.com/tfrec/tfrec/augment"
)

// Steps move the corners of an image to where Box.Orient moves them, and the steps of the inverse
// orientation move them back.
func TestSteps(t *testing.T) {
	const w, h = 3, 2
	for o := -1; o <= 9; o++ {
		im := augment.Image{Pix: []uint8{1, 2, 3, 4, 5, 6}, Width: w, Height: h, Channels: 1, Stride: w}
		var turned, back augment.Image
		if err := (augment.Draw{Steps: Steps(o)}).Apply(&turned, &im, nil); err != nil {
			t.Fatal(err)
		}
		for y := range h {
			for x := range w {
				at := augment.Box{XMin: float64(x), YMin: float64(y), XMax: float64(x + 1), YMax: float64(y + 1)}.Orient(o, w, h)
				if got, want := turned.Row(int(at.YMin))[int(at.XMin)], im.Row(y)[x]; got != want {
					t.Errorf("orientation %d: %d at %v, want %d", o, got, at, want)
				}
			}
		}
		if err := (augment.Draw{Steps: Steps(Inverse(o))}).Apply(&back, &turned, nil); err != nil {
			t.Fatal(err)
		}
		if string(back.Pix) != string(im.Pix) {
			t.Errorf("orientation %d and back: %d", o, back.Pix)
		}
	}
}
