package augment

import "math"

// shapeOperations are the operations that move pixels.
func shapeOperations() []*definition {
	const kind = "shape"
	share := func(name, initial, about string, most float64) parameter {
		return parameter{name: name, kind: kindSpan, initial: initial, min: 1e-6, max: most, about: about}
	}
	return []*definition{
		{
			name: "random_resized_crop", kind: kind, torchvision: "RandomResizedCrop",
			about: "crop a random part of the image and resize it",
			parameters: []parameter{
				sizeOf("size of the result"),
				share("scale", "0.08..1", "share of the image's area that is cropped", 1),
				share("ratio", "0.75.."+formatNumber(4.0/3), "aspect ratio of the crop, width by height", 1e6),
				resizeFilter(),
				yesNo("antialias", "true", "take every source pixel into account when reducing, as Pillow does"),
				chance("1"),
			},
			sampler: randomResizedCrop,
		},
		{
			name: "random_crop", kind: kind, torchvision: "RandomCrop",
			about: "crop to that size at a random position; smaller images are padded on both sides, as with pad_if_needed",
			parameters: []parameter{
				sizeOf("size of the result"),
				{name: "padding", kind: kindPair, initial: "0", max: MaxSide, integer: true, about: "padding added around the image first, in pixels: left and right/top and bottom"},
				fillColor(),
				chance("1"),
			},
			sampler: randomCrop,
		},
		{
			name: "iou_crop", kind: kind, torchvision: "RandomIoUCrop",
			about: "crop a random part with an object's centre in it, which overlaps the object as much as a number that is drawn, as SSD does; without objects, keep the image",
			parameters: []parameter{
				{name: "overlap", kind: kindList, initial: "0/0.1/0.3/0.5/0.7/0.9/1", max: 1, about: "the numbers: intersection over union of crop and object; 1 keeps the image"},
				share("scale", "0.3..1", "width and height of the crop, as shares of the image's", 1),
				share("ratio", "0.5..2", "aspect ratio of the crop, width by height", 1e6),
				{name: "trials", initial: "40", min: 1, max: 1000, integer: true, about: "how many crops are tried before another number is drawn"},
				chance("1"),
			},
			sampler: iouCrop,
		},
		{
			name: "center_crop", kind: kind, torchvision: "CenterCrop",
			about: "crop the centre; smaller images are padded",
			parameters: []parameter{
				sizeOf("size of the result"), fillColor(), chance("1"),
			},
			sampler: centerCrop,
		},
		{
			name: "pad", kind: kind, torchvision: "Pad",
			about: "add a border of one colour",
			parameters: []parameter{
				{name: "padding", kind: kindPair, max: MaxSide, integer: true, about: "width of the border, in pixels: left and right/top and bottom"},
				fillColor(),
				chance("1"),
			},
			sampler: padAll,
		},
		{
			name: "resize", kind: kind, torchvision: "Resize",
			about: "resize the image",
			parameters: []parameter{
				{name: "size", kind: kindResize, min: 1, max: MaxSide, integer: true, about: "size of the result"},
				resizeFilter(),
				yesNo("antialias", "true", "take every source pixel into account when reducing, as Pillow does"),
				chance("1"),
			},
			sampler: resizeAll,
		},
		{
			name: "hflip", kind: kind, torchvision: "RandomHorizontalFlip",
			about:      "mirror left and right",
			parameters: []parameter{chance("0.5")},
			sampler:    always(HFlip{}),
		},
		{
			name: "vflip", kind: kind, torchvision: "RandomVerticalFlip",
			about:      "mirror top and bottom",
			parameters: []parameter{chance("0.5")},
			sampler:    always(VFlip{}),
		},
		{
			name: "rotate", kind: kind, torchvision: "RandomRotation",
			about: "rotate the image around its centre",
			parameters: []parameter{
				{name: "degrees", kind: kindAround0, min: -maxAngle, max: maxAngle, about: "angle, counter-clockwise"},
				transformFilter("nearest"),
				yesNo("expand", "false", "make the result as large as the rotated image; otherwise the size stays"),
				fillColor(),
				chance("1"),
			},
			sampler: func(s settings, _ []*operation) sampler {
				return func(d *drawing) {
					d.add(Rotate{Angle: d.from(s.span("degrees")), Expand: s.is("expand", "true"), Filter: s.filter("filter"), Fill: s.color("fill")})
				}
			},
		},
		{
			name: "affine", kind: kind, torchvision: "RandomAffine",
			about: "rotate, translate, scale and shear the image, which keeps its size",
			parameters: []parameter{
				{name: "degrees", kind: kindAround0, min: -maxAngle, max: maxAngle, about: "angle, clockwise"},
				{name: "translate", kind: kindPair, initial: "0", max: 1, about: "translation to either side, as a share of width and height"},
				{name: "scale", kind: kindSpan, initial: "1", min: 0.0001, max: 10000, about: "scale factor"},
				{name: "shear", kind: kindShear, initial: "0", min: -89, max: 89, about: "angle of the shear along x and y, in degrees"},
				transformFilter("nearest"),
				fillColor(),
				chance("1"),
			},
			sampler: randomAffine,
		},
		{
			name: "perspective", kind: kind, torchvision: "RandomPerspective",
			about: "tilt the image: move each corner inwards by a random distance",
			parameters: []parameter{
				{name: "distortion_scale", initial: "0.5", max: 1, about: "the farthest that a corner moves, as a share of the way to the middle, along x and along y"},
				transformFilter("bilinear"),
				fillColor(),
				chance("0.5"),
			},
			sampler: randomPerspective,
		},
	}
}

