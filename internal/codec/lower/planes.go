package lower

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/render"
)

// toPlanes is [fit.ResizeSpec.RenderPlanes].
func (l *writer) toPlanes(t *render.Task, planes *bitmap.Planes) error {
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

// convert writes pixels of planes of the same size.
func (l *writer) convert(dst raster.View, planes [3]raster.View, w, h int) {
	o := raster.Op{Kind: raster.Convert, Src: planes, Dst: dst, Width: int32(w), Height: int32(h), Channels: 3}
	o.Arg = [13]int64{1, 1, 0, 0, 0, int64(w), int64(h), 0, 0}
	l.append(o, 0)
	l.stage++
}

// renderPlanes is ResizeSpec.renderPlanes: the planes of a size that is set in
// dst.
func (l *writer) renderPlanes(s *fit.ResizeSpec, src *bitmap.Planes, g fit.Geometry, dst *bitmap.Planes, to jpeg.Subsampling) (views [3]raster.View) {
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
func (l *writer) renderPlane(s *fit.ResizeSpec, width, height int, src *bitmap.Image, across, down fit.PlaneAxis, color uint8) raster.View {
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

// convertPart converts a part of an image in planes, as jpeg.Planar.RGBOf does. It also sends the
// chroma around the part, for the interpolation.
func (l *writer) convertPart(dst raster.View, src *bitmap.Planes, x, y, w, h int) {
	sub, _ := bitmap.SamplingOf(src)
	fx, fy := sub.Factors()
	cw, ch := src.Cb.Width, src.Cb.Height
	cx, cy := max(x/fx-1, 0), max(y/fy-1, 0)
	endX, endY := min((x+w-1)/fx+2, cw), min((y+h-1)/fy+2, ch)
	smooth := int64(0)
	if fx == 1 && fy == 2 || fx == 2 && cw > 2 {
		smooth = 1
	}
	o := raster.Op{Kind: raster.Convert, Dst: dst, Width: int32(w), Height: int32(h), Channels: 3}
	o.Src[0] = l.send(&src.Y, x, y, w, h)
	o.Src[1] = l.send(&src.Cb, cx, cy, endX-cx, endY-cy)
	o.Src[2] = l.send(&src.Cr, cx, cy, endX-cx, endY-cy)
	o.Arg = [13]int64{int64(fx), int64(fy), smooth, int64(x), int64(y), int64(cw), int64(ch), int64(cx), int64(cy)}
	l.append(o, 0)
	l.stage++
}
