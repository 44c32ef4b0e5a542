package operation

import (
	"math"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/codec/steps"
	"github.com/tfrec/tfrec/internal/exact"
)

// shapeOperations are the operations that move pixels.
func shapeOperations() []*Definition {
	const kind = "shape"
	share := func(name, initial, about string, most float64) Parameter {
		return Parameter{Name: name, kind: kindSpan, Initial: initial, min: 1e-6, max: most, about: about}
	}
	return []*Definition{
		{
			Name: "random_resized_crop", kind: kind, torchvision: "RandomResizedCrop",
			about: "crop a random part of the image and resize it",
			Parameters: []Parameter{
				sizeOf("size of the result"),
				share("scale", "0.08..1", "share of the image's area that is cropped", 1),
				share("ratio", "0.75.."+formatNumber(4.0/3), "aspect ratio of the crop, width by height", 1e6),
				resizeFilter(),
				yesNo("antialias", "true", "take every source pixel into account when reducing, as Pillow does"),
				chance("1"),
			},
			Sampler: randomResizedCrop,
		},
		{
			Name: "random_crop", kind: kind, torchvision: "RandomCrop",
			about: "crop to that size at a random position; smaller images are padded on both sides, as with pad_if_needed",
			Parameters: []Parameter{
				sizeOf("size of the result"),
				{Name: "padding", kind: kindPair, Initial: "0", max: bitmap.MaxSide, integer: true, about: "padding added around the image first, in pixels: left and right/top and bottom"},
				fillColor(),
				chance("1"),
			},
			Sampler: randomCrop,
		},
		{
			Name: "iou_crop", kind: kind, torchvision: "RandomIoUCrop",
			about: "crop a random part with an object's centre in it, which overlaps the object as much as a number that is drawn, as SSD does; without objects, keep the image",
			Parameters: []Parameter{
				{Name: "overlap", kind: kindList, Initial: "0/0.1/0.3/0.5/0.7/0.9/1", max: 1, about: "the numbers: intersection over union of crop and object; 1 keeps the image"},
				share("scale", "0.3..1", "width and height of the crop, as shares of the image's", 1),
				share("ratio", "0.5..2", "aspect ratio of the crop, width by height", 1e6),
				{Name: "trials", Initial: "40", min: 1, max: 1000, integer: true, about: "how many crops are tried before another number is drawn"},
				chance("1"),
			},
			Sampler: iouCrop,
		},
		{
			Name: "center_crop", kind: kind, torchvision: "CenterCrop",
			about: "crop the centre; smaller images are padded",
			Parameters: []Parameter{
				sizeOf("size of the result"), fillColor(), chance("1"),
			},
			Sampler: centerCrop,
		},
		{
			Name: "pad", kind: kind, torchvision: "Pad",
			about: "add a border of one colour",
			Parameters: []Parameter{
				{Name: "padding", kind: kindPair, max: bitmap.MaxSide, integer: true, about: "width of the border, in pixels: left and right/top and bottom"},
				fillColor(),
				chance("1"),
			},
			Sampler: padAll,
		},
		{
			Name: "resize", kind: kind, torchvision: "Resize",
			about: "resize the image",
			Parameters: []Parameter{
				{Name: "size", kind: kindResize, min: 1, max: bitmap.MaxSide, integer: true, about: "size of the result"},
				resizeFilter(),
				yesNo("antialias", "true", "take every source pixel into account when reducing, as Pillow does"),
				chance("1"),
			},
			Sampler: resizeAll,
		},
		{
			Name: "hflip", kind: kind, torchvision: "RandomHorizontalFlip",
			about:      "mirror left and right",
			Parameters: []Parameter{chance("0.5")},
			Sampler:    always(steps.HFlip{}),
		},
		{
			Name: "vflip", kind: kind, torchvision: "RandomVerticalFlip",
			about:      "mirror top and bottom",
			Parameters: []Parameter{chance("0.5")},
			Sampler:    always(steps.VFlip{}),
		},
		{
			Name: "rotate", kind: kind, torchvision: "RandomRotation",
			about: "rotate the image around its centre",
			Parameters: []Parameter{
				{Name: "degrees", kind: kindAround0, min: -steps.MaxAngle, max: steps.MaxAngle, about: "angle, counter-clockwise"},
				transformFilter("nearest"),
				yesNo("expand", "false", "make the result as large as the rotated image; otherwise the size stays"),
				fillColor(),
				chance("1"),
			},
			Sampler: func(s Settings, _ []*Operation) sampler {
				return func(d *Drawing) {
					d.add(steps.Rotate{Angle: d.from(s.span("degrees")), Expand: s.is("expand", "true"), Filter: s.filter("filter"), Fill: s.color("fill")})
				}
			},
		},
		{
			Name: "affine", kind: kind, torchvision: "RandomAffine",
			about: "rotate, translate, scale and shear the image, which keeps its size",
			Parameters: []Parameter{
				{Name: "degrees", kind: kindAround0, min: -steps.MaxAngle, max: steps.MaxAngle, about: "angle, clockwise"},
				{Name: "translate", kind: kindPair, Initial: "0", max: 1, about: "translation to either side, as a share of width and height"},
				{Name: "scale", kind: kindSpan, Initial: "1", min: 0.0001, max: 10000, about: "scale factor"},
				{Name: "shear", kind: kindShear, Initial: "0", min: -89, max: 89, about: "angle of the shear along x and y, in degrees"},
				transformFilter("nearest"),
				fillColor(),
				chance("1"),
			},
			Sampler: randomAffine,
		},
		{
			Name: "perspective", kind: kind, torchvision: "RandomPerspective",
			about: "tilt the image: move each corner inwards by a random distance",
			Parameters: []Parameter{
				{Name: "distortion_scale", Initial: "0.5", max: 1, about: "the farthest that a corner moves, as a share of the way to the middle, along x and along y"},
				transformFilter("bilinear"),
				fillColor(),
				chance("0.5"),
			},
			Sampler: randomPerspective,
		},
	}
}

