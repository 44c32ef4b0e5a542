package sample

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/previewtest"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/shard/stats"
)

func newDescriber(t testing.TB, budget int) *Describer {
	return &Describer{
		Set:    &contents.Set{Files: []contents.File{{Path: "x.tfrecord"}}, ImageKey: imagekey.Encoded, Key: imagekey.Filename, Masks: true, Classes: contents.NewClasses(&stats.Objects{Classes: []stats.ObjectClass{{Name: "plate"}}})},
		Budget: budget, Thumbnails: Thumbnails{Codec: previewtest.NewCodec(t), Gate: NewGate()},
	}
}

// TestDrawingsFollowTheImage turns images in each way, and compares boxes and masks with where the
// object is seen.
func TestDrawingsFollowTheImage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := newDescriber(t, 0)
	d.Classes.Ids[7] = "plate"
	for i := range 80 {
		w, h := 40+rng.IntN(160), 40+rng.IntN(160)
		x, y := rng.IntN(w-20), rng.IntN(h-20)
		r := image.Rect(x, y, x+12+rng.IntN(w-x-12), y+12+rng.IntN(h-y-12))
		s := d.Describe(contents.Location{}, previewtest.DrawnRecord(t, w, h, r, 1+i%8), nil)
		if s.Err != nil || s.Drawing == nil || s.Drawing.Problem != "" || len(s.Drawing.Boxes) != 1 || s.Drawing.Masks == nil {
			t.Fatalf("%+v, %+v", s, s.Drawing)
		}
		pixels, b := s.Image.Pixels, s.Drawing.Boxes[0]
		x0, y0, x1, y1 := previewtest.TightBox(pixels.Rect, func(x, y int) bool { return pixels.NRGBAAt(x, y).R > 170 })
		mask := s.Drawing.Masks
		m0, n0, m1, n1 := previewtest.TightBox(mask.Rect, func(x, y int) bool { return mask.ColorIndexAt(x, y) == pixelOfObject(0) })
		near := 1.6 / float64(min(pixels.Rect.Dx(), pixels.Rect.Dy()))
		for k, pair := range [][3]float64{{b.Xmin, x0, m0}, {b.Ymin, y0, n0}, {b.Xmax, x1, m1}, {b.Ymax, y1, n1}} {
			if math.Abs(pair[0]-pair[1]) > near || math.Abs(pair[0]-pair[2]) > near {
				t.Errorf("orientation %d, side %d: box %v, image %v, mask %v", 1+i%8, k, pair[0], pair[1], pair[2])
			}
		}
		if b.Name != "plate" || s.Drawing.Summary != "1 object: plate" {
			t.Errorf("%q, %q", b.Name, s.Drawing.Summary)
		}
	}
}
