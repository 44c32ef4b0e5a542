package augment

import "fmt"

// Perspective tilts the image: its corners move, and lines stay straight. The size does not change.
// The bytes equal Pillow's Image.transform with PERSPECTIVE, and torchvision's perspective with
// startpoints [0, 0], [w, 0], [w, h] and [0, h] except for the rounding of its coefficients to
// float32.
type Perspective struct {
	// Corners are the new positions of the image's corners, in pixels from the top left corner of
	// the result: top left, top right, bottom right and bottom left. They must form a convex
	// quadrilateral, up to 1,000,000 pixels away.
	Corners [4][2]int `json:"corners"`
	// Filter is Nearest, Bilinear or Bicubic. The zero value is Bilinear, as in torchvision.
	Filter Filter `json:"filter"`
	// Fill is the colour of pixels from outside the image, in RGB; grayscale images get its
	// luminance.
	Fill [3]uint8 `json:"fill,omitzero"`
}

func (s Perspective) op() string { return "perspective" }

func (s Perspective) size(w, h int) (int, int) { return w, h }

func (s Perspective) validate() error {
	for _, p := range s.Corners {
		for _, v := range p {
			if err := checkRange(s.op(), "corner", float64(v), -1e6, 1e6); err != nil {
				return err
			}
		}
	}
	if !s.convex() {
		return fmt.Errorf("%s: corners %v: want those of a convex quadrilateral", s.op(), s.Corners)
	}
	if f := forward(s.Corners); f.constant() == 0 {
		return fmt.Errorf("%s: corners %v: the top left corner of the result is on the horizon", s.op(), s.Corners)
	}
	return checkTransformFilter(s.op(), s.Filter)
}

// convex reports whether all four turns from edge to edge are in the same direction.
func (s Perspective) convex() bool { return s.turns() == 4 || s.mirrors() }

// mirrors reports whether the corners go around counter-clockwise, so that the image is mirrored.
func (s Perspective) mirrors() bool { return s.turns() == -4 }

// turns returns the number of clockwise turns from edge to edge minus the number of
// counter-clockwise ones.
func (s Perspective) turns() int {
	turns := 0
	for i := range 4 {
		a, b, c := s.Corners[i], s.Corners[(i+1)%4], s.Corners[(i+2)%4]
		switch turn := (b[0]-a[0])*(c[1]-b[1]) - (b[1]-a[1])*(c[0]-b[0]); {
		case turn > 0:
			turns++
		case turn < 0:
			turns--
		}
	}
	return turns
}

func (s Perspective) apply(dst, src *Image, scratch *Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	m, t := forward(s.Corners).inverse(src.Width, src.Height)
	fill(dst.Pix, shade(&s.Fill, dst.Channels))
	for y := range dst.Height {
		to := dst.Row(y)
		for x := range dst.Width {
			centerX, centerY := float64(x)+0.5, float64(y)+0.5
			atX, atY := m.at(centerX, centerY)
			z := t.at(centerX, centerY)
			atX, atY = atX/z, atY/z
			if !inside(atX, src.Width) || !inside(atY, src.Height) {
				continue
			}
			switch pixel := to[x*dst.Channels:]; s.Filter {
			case Bilinear:
				bilinearAt(pixel, src, atX, atY)
			case Bicubic:
				bicubicAt(pixel, src, atX, atY)
			default:
				copyPixel(pixel, src.Row(int(atY))[int(atX)*src.Channels:], src.Channels)
			}
		}
	}
	return nil
}

// moveBox returns the box around what becomes of a box of an image of w x h pixels.
func (s Perspective) moveBox(b Box, w, h int) Box {
	f := forward(s.Corners)
	points := b.corners()
	for i, p := range points {
		u, v := p[0]/float64(w), p[1]/float64(h)
		x, y := f.matrix.at(u, v)
		z := f.tilt.at(u, v)
		points[i] = [2]float64{x / z, y / z}
	}
	return around(points)
}

// tilt extends an affine map to a perspective: both coordinates are divided by tilt[0]*x +
// tilt[1]*y + 1.
type tilt [2]float64

func (t *tilt) at(x, y float64) float64 { return float64(t[0]*x) + float64(t[1]*y) + 1 }

// unitPerspective maps the square from 0, 0 to 1, 1 to a quadrilateral.
type unitPerspective struct {
	matrix matrix
	tilt   tilt
}

// forward maps the image, as a square of side 1, to the corners (Heckbert: Fundamentals of Texture
// Mapping and Image Warping, 1989, 2.2.3).
func forward(corners [4][2]int) unitPerspective {
	var x, y [4]float64
	for i, p := range corners {
		x[i], y[i] = float64(p[0]), float64(p[1])
	}
	x1, y1, x2, y2 := x[1]-x[2], y[1]-y[2], x[3]-x[2], y[3]-y[2]
	sumX, sumY := x[0]-x[1]+x[2]-x[3], y[0]-y[1]+y[2]-y[3]
	det := float64(x1*y2) - float64(x2*y1)
	g := (float64(sumX*y2) - float64(x2*sumY)) / det
	h := (float64(x1*sumY) - float64(sumX*y1)) / det
	return unitPerspective{
		matrix{
			x[1] - x[0] + float64(g*x[1]), x[3] - x[0] + float64(h*x[3]), x[0],
			y[1] - y[0] + float64(g*y[1]), y[3] - y[0] + float64(h*y[3]), y[0],
		},
		tilt{g, h},
	}
}

// constant returns the divisor of the inverse, with which its tilt ends with 1.
func (f *unitPerspective) constant() float64 {
	m := &f.matrix
	return float64(m[0]*m[4]) - float64(m[1]*m[3])
}

// inverse maps the corners back to an image of w x h pixels.
func (f unitPerspective) inverse(w, h int) (matrix, tilt) {
	m, t := &f.matrix, &f.tilt
	c := f.constant()
	width, height := float64(w), float64(h)
	x := func(v float64) float64 { return float64(width*v) / c }
	y := func(v float64) float64 { return float64(height*v) / c }
	return matrix{
			x(m[4] - float64(m[5]*t[1])), x(float64(m[2]*t[1]) - m[1]), x(float64(m[1]*m[5]) - float64(m[2]*m[4])),
			y(float64(m[5]*t[0]) - m[3]), y(m[0] - float64(m[2]*t[0])), y(float64(m[2]*m[3]) - float64(m[0]*m[5])),
		}, tilt{
			(float64(m[3]*t[1]) - float64(m[4]*t[0])) / c, (float64(m[1]*t[0]) - float64(m[0]*t[1])) / c,
		}
}
