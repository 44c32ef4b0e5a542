package augment

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
func (d Draw) Box(b Box, w, h int) (Box, float64) {
	d = d.Of(0, w, h)
	b, share := b.cut(w, h)
	for i := 0; i < len(d.Steps) && share > 0; i++ {
		if c, ok := d.Steps[i].(cover); ok {
			var left float64
			b, left = c.hide(b)
			share *= left
			continue
		}
		moved, ok := moveBox(d.Steps[i], b, w, h)
		if !ok {
			continue
		}
		w, h = d.Steps[i].size(w, h)
		var left float64
		b, left = moved.cut(w, h)
		share *= left
	}
	return b, share
}

// moveBox returns where a step moves a box of an image of w x h pixels. ok is false for a step that
// moves no pixels.
func moveBox(s Step, b Box, w, h int) (moved Box, ok bool) {
	switch s := s.(type) {
	case HFlip:
		return b.Orient(2, w, h), true
	case VFlip:
		return b.Orient(4, w, h), true
	case CropBox:
		return b.move(-s.X, -s.Y), true
	case ResizedCrop:
		return b.move(-s.X, -s.Y).scale(s.W, s.H, s.Width, s.Height), true
	case ResizeTo:
		return b.scale(w, h, s.Width, s.Height), true
	case Rotate:
		if o := s.orientation(w, h); o > 0 {
			return b.Orient(o, w, h), true
		}
		m, _, _ := s.matrix(w, h)
		return m.moveBox(b), true
	case Affine:
		m := s.matrix(w, h)
		return m.moveBox(b), true
	case Perspective:
		return s.moveBox(b, w, h), true
	}
	return b, false
}

// moveBox returns the box around what becomes of the box's corners, in the result.
func (m *matrix) moveBox(b Box) Box {
	det := float64(m[0]*m[4]) - float64(m[1]*m[3])
	back := matrix{m[4] / det, -m[1] / det, 0, -m[3] / det, m[0] / det, 0}
	points := b.corners()
	for i, p := range points {
		points[i][0], points[i][1] = back.at(p[0]-m[2], p[1]-m[5])
	}
	return around(points)
}

// Box returns where the resize moves a box of the image, in pixels of SourceWidth x SourceHeight,
// and the visible share of its area, as [Draw.Box] does: 1 unless the fit cuts some of it away.
func (g Geometry) Box(b Box) (Box, float64) {
	b = b.scale(g.SourceWidth, g.SourceHeight, g.ScaledWidth, g.ScaledHeight).move(-g.CropX, -g.CropY)
	b, share := b.cut(g.WindowWidth, g.WindowHeight)
	if share > 0 {
		b = b.move(g.PadX, g.PadY)
	}
	return b, share
}
