package augment

// Point is a place in an image, in pixels from its top left corner, with fractions, as the sides of a
// [Box] are. An image of w x h pixels has the points from 0, 0 to w, h, both included.
type Point struct {
	X, Y float64
}

// in reports whether the point is in an image of w x h pixels.
func (p Point) in(w, h int) bool {
	return p.X >= 0 && p.X <= float64(w) && p.Y >= 0 && p.Y <= float64(h) // false for NaN
}

// Orient is [Box.Orient] for a point.
func (p Point) Orient(orientation, w, h int) Point { return pointOf(p.box().Orient(orientation, w, h)) }

// box returns the box that is only the point, so that all that moves boxes moves points.
func (p Point) box() Box { return Box{p.X, p.Y, p.X, p.Y} }

func pointOf(b Box) Point { return Point{b.XMin, b.YMin} }
