package lower

import (
	"math"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/raster"
	"github.com/tfrec/tfrec/internal/codec/recolor"
)

// writer is a program while it is written. Its methods add buffers, tables and operations; which
// image they make is the business of [lowering].
type writer struct {
	p     *raster.Program
	stage int32
	// decoded are the planes that the processor decodes, and their addresses.
	decoded [3]struct {
		plane *bitmap.Image
		at    raster.Address
	}
	// huge reports whether the rows, or their number, exceed the limits of operations.
	huge bool
}

// result makes the buffer that a view is all of one that is fetched.
func (l *writer) result(v raster.View, to []byte, row, rows int) {
	_, i, _ := v.At.Split()
	b := &l.p.Buffers[i]
	b.Region, b.Pix, b.Row, b.Rows, b.Stride = raster.Result, to, row, rows, row
}

// send copies a part of an image to the processor, unless it has it.
func (l *writer) send(im *bitmap.Image, x, y, w, h int) raster.View {
	for _, d := range l.decoded {
		if d.plane == im {
			return raster.View{At: d.at, Stride: int32(im.Stride), Step: 1}.Move(x, y)
		}
	}
	n := w * im.Channels
	l.huge = l.huge || max(n, h) > math.MaxInt32
	at := l.p.Add(raster.Buffer{
		Region: raster.Input, Size: int64(n) * int64(h),
		Pix: im.Pix[y*im.Stride+x*im.Channels:], Row: n, Rows: h, Stride: im.Stride,
	})
	return raster.View{At: at, Stride: int32(n), Step: int32(im.Channels)}
}

// work is a new buffer for w by h pixels, bytes a sample.
func (l *writer) work(w, h, channels, bytes int) raster.View {
	step := channels * bytes
	l.huge = l.huge || max(w*step, h) > math.MaxInt32
	at := l.p.Add(raster.Buffer{Size: int64(w) * int64(h) * int64(step)})
	return raster.View{At: at, Stride: int32(w * step), Step: int32(step)}
}

// append appends an operation to a later stage, after stages after the current one.
func (l *writer) append(o raster.Op, after int32) {
	l.p.Ops = append(l.p.Ops, o)
	l.p.Stages = append(l.p.Stages, l.stage+after)
}

// paint colours a part of the image.
func (l *writer) paint(v raster.View, w, h int, mode int64, color []uint8, after int32) {
	o := raster.Op{Kind: raster.Paint, Dst: v, Width: int32(w), Height: int32(h), Channels: int32(len(color))}
	o.Arg[0] = mode
	for c, v := range color {
		o.Arg[1+c] = int64(v)
	}
	l.append(o, after)
}

// decode adds a JPEG to the program for the processor to decode, and returns its planes, as
// Coded does.
func (l *writer) decode(data []byte, shape *bitmap.Planes) *bitmap.Planes {
	coded := &l.p.Coded
	coded.Data = data
	for i, plane := range bitmap.Components(shape) {
		if plane.Width == 0 {
			break
		}
		at := l.p.Add(raster.Buffer{Region: raster.Decoded, Size: int64(plane.Width) * int64(plane.Height)})
		_, buffer, _ := at.Split()
		coded.Planes = append(coded.Planes, raster.CodedPlane{Buffer: buffer, Width: plane.Width, Height: plane.Height})
		l.decoded[i].plane, l.decoded[i].at = plane, at
	}
	return shape
}

// lookUp is the table of a part, and whether it has one for each channel. There
// may be none.
func (l *writer) lookUp(p *recolor.Part, channels int) (at raster.Address, each bool) {
	switch {
	case !p.LookUp:
		return 0, false
	case p.Same || channels == 1:
		return l.p.Table(levelsTable{p.Tables[0]}), false
	}
	return l.p.Table(channelsTable{p.Tables}), true
}
