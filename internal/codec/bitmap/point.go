package bitmap

// Point is a place in an image, in pixels from its top left corner, with fractions, as the sides of
// a [Box] are. An image of w x h pixels has the points from 0, 0 to w, h, both included.
type Point struct {
	X, Y float64
}

// InImage reports whether the point is in an image of w x h pixels.
func InImage(p Point, w, h int) bool {
	return p.X >= 0 && p.X <= float64(w) && p.Y >= 0 && p.Y <= float64(h) // false for NaN
}

// Orient is [Box.Orient] for a point.
func (p Point) Orient(orientation, w, h int) Point {
	return BoxPoint(PointBox(p).Orient(orientation, w, h))
}

// PointBox returns the box that is only the point, so that all that moves boxes moves points.
func PointBox(p Point) Box { return Box{p.X, p.Y, p.X, p.Y} }

// BoxPoint returns the top left corner of a box, such as the only point of one from PointBox.
func BoxPoint(b Box) Point { return Point{b.XMin, b.YMin} }
