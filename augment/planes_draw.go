package augment

import (
	"errors"
	"fmt"
	"math"

	"github.com/tfrec/tfrec/internal/jpeg"
)

// TakesPlanes says whether [Draw.ApplyPlanes] does what was drawn: where the first step resizes
// the picture or a part of it, by any filter but Nearest. The steps behind it are done in RGB, to
// what has its size by then.
func (d Draw) TakesPlanes() bool {
	_, ok := d.firstBox(1, 1)
	return ok
}

// MinDecode is [ResizeSpec.MinDecode] for a draw that takes planes, of a picture of w x h pixels.
func (d Draw) MinDecode(w, h int) (minW, minH int) {
	box, ok := d.firstBox(w, h)
	if !ok || box.W < 1 || box.H < 1 {
		return 0, 0
	}
	minW, minH = ResizeSpec{Width: box.Width, Height: box.Height, Filter: box.Filter, Antialias: box.Antialias}.MinDecode(box.W, box.H)
	return ofWhole(minW, w, box.W), ofWhole(minH, h, box.H)
}

// ofWhole is how many pixels there must be of the whole for so many of a part of it.
func ofWhole(n, whole, part int) int {
	return int(min((int64(n)*int64(whole)+int64(part)-1)/int64(part), math.MaxInt32))
}

// ApplyPlanes is [Draw.Apply] for planes, to RGB. The first step is done to the planes, and to
// RGB then what is left of them: it differs from what Apply makes of the picture in RGB as
// [Planes] says.
func (d Draw) ApplyPlanes(dst *Image, src *Planes, scratch *Scratch) error {
	box, ok := d.firstBox(src.Width, src.Height)
	if !ok {
		return errors.New("the first step has no way with planes")
	}
	scratch, free := scratch.orOwn()
	defer free()
	first := dst
	rest := Draw{d.Steps[1:]}
	if len(rest.Steps) > 0 {
		first = &scratch.steps.draw[1] // where Apply doesn't write first
	}
	if err := box.applyPlanes(first, src, scratch); err != nil {
		return fmt.Errorf("step 0: %w", err)
	}
	if first == dst {
		return nil
	}
	return rest.apply(dst, first, 1, scratch)
}

// firstBox is the first step as the crop that it is, for a picture of w x h pixels.
func (d Draw) firstBox(w, h int) (ResizedCrop, bool) {
	if len(d.Steps) == 0 {
		return ResizedCrop{}, false
	}
	var box ResizedCrop
	switch s := d.Steps[0].(type) {
	case ResizedCrop:
		box = s
	case ResizeTo:
		box = ResizedCrop{W: w, H: h, Width: s.Width, Height: s.Height, Filter: s.Filter, Antialias: s.Antialias}
	default:
		return ResizedCrop{}, false
	}
	return box, box.Filter != Nearest
}

// applyPlanes is Apply for planes: all of them go straight to the size of the result, and what
// comes of it to RGB.
func (s ResizedCrop) applyPlanes(dst *Image, src *Planes, scratch *Scratch) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if err := src.check(); err != nil {
		return fmt.Errorf("%s: %w", s.Op(), err)
	}
	if src.Width > maxSource || src.Height > maxSource {
		return fmt.Errorf("%s of %dx%d: no side of the source may be over %d pixels", s.Op(), src.Width, src.Height, maxSource)
	}
	if err := s.within(src.Width, src.Height); err != nil {
		return err
	}
	from, _ := src.sampling()
	planes := &scratch.planes
	planes.reset(s.Width, s.Height, jpeg.Sub444)
	in := src.images()
	for i, out := range planes.images() {
		fx, fy := src.Denom, src.Denom
		if i > 0 {
			across, down := from.Factors()
			fx, fy = fx*across, fy*down
		}
		x, across := s.boxAxis(s.X, s.W, fx, s.Width, 1)
		y, down := s.boxAxis(s.Y, s.H, fy, s.Height, 0)
		box := *in[i]
		box.Pix = box.Pix[y*box.Stride+x:]
		box.Width, box.Height = across.in, down.in
		scratch.resizePlane(out, &box, across, down)
	}
	dst.Reset(s.Width, s.Height, 3)
	planar := planes.planar(jpeg.Sub444)
	planar.RGB(dst.Pix, dst.Stride)
	return nil
}

// boxAxis is one direction of the resize of n pixels from x on, of which per make a sample: the
// first sample that has a part in them, and what the weights follow from.
func (s ResizedCrop) boxAxis(x, n, per, to, channels int) (first int, k axisKey) {
	first = x / per
	k = axisKey{in: (x+n+per-1)/per - first, out: to, hi: to, filter: s.Filter, antialias: s.Antialias, channels: channels}
	if skip := x - first*per; skip > 0 || n != k.in*per {
		k.grid = grid{size: n, per: per, skip: skip, step: 1}
	}
	return first, k
}
