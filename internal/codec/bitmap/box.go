package bitmap

// Box is an axis-parallel box in an image, in pixels from its top left corner, with fractions. It
// covers XMin <= x < XMax and YMin <= y < YMax, so a whole image of w x h pixels is {0, 0, w, h}.
type Box struct {
	XMin, YMin, XMax, YMax float64
}

// Area returns the area in pixels, 0 for a box whose sides are not in order.
func (b Box) Area() float64 {
	if !(b.XMin < b.XMax && b.YMin < b.YMax) {
		return 0
	}
	return float64(b.XMax-b.XMin) * float64(b.YMax-b.YMin)
}

// Clip returns the part of the box within an image of w x h pixels, which has no area if the box is
// outside.
func (b Box) Clip(w, h int) Box {
	clip := func(v float64, n int) float64 { return min(max(v, 0), float64(n)) }
	return Box{clip(b.XMin, w), clip(b.YMin, h), clip(b.XMax, w), clip(b.YMax, h)}
}

// Orient converts a box from a stored image of w x h pixels to the upright image. orientation is
// EXIF's, 1 to 8; other values count as 1. To convert back, pass the inverse orientation and the
// size of the upright image. 6 and 8 are inverse to each other, all others to themselves.
func (b Box) Orient(orientation, w, h int) Box {
	width, height := float64(w), float64(h)
	switch orientation {
	case 2, 3, 7, 8:
		b.XMin, b.XMax = width-b.XMax, width-b.XMin
	}
	switch orientation {
	case 3, 4, 6, 7:
		b.YMin, b.YMax = height-b.YMax, height-b.YMin
	}
	if orientation >= 5 && orientation <= 8 {
		b = Box{b.YMin, b.XMin, b.YMax, b.XMax}
	}
	return b
}

// Around returns the smallest box around four points.
func Around(points [4][2]float64) Box {
	b := Box{points[0][0], points[0][1], points[0][0], points[0][1]}
	for _, p := range points[1:] {
		b = Box{min(b.XMin, p[0]), min(b.YMin, p[1]), max(b.XMax, p[0]), max(b.YMax, p[1])}
	}
	return b
}

// Corners returns the corners, clockwise from the top left one.
func Corners(b Box) [4][2]float64 {
	return [4][2]float64{{b.XMin, b.YMin}, {b.XMax, b.YMin}, {b.XMax, b.YMax}, {b.XMin, b.YMax}}
}

// MoveBox returns the box, moved.
func MoveBox(b Box, x, y int) Box {
	dx, dy := float64(x), float64(y)
	return Box{b.XMin + dx, b.YMin + dy, b.XMax + dx, b.YMax + dy}
}

// ScaleBox returns the box after an image of w x h pixels was resized to width x height. The far
// edge of the image maps exactly to the far edge of the result.
func ScaleBox(b Box, w, h, width, height int) Box {
	x := func(v float64) float64 { return float64(v*float64(width)) / float64(w) }
	y := func(v float64) float64 { return float64(v*float64(height)) / float64(h) }
	return Box{x(b.XMin), y(b.YMin), x(b.XMax), y(b.YMax)}
}

// CutBox clips the box to an image of w x h pixels and returns the part of the area that is left.
// If that is 0, the box is the zero value.
func CutBox(b Box, w, h int) (Box, float64) {
	c := b.Clip(w, h)
	left := c.Area()
	switch {
	case left == 0:
		return Box{}, 0
	case c == b:
		return b, 1
	}
	return c, left / b.Area()
}

// Overlap returns the area that two boxes share as a part of the area that they cover together.
func Overlap(b, other Box) float64 {
	both := Box{max(b.XMin, other.XMin), max(b.YMin, other.YMin), min(b.XMax, other.XMax), min(b.YMax, other.YMax)}.Area()
	return both / (b.Area() + other.Area() - both)
}
