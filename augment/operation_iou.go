package augment

// iouRounds limits how often iou_crop draws an overlap for which it finds no crop. With the default
// overlaps, one in 2,000 images without a possible crop reaches it.
const iouRounds = 50

// iouCrop draws as torchvision's RandomIoUCrop does, which is SSD's: an overlap, and then boxes
// until one has the center of an object in it and the overlap with such an object.
func iouCrop(s settings, _ []*operation) sampler {
	overlaps, scale, ratio, trials := s.numbers("overlap"), s.span("scale"), s.span("ratio"), s.integer("trials")
	return func(d *drawing) {
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
func (d *drawing) objects() []Box {
	var objects []Box
	for _, b := range d.boxes {
		if b, share := (Draw{d.steps[d.first:]}).Box(b, d.firstWidth, d.firstHeight); share > 0 {
			objects = append(objects, b)
		}
	}
	return objects
}

// iouBox draws a box by its sides, as shares of the image's. ok is false for one without area or of
// another ratio of width to height.
func (d *drawing) iouBox(scale, ratio span) (c CropBox, ok bool) {
	c.W, c.H = int(float64(float64(d.width)*d.from(scale))), int(float64(float64(d.height)*d.from(scale)))
	if c.W < 1 || c.H < 1 {
		return c, false
	}
	if shape := float64(c.W) / float64(c.H); shape < ratio.lo || shape > ratio.hi {
		return c, false
	}
	c.X = int(float64(float64(d.width-c.W) * d.random.unit()))
	c.Y = int(float64(float64(d.height-c.H) * d.random.unit()))
	return c, true
}

// overlapsOne reports whether an object with its center in the crop has at least that overlap with
// it.
func overlapsOne(c CropBox, objects []Box, least float64) bool {
	crop := Box{float64(c.X), float64(c.Y), float64(c.X + c.W), float64(c.Y + c.H)}
	for _, b := range objects {
		x, y := (b.XMin+b.XMax)/2, (b.YMin+b.YMax)/2
		if crop.XMin < x && x < crop.XMax && crop.YMin < y && y < crop.YMax && crop.iou(b) >= least {
			return true
		}
	}
	return false
}

// iou returns the area that two boxes share as a part of the area that they cover together.
func (b Box) iou(other Box) float64 {
	both := Box{max(b.XMin, other.XMin), max(b.YMin, other.YMin), min(b.XMax, other.XMax), min(b.YMax, other.YMax)}.Area()
	return both / (b.Area() + other.Area() - both)
}
