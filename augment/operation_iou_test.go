package augment

import (
	"math"
	"math/rand/v2"
	"testing"
)

// iouBoxes is what iou_crop promises, for a crop of an image with objects: whether the center of
// one of them is inside, and the largest overlap with such a one.
func iouBoxes(c CropBox, objects []Box) (inside bool, most float64) {
	left, top, right, bottom := float64(c.X), float64(c.Y), float64(c.X+c.W), float64(c.Y+c.H)
	for _, b := range objects {
		x, y := (b.XMin+b.XMax)/2, (b.YMin+b.YMax)/2
		if !(left < x && x < right && top < y && y < bottom) {
			continue
		}
		inside = true
		w, h := min(b.XMax, right)-max(b.XMin, left), min(b.YMax, bottom)-max(b.YMin, top)
		shared := max(w, 0) * max(h, 0)
		most = max(most, shared/((b.XMax-b.XMin)*(b.YMax-b.YMin)+(right-left)*(bottom-top)-shared))
	}
	return inside, most
}

func TestIoUCrop(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 4))
	policies := map[float64]*Policy{}
	for spec, least := range map[string]float64{"iou_crop": 0, "iou_crop:0.3": 0.3, "iou_crop:0.5/0.7": 0.5, "hflip:1|iou_crop:0.9,scale=0.1-1": 0.9} {
		policies[least] = mustParse(t, spec)
	}
	crops := 0
	for i := range 2000 {
		w, h := 1+r.IntN(400), 1+r.IntN(400)
		boxes := make([]Box, 1+r.IntN(4))
		for j := range boxes {
			boxes[j] = wholeBox(r, w, h)
		}
		least := []float64{0, 0.3, 0.5, 0.9}[i%4]
		draw := policies[least].DrawBoxes(r.Uint64(), "a", i, w, h, boxes)
		if least == 0.9 { // mirrored before
			for j := range boxes {
				boxes[j] = boxes[j].Orient(2, w, h)
			}
			draw.Steps = draw.Steps[1:]
		}
		if len(draw.Steps) == 0 {
			continue
		}
		crops++
		c := draw.Steps[0].(CropBox)
		if c.X < 0 || c.Y < 0 || c.W < 1 || c.H < 1 || c.X+c.W > w || c.Y+c.H > h {
			t.Fatalf("%+v of %dx%d", c, w, h)
		}
		if shape := float64(c.W) / float64(c.H); shape < 0.5 || shape > 2 {
			t.Fatalf("%+v: a ratio of %v", c, shape)
		}
		if inside, most := iouBoxes(c, boxes); !inside || most < least-1e-12 {
			t.Fatalf("%+v of %v: center inside %v, overlap %v, want %v", c, boxes, inside, most, least)
		}
	}
	if crops < 800 {
		t.Errorf("only %d crops", crops)
	}
}

// TestIoUCropKeeps keeps images without an object to crop to.
func TestIoUCropKeeps(t *testing.T) {
	p := mustParse(t, "iou_crop")
	nan := math.NaN()
	for name, boxes := range map[string][]Box{
		"no box": nil, "a box outside": {{XMin: 600, YMin: 0, XMax: 700, YMax: 9}}, "no area": {{XMin: 5, YMin: 5, XMax: 5, YMax: 9}}, "not a number": {{XMin: nan, YMin: nan, XMax: nan, YMax: nan}},
	} {
		for i := range 50 {
			if d := p.DrawBoxes(1, "a", i, 500, 375, boxes); len(d.Steps) != 0 {
				t.Errorf("%s: %s", name, drawJSON(t, d))
			}
		}
	}
	if d := p.Draw(1, "a", 1, 500, 375); len(d.Steps) != 0 {
		t.Errorf("no boxes: %s", drawJSON(t, d))
	}
	// No crop of a third and more of the side has that overlap with a box of one pixel.
	for i := range 20 {
		if d := mustParse(t, "iou_crop:0.5").DrawBoxes(1, "a", i, 500, 375, []Box{{XMin: 3, YMin: 3, XMax: 4, YMax: 4}}); len(d.Steps) != 0 {
			t.Errorf("a box of one pixel: %s", drawJSON(t, d))
		}
	}
	// A box that an earlier step loses.
	lost := mustParse(t, "center_crop:100|iou_crop:0")
	if d := lost.DrawBoxes(1, "a", 1, 500, 375, []Box{{XMin: 0, YMin: 0, XMax: 100, YMax: 100}}); len(d.Steps) != 1 {
		t.Errorf("a box lost before: %s", drawJSON(t, d))
	}
	if d := lost.DrawBoxes(1, "a", 1, 500, 375, []Box{{XMin: 200, YMin: 150, XMax: 300, YMax: 250}}); len(d.Steps) != 2 {
		t.Errorf("a box that is still there: %s", drawJSON(t, d))
	}
}

// TestDrawBoxesAreIgnored draws the same with boxes and without where the policy has no use for
// them.
func TestDrawBoxesAreIgnored(t *testing.T) {
	p := mustParse(t, "random_resized_crop:224|hflip|rotate:10|perspective|trivial_augment")
	for i := range 20 {
		a, b := p.Draw(1, "a", i, 500, 375), p.DrawBoxes(1, "a", i, 500, 375, []Box{{XMin: 1, YMin: 2, XMax: 30, YMax: 40}})
		if drawJSON(t, a) != drawJSON(t, b) {
			t.Fatalf("%s with a box, %s without", drawJSON(t, b), drawJSON(t, a))
		}
	}
}
