package steps

import "github.com/tfrec/tfrec/internal/codec/bitmap"

// Box returns the position of a box after the steps, for an image of w x h pixels, and the visible
// share of its area, 1 if nothing is lost. If nothing is visible, it returns the zero value and 0.
//
// The box is clipped to the image before the first step and after each one. The share is the
// product of the shares that remain after each clip. A box that is turned, sheared or tilted
// becomes the smallest box around its corners, and its area counts from there: steps see boxes, not
// objects, so boxes grow where several such steps follow each other. Steps that move no pixels do
// not change the box. With a [Mixture], the box belongs to the image itself; use [Draw.Of] for
// boxes of partners.
//
// The boxes equal torchvision.transforms.v2's, except for [Rotate] with Expand: torchvision puts
// the turned image into the top left corner of the result, but its pixels, like Pillow's, are in
// the middle. Here the boxes follow the pixels, which are less than a pixel further right and down.
func (d Draw) Box(b bitmap.Box, w, h int) (bitmap.Box, float64) {
	d = d.Of(0, w, h)
	b, share := bitmap.CutBox(b, w, h)
	for i := 0; i < len(d.Steps) && share > 0; i++ {
		if c, ok := d.Steps[i].(Cover); ok {
			var left float64
			b, left = c.Hide(b)
			share *= left
			continue
		}
		moved, ok := MoveBox(d.Steps[i], b, w, h)
		if !ok {
			continue
		}
		w, h = d.Steps[i].size(w, h)
		var left float64
		b, left = bitmap.CutBox(moved, w, h)
		share *= left
	}
	return b, share
}

// MoveBox returns where a step moves a box of an image of w x h pixels. ok is false for a step that
// moves no pixels.
func MoveBox(s Step, b bitmap.Box, w, h int) (moved bitmap.Box, ok bool) {
	switch s := s.(type) {
	case HFlip:
		return b.Orient(2, w, h), true
	case VFlip:
		return b.Orient(4, w, h), true
	case CropBox:
		return bitmap.MoveBox(b, -s.X, -s.Y), true
	case ResizedCrop:
		return bitmap.ScaleBox(bitmap.MoveBox(b, -s.X, -s.Y), s.W, s.H, s.Width, s.Height), true
	case ResizeTo:
		return bitmap.ScaleBox(b, w, h, s.Width, s.Height), true
	case Rotate:
		if o := s.orientation(w, h); o > 0 {
			return b.Orient(o, w, h), true
		}
		m, _, _ := RotateMatrix(s, w, h)
		return m.MoveBox(b), true
	case Affine:
		m := AffineMatrix(s, w, h)
		return m.MoveBox(b), true
	case Perspective:
		return TiltBox(s, b, w, h), true
	}
	return b, false
}