// always adds the same step.
func always(step Step) func(settings, []*operation) sampler {
	return func(settings, []*operation) sampler {
		return func(d *drawing) { d.add(step) }
	}
}

// randomBox draws the area of a box, as a share of the image's, and its ratio of width to height,
// as torchvision does. fits reports whether a size is acceptable. After ten sizes that are not, ok
// is false.
func (d *drawing) randomBox(scale, ratio span, fits func(w, h int) bool) (x, y, w, h int, ok bool) {
	area := float64(float64(d.width) * float64(d.height))
	for range 10 {
		target := float64(area * d.from(scale))
		aspect := d.random.betweenLogs(ratio.lo, ratio.hi)
		w, h = round(math.Sqrt(float64(target*aspect))), round(math.Sqrt(target/aspect))
		if fits(w, h) {
			y = d.random.integer(0, d.height-h)
			x = d.random.integer(0, d.width-w)
			return x, y, w, h, true
		}
	}
	return 0, 0, 0, 0, false
}

func randomResizedCrop(s settings, _ []*operation) sampler {
	scale, ratio := s.span("scale"), s.span("ratio")
	crop := ResizedCrop{
		Width: int(s.get("size").x.lo), Height: int(s.get("size").y.lo),
		Filter: s.filter("filter"), Antialias: s.is("antialias", "true"),
	}
	return func(d *drawing) {
		c := crop
		var ok bool
		c.X, c.Y, c.W, c.H, ok = d.randomBox(scale, ratio, func(w, h int) bool {
			return w > 0 && w <= d.width && h > 0 && h <= d.height
		})
		if !ok {
			// The largest box in the middle whose ratio is allowed.
			c.W, c.H = d.width, d.height
			switch shape := float64(d.width) / float64(d.height); {
			case shape < ratio.lo:
				c.H = min(max(round(float64(d.width)/ratio.lo), 1), d.height)
			case shape > ratio.hi:
				c.W = min(max(round(float64(float64(d.height)*ratio.hi)), 1), d.width)
			}
			c.X, c.Y = (d.width-c.W)/2, (d.height-c.H)/2
		}
		d.add(c)
	}
}

func randomCrop(s settings, _ []*operation) sampler {
	size, padding, fill := s.get("size"), s.get("padding"), s.color("fill")
	// along returns where in the image a window begins.
	along := func(d *drawing, length, window, pad int) int {
		pad += max(0, window-(length+2*pad))
		return d.random.integer(0, length+2*pad-window) - pad
	}
	return func(d *drawing) {
		c := CropBox{W: int(size.x.lo), H: int(size.y.lo), Fill: fill}
		c.Y = along(d, d.height, c.H, int(padding.y.lo))
		c.X = along(d, d.width, c.W, int(padding.x.lo))
		d.add(c)
	}
}

func centerCrop(s settings, _ []*operation) sampler {
	size, fill := s.get("size"), s.color("fill")
	along := func(length, window int) int {
		if window > length {
			return -((window - length) / 2)
		}
		return cropStart(length - window)
	}
	return func(d *drawing) {
		w, h := int(size.x.lo), int(size.y.lo)
		d.add(CropBox{X: along(d.width, w), Y: along(d.height, h), W: w, H: h, Fill: fill})
	}
}

func padAll(s settings, _ []*operation) sampler {
	padding, fill := s.get("padding"), s.color("fill")
	x, y := int(padding.x.lo), int(padding.y.lo)
	return func(d *drawing) {
		d.add(CropBox{X: -x, Y: -y, W: d.width + 2*x, H: d.height + 2*y, Fill: fill})
	}
}

func resizeAll(s settings, _ []*operation) sampler {
	size, filter, antialias := s.get("size"), s.filter("filter"), s.is("antialias", "true")
	spec := ResizeSpec{Width: int(size.x.lo), Height: int(size.y.lo), NoAntialias: true}
	if spec.Height == 0 {
		spec.Height, spec.Fit = spec.Width, Shorter
	}
	return func(d *drawing) {
		g := spec.Geometry(d.width, d.height)
		d.add(ResizeTo{Width: g.Width, Height: g.Height, Filter: filter, Antialias: antialias})
	}
}

func randomAffine(s settings, _ []*operation) sampler {
	degrees, translate, scale, shear := s.span("degrees"), s.get("translate"), s.span("scale"), s.get("shear")
	base := Affine{Filter: s.filter("filter"), Fill: s.color("fill")}
	return func(d *drawing) {
		a := base
		a.Angle = d.from(degrees)
		farthest := [2]float64{float64(translate.x.lo * float64(d.width)), float64(translate.y.lo * float64(d.height))}
		for i, most := range farthest {
			a.Translate[i] = round(d.random.between(-most, most))
		}
		a.Scale = d.from(scale)
		a.Shear = [2]float64{d.from(shear.x), d.from(shear.y)}
		d.add(a)
	}
}

func randomPerspective(s settings, _ []*operation) sampler {
	scale := s.number("distortion_scale")
	base := Perspective{Filter: s.filter("filter"), Fill: s.color("fill")}
	return func(d *drawing) {
		x, y := int(float64(scale*float64(d.width/2))), int(float64(scale*float64(d.height/2)))
		for range 10 { // with a distortion_scale over 2/3, corners may pass each other
			p := base
			for i, corner := range [4][2]int{{0, 0}, {d.width, 0}, {d.width, d.height}, {0, d.height}} {
				inwards := [2]int{d.random.integer(0, x), d.random.integer(0, y)}
				for axis, at := range corner {
					if at > 0 {
						inwards[axis] = at - inwards[axis]
					}
				}
				p.Corners[i] = inwards
			}
			if p.validate() == nil {
				d.add(p)
				return
			}
		}
	}
}
