package steps

import "github.com/tfrec/tfrec/internal/codec/bitmap"

// Point returns the position of a point after the steps, for an image of w x h pixels, and whether
// it is still shown. A point that is outside of the image before the first step or after any of
// them, or that another image of a [Mixture] covers, is lost: it is the zero value. With a mixture,
// the point belongs to the image itself; use [Draw.Of] for points of partners.
//
// Points move as the corners of [Draw.Box] do.
func (d Draw) Point(p bitmap.Point, w, h int) (moved bitmap.Point, shown bool) {
	d = d.Of(0, w, h)
	shown = bitmap.InImage(p, w, h)
	for i := 0; i < len(d.Steps) && shown; i++ {
		if c, ok := d.Steps[i].(Cover); ok {
			shown = !c.covers(p)
			continue
		}
		b, ok := MoveBox(d.Steps[i], bitmap.PointBox(p), w, h)
		if !ok {
			continue
		}
		w, h = d.Steps[i].size(w, h)
		p = bitmap.BoxPoint(b)
		shown = bitmap.InImage(p, w, h)
	}
	if !shown {
		return bitmap.Point{}, false
	}
	return p, true
}

// Mirrors reports whether the draw shows the image as a mirror does, so that its left is on the
// right: whether it has an odd number of flips. Two of them turn the image by half. Of a [Mixture],
// the image is the draw's own.
func (d Draw) Mirrors() bool {
	mirrors := false
	for _, s := range d.Steps {
		switch s := s.(type) {
		case HFlip, VFlip:
			mirrors = !mirrors
		case Perspective:
			mirrors = mirrors != s.mirrors()
		}
	}
	return mirrors
}

// covers reports whether a point is hidden.
func (s Cover) covers(p bitmap.Point) bool {
	x, y := p.X-float64(s.X), p.Y-float64(s.Y)
	return x >= 0 && x < float64(s.W) && y >= 0 && y < float64(s.H)
}
