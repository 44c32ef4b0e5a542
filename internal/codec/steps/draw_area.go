package steps

import "math"

// AreaScale returns the factor by which the steps enlarge areas of an image of w x h pixels. The
// area of an object times this factor is its area in the result, if nothing of it is cut off. For
// [Perspective], which enlarges one side more than another, it is the mean over the image. For a
// [Mixture] it is the factor of the image itself.
func (d Draw) AreaScale(w, h int) float64 {
	d = d.Of(0, w, h)
	scale := 1.0
	for _, s := range d.Steps {
		switch s := s.(type) {
		case ResizedCrop:
			scale *= float64(s.Width) / float64(s.W) * float64(s.Height) / float64(s.H)
		case ResizeTo:
			scale *= float64(s.Width) / float64(w) * float64(s.Height) / float64(h)
		case Affine:
			m := AffineMatrix(s, w, h)
			scale /= math.Abs(float64(m[0]*m[4]) - float64(m[1]*m[3]))
		case Perspective:
			scale *= s.area() / (float64(w) * float64(h))
		}
		w, h = s.size(w, h)
	}
	return scale
}

// area is the area of the quadrilateral that the image becomes.
func (s Perspective) area() float64 {
	double := 0
	for i, a := range s.Corners {
		b := s.Corners[(i+1)%4]
		double += a[0]*b[1] - b[0]*a[1]
	}
	return math.Abs(float64(double)) / 2
}