// always adds the same step.
func always(step steps.Step) func(Settings, []*Operation) sampler {
	return func(Settings, []*Operation) sampler {
		return func(d *Drawing) { d.add(step) }
	}
}

// randomBox draws the area of a box, as a share of the image's, and its ratio of width to height,
// as torchvision does. fits reports whether a size is acceptable. After ten sizes that are not, ok
// is false.
func (d *Drawing) randomBox(scale, ratio span, fits func(w, h int) bool) (x, y, w, h int, ok bool) {
	area := float64(float64(d.Width) * float64(d.Height))
	for range 10 {
		target := float64(area * d.from(scale))
		aspect := d.random.betweenLogs(ratio.lo, ratio.hi)
		w, h = exact.Round(math.Sqrt(float64(target*aspect))), exact.Round(math.Sqrt(target/aspect))
		if fits(w, h) {
			y = d.random.integer(0, d.Height-h)
			x = d.random.integer(0, d.Width-w)
			return x, y, w, h, true
		}
	}
	return 0, 0, 0, 0, false
}

func randomResizedCrop(s Settings, _ []*Operation) sampler {
	scale, ratio := s.span("scale"), s.span("ratio")
	crop := steps.ResizedCrop{
		Width: int(s.get("size").x.lo), Height: int(s.get("size").y.lo),
		Filter: s.filter("filter"), Antialias: s.is("antialias", "true"),
	}
	return func(d *Drawing) {
		c := crop
		var ok bool
		c.X, c.Y, c.W, c.H, ok = d.randomBox(scale, ratio, func(w, h int) bool {
			return w > 0 && w <= d.Width && h > 0 && h <= d.Height
		})
		if !ok {
			// The largest box in the middle whose ratio is allowed.
			c.W, c.H = d.Width, d.Height
			switch shape := float64(d.Width) / float64(d.Height); {
			case shape < ratio.lo:
				c.H = min(max(exact.Round(float64(d.Width)/ratio.lo), 1), d.Height)
			case shape > ratio.hi:
				c.W = min(max(exact.Round(float64(float64(d.Height)*ratio.hi)), 1), d.Width)
			}
			c.X, c.Y = (d.Width-c.W)/2, (d.Height-c.H)/2
		}
		d.add(c)
	}
}

