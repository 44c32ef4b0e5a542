package lower

import (
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/codec/resample"
)

// weigh is ResizeAlong, or ResizePlane, of package resample, to w by h pixels of dst.
func (l *writer) weigh(dst, src raster.View, channels, w, h int, across, down resample.Key, plane bool) {
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
