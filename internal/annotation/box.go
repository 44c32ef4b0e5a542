package annotation

import (
	"fmt"
	"math"
)

// Check returns an error if a coordinate is not finite or the box has no area.
func (b Box) Check() error {
	for _, v := range [...]float64{b.XMin, b.YMin, b.XMax, b.YMax} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the box has a coordinate of %g: want finite numbers", v)
		}
	}
	if b.XMin >= b.XMax || b.YMin >= b.YMax {
		return fmt.Errorf("the box is empty: x from %g to %g, y from %g to %g", b.XMin, b.XMax, b.YMin, b.YMax)
	}
	return nil
}

// Union returns the smallest box around two.
func (b Box) Union(c Box) Box {
	return Box{min(b.XMin, c.XMin), min(b.YMin, c.YMin), max(b.XMax, c.XMax), max(b.YMax, c.YMax)}
}

// Extent returns the smallest box around points, x and y in turns. It is empty without points.
func Extent(points []float64) Box {
	b := Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for i := 0; i+1 < len(points); i += 2 {
		x, y := points[i], points[i+1]
		b.XMin, b.XMax = min(b.XMin, x), max(b.XMax, x)
		b.YMin, b.YMax = min(b.YMin, y), max(b.YMax, y)
	}
	return b
}
