package lower

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/render"
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

// weigh is resizeAlong, or resizePlane, to w by h pixels of dst.
func (l *lowering) weigh(dst, src raster.View, channels, w, h int, across, down resample.Key, plane bool) {
	emit := func(o raster.Op, width, height, after int) {
		o.Width, o.Height, o.Channels = int32(width), int32(height), int32(channels)
		l.append(o, int32(after))
	}
	along := func(dst, src raster.View, a *resample.Axis, origin, precision int64) raster.Op {
		o := raster.Op{Kind: raster.Weigh, Dst: dst, Src: [3]raster.View{src}}
		o.Table[0] = l.p.Table(tapsTable{a})
		o.Arg = [13]int64{int64(len(a.First)), 0, origin, precision}
		return o
	}
	up := func(dst, src raster.View, a *resample.Axis, origin, precision int64) raster.Op {
		o := along(dst, src, a, origin, precision)
		o.Arg[1] = 1
		return o
	}
	switch {
	case across.Identity() && down.Identity():
		emit(raster.Op{Kind: raster.Pick, Dst: dst, Src: [3]raster.View{src.Move(across.Lo, down.Lo)}}, w, h, 0)
	case across.Filter == resample.Nearest:
		o := raster.Op{Kind: raster.Pick, Dst: dst, Src: [3]raster.View{src}}
		o.Table[0] = l.p.Table(nearestTable{across.Lo, w, across.In, across.Out})
		o.Table[1] = l.p.Table(nearestTable{down.Lo, h, down.In, down.Out})
		emit(o, w, h, 0)
	case across.Identity():
		emit(up(dst, src.Move(across.Lo, 0), resample.Axes.Get(down), 0, raster.Bytes), w*channels, h, 0)
	case down.Identity():
		emit(along(dst, src.Move(0, down.Lo), resample.Axes.Get(across), 0, raster.Bytes), w*channels, h, 0)
	case plane && across.Antialias && down.In > h || !across.Wide() && resample.DownFirst(across, down):
		a, d := resample.Axes.Get(across), resample.Axes.Get(down)
		from, end := a.Span(0, w)
		between := l.work(end-from, h, channels, 1)
		emit(up(between, src.Move(from, 0), d, 0, raster.Bytes), (end-from)*channels, h, 0)
		emit(along(dst, between, a, int64(from), raster.Bytes), w*channels, h, 1)
	default:
		a, d := resample.Axes.Get(across), resample.Axes.Get(down)
		from, end := d.Span(0, h)
		first, then, bytes := raster.Bytes, raster.Bytes, 1
		if across.Wide() {
			first, then, bytes = raster.ToWide, raster.FromWide, 2
		}
		between := l.work(w, end-from, channels, bytes)
		emit(along(between, src.Move(0, from), a, 0, int64(first)), w*channels, end-from, 0)
		emit(up(dst, between, d, int64(from), int64(then)), w*channels, h, 1)
	}
}

// toPlanes is [fit.ResizeSpec.RenderPlanes].
func (l *lowering) toPlanes(t *render.Task, planes *bitmap.Planes) error {
	g := t.Resize.Geometry(planes.Width, planes.Height)
	to, err := bitmap.ParseSampling(t.Subsampling)
	if err != nil || fit.CheckShape(*t.Resize, planes, g) != nil {
		return lacking("a resize of planes that is wrong")
	}
	bitmap.ResetPlanes(&t.YCbCr, g.Width, g.Height, to)
	t.ResultWidth, t.ResultHeight, t.Channels = g.Width, g.Height, 3
	views := l.renderPlanes(t.Resize, planes, g, &t.YCbCr, to)
	for i, out := range bitmap.Components(&t.YCbCr) {
		l.result(views[i], out.Pix, out.Width, out.Height)
	}
	return nil
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

// convert writes pixels of planes of the same size.
func (l *lowering) convert(dst raster.View, planes [3]raster.View, w, h int) {
	o := raster.Op{Kind: raster.Convert, Src: planes, Dst: dst, Width: int32(w), Height: int32(h)}
	o.Arg = [13]int64{1, 1, 0, 0, 0, int64(w), int64(h), 0, 0}
	l.append(o, 0)
	l.stage++
}

// renderPlanes is ResizeSpec.renderPlanes: the planes of a size that is set in
// dst.
func (l *lowering) renderPlanes(s *fit.ResizeSpec, src *bitmap.Planes, g fit.Geometry, dst *bitmap.Planes, to jpeg.Subsampling) (views [3]raster.View) {
	color := recolor.PlanesColor(s.PadColor)
	in := bitmap.Components(src)
	for i, out := range bitmap.Components(dst) {
		across, down := fit.PlaneAxes(i, src, g, to)
		views[i] = l.renderPlane(s, out.Width, out.Height, in[i], across, down, color[i])
	}
	l.stage += 1 + passes + 4
	return views
}

// renderPlane is ResizeSpec.renderPlane: padding is painted in the first stage, the
// window resized in the next ones, and then mixed with the padding at its
// edges, one after the other.
func (l *lowering) renderPlane(s *fit.ResizeSpec, width, height int, src *bitmap.Image, across, down fit.PlaneAxis, color uint8) raster.View {
	dst := l.work(width, height, 1, 1)
	x, w := across.Span()
	y, h := down.Span()
	if w != width || h != height {
		l.paint(dst, width, height, raster.Fill, []uint8{color}, 0)
	}
	window := dst.Move(x, y)
	l.stage++
	l.weigh(window, l.send(src, 0, 0, src.Width, src.Height), 1, w, h, across.Key(*s, 1), down.Key(*s, 0), true)
	l.stage--
	left, right := across.Halves()
	top, bottom := down.Halves()
	for i, edge := range []struct {
		is         bool
		x, y, w, h int
	}{{left, 0, 0, 1, h}, {right, w - 1, 0, 1, h}, {top, 0, 0, w, 1}, {bottom, 0, h - 1, w, 1}} {
		if edge.is {
			l.paint(window.Move(edge.x, edge.y), edge.w, edge.h, raster.Mean, []uint8{color}, int32(1+passes+i))
		}
	}
	return dst
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

// convertPart converts a part of an image in planes, as jpeg.Planar.RGBOf does. It also sends the
// chroma around the part, for the interpolation.
func (l *lowering) convertPart(dst raster.View, src *bitmap.Planes, x, y, w, h int) {
	sub, _ := bitmap.SamplingOf(src)
	fx, fy := sub.Factors()
	cw, ch := src.Cb.Width, src.Cb.Height
	cx, cy := max(x/fx-1, 0), max(y/fy-1, 0)
	endX, endY := min((x+w-1)/fx+2, cw), min((y+h-1)/fy+2, ch)
	smooth := int64(0)
	if fx == 1 && fy == 2 || fx == 2 && cw > 2 {
		smooth = 1
	}
	o := raster.Op{Kind: raster.Convert, Dst: dst, Width: int32(w), Height: int32(h)}
	o.Src[0] = l.send(&src.Y, x, y, w, h)
	o.Src[1] = l.send(&src.Cb, cx, cy, endX-cx, endY-cy)
	o.Src[2] = l.send(&src.Cr, cx, cy, endX-cx, endY-cy)
	o.Arg = [13]int64{int64(fx), int64(fy), smooth, int64(x), int64(y), int64(cw), int64(ch), int64(cx), int64(cy)}
	l.append(o, 0)
	l.stage++
}
