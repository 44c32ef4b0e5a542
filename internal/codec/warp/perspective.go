package warp

// Tilt extends an affine map to a perspective: both coordinates are divided by tilt[0]*x +
// tilt[1]*y + 1.
type Tilt [2]float64

// At returns the divisor at a place.
func (t *Tilt) At(x, y float64) float64 { return float64(t[0]*x) + float64(t[1]*y) + 1 }

// Unit maps the square from 0, 0 to 1, 1 to a quadrilateral.
type Unit struct {
	Matrix Matrix
	Tilt   Tilt
}

// Forward maps the image, as a square of side 1, to the corners (Heckbert: Fundamentals of Texture
// Mapping and Image Warping, 1989, 2.2.3).
func Forward(corners [4][2]int) Unit {
	var x, y [4]float64
	for i, p := range corners {
		x[i], y[i] = float64(p[0]), float64(p[1])
	}
	x1, y1, x2, y2 := x[1]-x[2], y[1]-y[2], x[3]-x[2], y[3]-y[2]
	sumX, sumY := x[0]-x[1]+x[2]-x[3], y[0]-y[1]+y[2]-y[3]
	det := float64(x1*y2) - float64(x2*y1)
	g := (float64(sumX*y2) - float64(x2*sumY)) / det
	h := (float64(x1*sumY) - float64(sumX*y1)) / det
	return Unit{
		Matrix{
			x[1] - x[0] + float64(g*x[1]), x[3] - x[0] + float64(h*x[3]), x[0],
			y[1] - y[0] + float64(g*y[1]), y[3] - y[0] + float64(h*y[3]), y[0],
		},
		Tilt{g, h},
	}
}

// Constant returns the divisor of the inverse, with which its tilt ends with 1.
func (f *Unit) Constant() float64 {
	m := &f.Matrix
	return float64(m[0]*m[4]) - float64(m[1]*m[3])
}

// Inverse maps the corners back to an image of w x h pixels.
func (f Unit) Inverse(w, h int) (Matrix, Tilt) {
	m, t := &f.Matrix, &f.Tilt
	c := f.Constant()
	width, height := float64(w), float64(h)
	x := func(v float64) float64 { return float64(width*v) / c }
	y := func(v float64) float64 { return float64(height*v) / c }
	return Matrix{
			x(m[4] - float64(m[5]*t[1])), x(float64(m[2]*t[1]) - m[1]), x(float64(m[1]*m[5]) - float64(m[2]*m[4])),
			y(float64(m[5]*t[0]) - m[3]), y(m[0] - float64(m[2]*t[0])), y(float64(m[2]*m[3]) - float64(m[0]*m[5])),
		}, Tilt{
			(float64(m[3]*t[1]) - float64(m[4]*t[0])) / c, (float64(m[1]*t[0]) - float64(m[0]*t[1])) / c,
		}
}
