package convert

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/augment"
)

// TestIoUCropSeesAnnotations: each crop has an object with its center in it and the overlap, in the
// image as shown, and the bytes do not depend on workers.
func TestIoUCropSeesAnnotations(t *testing.T) {
	const least = 0.2
	r := rand.New(rand.NewPCG(9, 23))
	src, file, drawings := drawingsIn(t, r, 24)
	o := with(file, ImageOptions{
		Options: Options{Shards: 3, Workers: 1}, Encode: EncodeSpec{Format: PNG},
		Augment: AugmentSpec{Policy: policy(t, "iou_crop:0.2,scale=0.2-1"), Copies: 3},
	})
	out, other := t.TempDir(), t.TempDir()
	mustImages(t, src, out, o)
	o.Workers = 4
	mustImages(t, src, other, o)
	sameSet(t, contents(t, other), contents(t, out))

	crops := 0
	for _, v := range variantsOf(t, out, "train") {
		d := drawings[slices.IndexFunc(drawings, func(d drawing) bool { return d.name == v.name })]
		var draw augment.Draw
		if err := json.Unmarshal([]byte(v.ops), &draw); err != nil {
			t.Fatal(err)
		}
		if len(draw.Steps) == 0 {
			continue // there is no such crop, or no object
		}
		crop, ok := draw.Steps[0].(augment.CropBox)
		if !ok || len(draw.Steps) > 1 {
			t.Fatalf("%s: steps %s", v.name, v.ops)
		}
		crops++
		if !slices.ContainsFunc(d.rects, func(r rect) bool {
			x, y := float64(r.box.Min.X+r.box.Max.X)/2-float64(crop.X), float64(r.box.Min.Y+r.box.Max.Y)/2-float64(crop.Y)
			if !(0 < x && x < float64(crop.W) && 0 < y && y < float64(crop.H)) {
				return false
			}
			w := min(r.box.Max.X, crop.X+crop.W) - max(r.box.Min.X, crop.X)
			h := min(r.box.Max.Y, crop.Y+crop.H) - max(r.box.Min.Y, crop.Y)
			both := float64(w * h)
			return both/(float64(r.box.Dx()*r.box.Dy()+crop.W*crop.H)-both) >= least
		}) {
			t.Errorf("%s, %dx%d, objects %v: no object overlaps %s", v.name, d.w, d.h, d.rects, v.ops)
		}
	}
	if crops < 24 {
		t.Errorf("%d crops of 72 variants", crops)
	}
}
