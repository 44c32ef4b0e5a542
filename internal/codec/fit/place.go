package fit

import "github.com/tfrec/tfrec/internal/codec/bitmap"

// Box returns where the resize moves a box of the image, in pixels of SourceWidth x SourceHeight,
// and the visible share of its area, as [steps.Draw.Box] does: 1 unless the fit cuts some of it
// away.
func (g Geometry) Box(b bitmap.Box) (bitmap.Box, float64) {
	b = bitmap.MoveBox(bitmap.ScaleBox(b, g.SourceWidth, g.SourceHeight, g.ScaledWidth, g.ScaledHeight), -g.CropX, -g.CropY)
	b, share := bitmap.CutBox(b, g.WindowWidth, g.WindowHeight)
	if share > 0 {
		b = bitmap.MoveBox(b, g.PadX, g.PadY)
	}
	return b, share
}

// Point returns where the resize moves a point of the image, in pixels of SourceWidth x
// SourceHeight, and whether the fit shows it, as [steps.Draw.Point] does.
func (g Geometry) Point(p bitmap.Point) (moved bitmap.Point, shown bool) {
	p = bitmap.BoxPoint(bitmap.MoveBox(bitmap.ScaleBox(bitmap.PointBox(p), g.SourceWidth, g.SourceHeight, g.ScaledWidth, g.ScaledHeight), -g.CropX, -g.CropY))
	if !bitmap.InImage(p, g.WindowWidth, g.WindowHeight) {
		return bitmap.Point{}, false
	}
	return bitmap.BoxPoint(bitmap.MoveBox(bitmap.PointBox(p), g.PadX, g.PadY)), true
}
