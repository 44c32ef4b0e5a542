package region

import (
	"errors"
	"math"
)

// Outlines are drawn on a grid of fine x fine points a pixel, where a column of pixels is crossed
// between its third and fourth column of points.
const (
	fine   = 5
	middle = fine / 2
)

// MaxCoordinate bounds the absolute values of coordinates.
const MaxCoordinate = 1 << 28

// plotter draws outlines into dst.
type plotter struct {
	dst    []uint8
	w, h   int
	sx, sy float64 // from the annotation's pixels to pixels of dst
	budget int     // of crossings
	pixels int     // of boxes around polygons that may still be filled
	// The columns and rows that toggles change, without the last of each: each column has an even
	// number of toggles, some of which may be below the image.
	x0, y0, x1, y1 int
}

// outline toggles bit 1 of the first pixel below each crossing of a closed outline with the middle
// of a column of pixels. It gives the same result as the algorithm of COCO's API, which visits all
// points of the grid on the outline, but only visits the points at the crossings.
func (p *plotter) outline(xy []float64) error {
	if len(xy) < 6 || len(xy)%2 != 0 {
		return errors.New("fewer than three points, or one without y")
	}
	fx, fy, err := p.point(xy[len(xy)-2], xy[len(xy)-1])
	if err != nil {
		return err
	}
	for i := 0; i < len(xy); i += 2 {
		x, y, err := p.point(xy[i], xy[i+1])
		if err != nil {
			return err
		}
		p.edge(fx, fy, x, y)
		if p.budget < 0 {
			return errCrossings
		}
		fx, fy = x, y
	}
	return nil
}

// point returns a corner on the fine grid, rounded toward zero like the corners in COCO's API.
func (p *plotter) point(x, y float64) (int, int, error) {
	x, y = x*p.sx, y*p.sy
	if !(math.Abs(x) <= MaxCoordinate && math.Abs(y) <= MaxCoordinate) {
		return 0, 0, errors.New("a coordinate out of range")
	}
	// The conversions keep processors that can from fusing the multiplication and the addition.
	return int(float64(fine*x) + .5), int(float64(fine*y) + .5), nil
}

// edge toggles the crossings of a straight line, whose direction does not matter.
func (p *plotter) edge(xa, ya, xb, yb int) {
	dx, dy := abs(xb-xa), abs(yb-ya)
	steep := dx < dy
	if !steep && xa > xb || steep && ya > yb {
		xa, ya, xb, yb = xb, yb, xa, ya
	}
	// Columns that are crossed: those with points at both sides of their middle.
	left, right := min(xa, xb), max(xa, xb)
	first, last := max(0, (left-middle+fine-1)/fine), min(p.w-1, floorDiv(right-middle-1, fine))
	if first > last {
		return
	}
	p.budget -= last - first + 1
	p.x0, p.x1 = min(p.x0, first), max(p.x1, last+1)
	if !steep {
		s := float64(yb-ya) / float64(dx)
		for x := first; x <= last; x++ {
			t := x*fine + middle - xa
			p.toggle(x, min(along(ya, s, t), along(ya, s, t+1)))
		}
		return
	}
	s := float64(xb-xa) / float64(dy)
	for x := first; x <= last; x++ {
		p.toggle(x, ya+crossing(xa, s, dy, x*fine+middle))
	}
}

// along returns the coordinate of the point at step t of a line that begins at a.
func along(a int, s float64, t int) int { return int(float64(a) + float64(s*float64(t)) + .5) }

// crossing returns the step t of 0 to n-1 at which one of along(a, s, t) and along(a, s, t+1) is at
// most at and the other beyond it. Along is monotonic in t, so it is found from an estimate.
func crossing(a int, s float64, n, at int) int {
	t := min(max(int((float64(at)+.5-float64(a))/s), 0), n-1)
	if s > 0 {
		for t > 0 && along(a, s, t) > at {
			t--
		}
		for t < n-1 && along(a, s, t+1) <= at {
			t++
		}
		return t
	}
	for t > 0 && along(a, s, t) <= at {
		t--
	}
	for t < n-1 && along(a, s, t+1) > at {
		t++
	}
	return t
}

// toggle toggles the pixels of a column from the first one on that is below the point y.
func (p *plotter) toggle(x, y int) {
	row := max(y+middle, 0) / fine
	p.y1 = max(p.y1, min(row+1, p.h))
	if row < p.h {
		p.y0 = min(p.y0, row)
		p.dst[row*p.w+x] ^= 2
	}
}

func abs(v int) int { return max(v, -v) }

// floorDiv is a/b for b > 0, rounded down.
func floorDiv(a, b int) int {
	if a < 0 {
		a -= b - 1
	}
	return a / b
}
