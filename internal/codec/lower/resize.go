package lower

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/steps"
)

// passes is the number of stages of a resize.
const passes = 2

// render lowers [fit.ResizeSpec.Render] of the image.
func (l *lowering) render(s *fit.ResizeSpec, g fit.Geometry) error {
	im := bitmap.Image{Width: l.width, Height: l.height}
	if !resample.Valid(s.Filter) || im.Width > bitmap.MaxSourceSide || im.Height > bitmap.MaxSourceSide || fit.CheckGeometry(g) != nil {
		return lacking("a resize that is wrong")
	}
	across, down := resample.Scaling{
		Width: g.ScaledWidth, Height: g.ScaledHeight, X: g.CropX, Y: g.CropY,
		Filter: s.Filter, Antialias: !s.NoAntialias, Whole: fit.WholeOf(g, &im),
	}.Axes(im.Width, im.Height, g.WindowWidth, g.WindowHeight, l.channels)
	padded := g.WindowWidth != g.Width || g.WindowHeight != g.Height
	if !padded && across.Identity() && down.Identity() {
		l.crop(across.Lo, down.Lo, g.WindowWidth, g.WindowHeight)
		return nil
	}
	src := l.read()
	l.begin(g.Width, g.Height, l.channels)
	window := l.view
	if padded {
		color := s.PadColor
		l.paint(l.view, g.Width, g.Height, raster.Fill, recolor.Shade(&color, l.channels), 0)
		l.stage++
		window = window.Move(g.PadX, g.PadY)
	}
	l.weigh(window, src, l.channels, g.WindowWidth, g.WindowHeight, across, down, false)
	l.stage += passes
	l.wrote = -1
	if !padded {
		l.wrote = len(l.p.Ops) - 1
	}
	return nil
}

// resized is a resize of the image, all of it, without a window.
func (l *lowering) resized(w, h int, f resample.Filter, antialias bool) {
	across, down := resample.Scaling{Width: w, Height: h, Filter: f, Antialias: antialias}.Axes(l.width, l.height, w, h, l.channels)
	if across.Identity() && down.Identity() {
		return
	}
	src := l.read()
	l.begin(w, h, l.channels)
	l.weigh(l.view, src, l.channels, w, h, across, down, false)
	l.stage += passes
	l.wrote = len(l.p.Ops) - 1
}

// renderRGB is [fit.ResizeSpec.RenderRGB].
func (l *lowering) renderRGB(s *fit.ResizeSpec, src *bitmap.Planes) error {
	g := s.Geometry(src.Width, src.Height)
	if fit.CheckShape(*s, src, g) != nil {
		return lacking("a resize of planes that is wrong")
	}
	inner := g
	inner.Width, inner.Height, inner.PadX, inner.PadY = g.WindowWidth, g.WindowHeight, 0, 0
	var size bitmap.Planes
	for _, plane := range bitmap.Components(&size) {
		plane.Width, plane.Height = inner.Width, inner.Height
	}
	planes := l.renderPlanes(s, src, inner, &size, jpeg.Sub444)
	l.begin(g.Width, g.Height, 3)
	window := l.view
	if inner.Width != g.Width || inner.Height != g.Height {
		l.paint(l.view, g.Width, g.Height, raster.Fill, s.PadColor[:], 0)
		l.stage++
		window = window.Move(g.PadX, g.PadY)
		l.wrote = -1
	}
	l.convert(window, planes, inner.Width, inner.Height)
	return nil
}

// planesStep is the first step, done to planes.
func (l *lowering) planesStep(step steps.Step, src *bitmap.Planes) error {
	switch s := step.(type) {
	case steps.ResizeTo:
		if steps.Validate(s) != nil {
			return lacking(steps.Op(s))
		}
		return l.planesBox(steps.WholeBox(s, src.Width, src.Height), src)
	case steps.ResizedCrop:
		return l.planesBox(s, src)
	case steps.CropBox:
		return l.planesCrop(s, src)
	}
	return lacking(steps.Op(step))
}

// planesBox is ResizedCrop.applyPlanes.
func (l *lowering) planesBox(s steps.ResizedCrop, src *bitmap.Planes) error {
	if steps.Validate(s) != nil || steps.WithinImage(s, src.Width, src.Height) != nil || src.Width > bitmap.MaxSourceSide || src.Height > bitmap.MaxSourceSide {
		return lacking(steps.Op(s))
	}
	var planes [3]raster.View
	for i, in := range bitmap.Components(src) {
		x, y, across, down := steps.BoxAxes(s, i, src)
		planes[i] = l.work(s.Width, s.Height, 1, 1)
		l.weigh(planes[i], l.send(in, x, y, across.In, down.In), 1, s.Width, s.Height, across, down, true)
	}
	l.stage += passes
	l.begin(s.Width, s.Height, 3)
	l.convert(l.view, planes, s.Width, s.Height)
	return nil
}

// planesCrop is CropBox.applyPlanes.
func (l *lowering) planesCrop(s steps.CropBox, src *bitmap.Planes) error {
	if steps.Validate(s) != nil || src.Denom != 1 {
		return lacking(steps.Op(s))
	}
	left, right := max(s.X, 0), min(s.X+s.W, src.Width)
	top, bottom := max(s.Y, 0), min(s.Y+s.H, src.Height)
	if right-left == s.W && bottom-top == s.H {
		l.convertBox(src, left, top, s.W, s.H)
		return nil
	}
	l.begin(s.W, s.H, 3)
	l.wrote = -1
	l.paint(l.view, s.W, s.H, raster.Fill, s.Fill[:], 0)
	l.stage++
	if left < right && top < bottom {
		l.convertPart(l.view.Move(left-s.X, top-s.Y), src, left, top, right-left, bottom-top)
	}
	return nil
}

// convertBox makes the image a part of one in planes.
func (l *lowering) convertBox(src *bitmap.Planes, x, y, w, h int) {
	l.begin(w, h, 3)
	l.convertPart(l.view, src, x, y, w, h)
}
