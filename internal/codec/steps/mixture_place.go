package steps

import (
	"math"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
)

// Weigh sets the weights in a mosaic of an image of w x h pixels: the share of each image in the
// area that all images cover.
func Weigh(s *Mixture, w, h int) {
	var areas [4]float64
	total := 0.0
	for part := range areas {
		if part > 0 {
			p := &s.Partners[part-1]
			w, h = p.Draw.Size(p.Width, p.Height)
		}
		width, height, x, y := s.location(part, w, h, s.Size, s.Size)
		areas[part] = bitmap.Box{XMin: float64(x), YMin: float64(y), XMax: float64(x + width), YMax: float64(y + height)}.Clip(s.Size, s.Size).Area()
		total += areas[part]
	}
	s.Lambda = 1
	for i := range s.Partners {
		s.Partners[i].Weight = areas[i+1] / total
		s.Lambda -= s.Partners[i].Weight
	}
	s.Lambda = math.Max(s.Lambda, 0)
}
