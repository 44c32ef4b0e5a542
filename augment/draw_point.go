package augment

import "slices"

// Point returns the position of a point after the steps, for an image of w x h pixels, and whether
// it is still shown. A point that is outside of the image before the first step or after any of
// them, or that another image of a [Mixture] covers, is lost: it is the zero value. With a mixture,
// the point belongs to the image itself; use [Draw.Of] for points of partners.
//
// Points move as the corners of [Draw.Box] do.
func (d Draw) Point(p Point, w, h int) (moved Point, shown bool) {
	d = d.Of(0, w, h)
	shown = p.in(w, h)
	for i := 0; i < len(d.Steps) && shown; i++ {
		if c, ok := d.Steps[i].(cover); ok {
			shown = !c.covers(p)
			continue
		}
		b, ok := moveBox(d.Steps[i], p.box(), w, h)
		if !ok {
			continue
		}
		w, h = d.Steps[i].size(w, h)
		p = pointOf(b)
		shown = p.in(w, h)
	}
	if !shown {
		return Point{}, false
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

// Mirrors reports whether the policy has an operation whose draws may mirror images: see
// [Draw.Mirrors].
func (p *Policy) Mirrors() bool { return anyMirrors(p.operations) }

func anyMirrors(operations []*operation) bool {
	return slices.ContainsFunc(operations, func(o *operation) bool {
		name := o.settings.of.name
		return o.p > 0 && (name == (HFlip{}).op() || name == (VFlip{}).op() || anyMirrors(o.operations))
	})
}

// covers reports whether a point is hidden.
func (s cover) covers(p Point) bool {
	x, y := p.X-float64(s.X), p.Y-float64(s.Y)
	return x >= 0 && x < float64(s.W) && y >= 0 && y < float64(s.H)
}

// Point returns where the resize moves a point of the image, in pixels of SourceWidth x SourceHeight,
// and whether the fit shows it, as [Draw.Point] does.
func (g Geometry) Point(p Point) (moved Point, shown bool) {
	p = pointOf(p.box().scale(g.SourceWidth, g.SourceHeight, g.ScaledWidth, g.ScaledHeight).move(-g.CropX, -g.CropY))
	if !p.in(g.WindowWidth, g.WindowHeight) {
		return Point{}, false
	}
	return pointOf(p.box().move(g.PadX, g.PadY)), true
}
