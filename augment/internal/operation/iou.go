package operation

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/steps"
)

// iouRounds limits how often iou_crop draws an overlap for which it finds no crop. With the default
// overlaps, one in 2,000 images without a possible crop reaches it.
const iouRounds = 50

// iouCrop draws as torchvision's RandomIoUCrop does, which is SSD's: an overlap, and then boxes
// until one has the center of an object in it and the overlap with such an object.
func iouCrop(s Settings, _ []*Operation) sampler {
	overlaps, scale, ratio, trials := s.numbers("overlap"), s.span("scale"), s.span("ratio"), s.integer("trials")
	return func(d *Drawing) {
		objects := d.objects()
		if len(objects) == 0 {
			return
		}
		for range iouRounds {
			least := overlaps[d.random.below(len(overlaps))]
			if least >= 1 {
				return
			}
			for range trials {
				if c, ok := d.iouBox(scale, ratio); ok && overlapsOne(c, objects, least) {
					d.add(c)
					return
				}
			}
		}
	}
}

// objects returns the boxes of the image after the steps so far, without lost boxes.
func (d *Drawing) objects() []bitmap.Box {
	var objects []bitmap.Box
	for _, b := range d.boxes {
		if b, share := (steps.Draw{Steps: d.Steps[d.first:]}).Box(b, d.firstWidth, d.firstHeight); share > 0 {
			objects = append(objects, b)
		}
	}
	return objects
}

// iouBox draws a box by its sides, as shares of the image's. ok is false for one without area or of
// another ratio of width to height.
func (d *Drawing) iouBox(scale, ratio span) (c steps.CropBox, ok bool) {
	c.W, c.H = int(float64(float64(d.Width)*d.from(scale))), int(float64(float64(d.Height)*d.from(scale)))
	if c.W < 1 || c.H < 1 {
		return c, false
	}
	if shape := float64(c.W) / float64(c.H); shape < ratio.lo || shape > ratio.hi {
		return c, false
	}
	c.X = int(float64(float64(d.Width-c.W) * d.random.unit()))
	c.Y = int(float64(float64(d.Height-c.H) * d.random.unit()))
	return c, true
}

// overlapsOne reports whether an object with its center in the crop has at least that overlap with
// it.
func overlapsOne(c steps.CropBox, objects []bitmap.Box, least float64) bool {
	crop := bitmap.Box{XMin: float64(c.X), YMin: float64(c.Y), XMax: float64(c.X + c.W), YMax: float64(c.Y + c.H)}
	for _, b := range objects {
		x, y := (b.XMin+b.XMax)/2, (b.YMin+b.YMax)/2
		if crop.XMin < x && x < crop.XMax && crop.YMin < y && y < crop.YMax && bitmap.Overlap(crop, b) >= least {
			return true
		}
	}
	return false
}