func randomCrop(s Settings, _ []*Operation) sampler {
	size, padding, fill := s.get("size"), s.get("padding"), s.color("fill")
	// along returns where in the image a window begins.
	along := func(d *Drawing, length, window, pad int) int {
		pad += max(0, window-(length+2*pad))
		return d.random.integer(0, length+2*pad-window) - pad
	}
	return func(d *Drawing) {
		c := steps.CropBox{W: int(size.x.lo), H: int(size.y.lo), Fill: fill}
		c.Y = along(d, d.Height, c.H, int(padding.y.lo))
		c.X = along(d, d.Width, c.W, int(padding.x.lo))
		d.add(c)
	}
}

func centerCrop(s Settings, _ []*Operation) sampler {
	size, fill := s.get("size"), s.color("fill")
	along := func(length, window int) int {
		if window > length {
			return -((window - length) / 2)
		}
		return fit.CropStart(length - window)
	}
	return func(d *Drawing) {
		w, h := int(size.x.lo), int(size.y.lo)
		d.add(steps.CropBox{X: along(d.Width, w), Y: along(d.Height, h), W: w, H: h, Fill: fill})
	}
}

func padAll(s Settings, _ []*Operation) sampler {
	padding, fill := s.get("padding"), s.color("fill")
	x, y := int(padding.x.lo), int(padding.y.lo)
	return func(d *Drawing) {
		d.add(steps.CropBox{X: -x, Y: -y, W: d.Width + 2*x, H: d.Height + 2*y, Fill: fill})
	}
}

func resizeAll(s Settings, _ []*Operation) sampler {
	size, filter, antialias := s.get("size"), s.filter("filter"), s.is("antialias", "true")
	spec := fit.ResizeSpec{Width: int(size.x.lo), Height: int(size.y.lo), NoAntialias: true}
	if spec.Height == 0 {
		spec.Height, spec.Fit = spec.Width, fit.Shorter
	}
	return func(d *Drawing) {
		g := spec.Geometry(d.Width, d.Height)
		d.add(steps.ResizeTo{Width: g.Width, Height: g.Height, Filter: filter, Antialias: antialias})
	}
}

func randomAffine(s Settings, _ []*Operation) sampler {
	degrees, translate, scale, shear := s.span("degrees"), s.get("translate"), s.span("scale"), s.get("shear")
	base := steps.Affine{Filter: s.filter("filter"), Fill: s.color("fill")}
	return func(d *Drawing) {
		a := base
		a.Angle = d.from(degrees)
		farthest := [2]float64{float64(translate.x.lo * float64(d.Width)), float64(translate.y.lo * float64(d.Height))}
		for i, most := range farthest {
			a.Translate[i] = exact.Round(d.random.between(-most, most))
		}
		a.Scale = d.from(scale)
		a.Shear = [2]float64{d.from(shear.x), d.from(shear.y)}
		d.add(a)
	}
}

func randomPerspective(s Settings, _ []*Operation) sampler {
	scale := s.Number("distortion_scale")
	base := steps.Perspective{Filter: s.filter("filter"), Fill: s.color("fill")}
	return func(d *Drawing) {
		x, y := int(float64(scale*float64(d.Width/2))), int(float64(scale*float64(d.Height/2)))
		for range 10 { // with a distortion_scale over 2/3, corners may pass each other
			p := base
			for i, corner := range [4][2]int{{0, 0}, {d.Width, 0}, {d.Width, d.Height}, {0, d.Height}} {
				inwards := [2]int{d.random.integer(0, x), d.random.integer(0, y)}
				for axis, at := range corner {
					if at > 0 {
						inwards[axis] = at - inwards[axis]
					}
				}
				p.Corners[i] = inwards
			}
			if steps.Validate(p) == nil {
				d.add(p)
				return
			}
		}
	}
}
