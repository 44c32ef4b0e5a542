package resample

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
)

// Memory is the memory of resizes, reused. Its zero value is ready.
type Memory struct {
	Rows []uint8 // a band of rows resized horizontally
	Wide []int16 // the same where bytes would clip what overshoots
	at   []int32 // where in a row of the source each pixel is taken from
}

// Size returns the number of bytes that it keeps.
func (m *Memory) Size() int { return cap(m.Rows) + 2*cap(m.Wide) + 4*cap(m.at) }

// CheckTarget returns an error for invalid sizes of the result.
func CheckTarget(w, h int) error {
	switch {
	case w < 1 || h < 1:
		return fmt.Errorf("resize to %dx%d: each side must be at least 1 pixel", w, h)
	case w > bitmap.MaxSide || h > bitmap.MaxSide:
		return fmt.Errorf("resize to %dx%d: no side may be over %d pixels", w, h, bitmap.MaxSide)
	case int64(w)*int64(h) > bitmap.MaxPixels:
		return fmt.Errorf("resize to %dx%d: over %d pixels in all", w, h, bitmap.MaxPixels)
	}
	return nil
}

// CheckResize returns an error for invalid sources and unknown filters.
func CheckResize(dst, src *bitmap.Image, f Filter) error {
	if !Valid(f) {
		return fmt.Errorf("resize: unknown filter %v", f)
	}
	if dst == src {
		return errors.New("resize: the result must not be the source itself")
	}
	if err := bitmap.CheckImage(src); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	if src.Width > bitmap.MaxSourceSide || src.Height > bitmap.MaxSourceSide {
		return fmt.Errorf("resize of %dx%d: no side of the source may be over %d pixels", src.Width, src.Height, bitmap.MaxSourceSide)
	}
	return nil
}

// Scaling is the resize of a whole image to width by height, of which only
// the window that begins at x, y and is as large as the result is computed.
type Scaling struct {
	Width, Height int
	X, Y          int
	Filter        Filter
	Antialias     bool
	Whole         Whole
}

// Whole is the size in pixels of the image that the source was decoded from at 1/denom. Its
// zero value is the source itself.
type Whole struct{ Width, Height, Denom int }

// Resize computes the pixels of dst, whose size is set.
func (m *Memory) Resize(dst, src *bitmap.Image, to Scaling) {
	across, down := to.Axes(src.Width, src.Height, dst.Width, dst.Height, src.Channels)
	m.ResizeAlong(dst, src, across, down)
}

// Axes returns the keys of the weights for a source of the given size and a window of w by h
// pixels.
func (to Scaling) Axes(width, height, w, h, channels int) (across, down Key) {
	across = Key{In: width, Out: to.Width, Lo: to.X, Hi: to.X + w, Filter: to.Filter, Antialias: to.Antialias, Channels: channels}
	down = Key{In: height, Out: to.Height, Lo: to.Y, Hi: to.Y + h, Filter: to.Filter, Antialias: to.Antialias}
	if to.Whole.Denom > 1 {
		across.reduced(to.Whole.Width, to.Whole.Denom)
		down.reduced(to.Whole.Height, to.Whole.Denom)
	}
	return across, down
}

// ResizeAlong computes the pixels of dst, which has the size of the windows of the two axes.
func (m *Memory) ResizeAlong(dst, src *bitmap.Image, across, down Key) {
	switch {
	case across.Identity() && down.Identity():
		for y := range dst.Height {
			copy(dst.Row(y), src.Row(down.Lo + y)[across.Lo*src.Channels:])
		}
	case across.Filter == Nearest:
		m.nearest(dst, src, across, down)
	case across.Identity():
		a := Axes.Get(down)
		for y := range dst.Height {
			first := int(a.First[y])
			a.weighRows(dst.Row(y), src.Pix[first*src.Stride+across.Lo*src.Channels:], src.Stride, y)
		}
	case down.Identity():
		Axes.Get(across).weighColumns(dst.Pix, dst.Stride, src, down.Lo, dst.Height)
	case across.Wide():
		m.wideBoth(dst, src, Axes.Get(across), Axes.Get(down))
	case DownFirst(across, down):
		m.bothDownFirst(dst, src, Axes.Get(across), Axes.Get(down))
	default:
		m.both(dst, src, Axes.Get(across), Axes.Get(down))
	}
}

// both resizes horizontally into a band of rows, and that vertically.
func (m *Memory) both(dst, src *bitmap.Image, across, down *Axis) {
	length := dst.Width * dst.Channels
	b := band[uint8]{rows: m.Rows, length: length}
	b.reserve(down)
	m.Rows = b.rows
	for y := range dst.Height {
		first := int(down.First[y])
		if at, n := b.missing(first, int(down.Count[y])); n > 0 {
			across.weighColumns(b.room(n), length, src, at, n)
		}
		down.weighRows(dst.Row(y), b.from(first), length, y)
	}
}

// DownFirst reports whether the vertical pass comes first. It follows the rule of Pillow from
// version 13 on: the height loses more than twice as many pixels as the width. The rule is for
// speed, but the order of the passes affects the rounding.
func DownFirst(across, down Key) bool {
	lost := down.In - down.Out/down.placed().Step
	return lost > 0 && lost > 2*(across.In-across.Out/across.placed().Step)
}

// bothDownFirst resizes vertically a few rows at a time, and these horizontally.
func (m *Memory) bothDownFirst(dst, src *bitmap.Image, across, down *Axis) {
	from, end := across.Span(0, dst.Width)
	from, end = from*src.Channels, end*src.Channels
	rows := bitmap.Image{Width: src.Width, Height: min(bandExtra, dst.Height), Channels: src.Channels, Stride: src.Width * src.Channels}
	n := rows.Height * rows.Stride
	m.Rows = slices.Grow(m.Rows[:0], n+readBeyond)[:n+readBeyond]
	rows.Pix = m.Rows
	for y := 0; y < dst.Height; y += rows.Height {
		n := min(rows.Height, dst.Height-y)
		for i := range n {
			first := int(down.First[y+i])
			down.weighRows(rows.Row(i)[from:end], src.Pix[first*src.Stride+from:], src.Stride, y+i)
		}
		across.weighColumns(dst.Pix[y*dst.Stride:], dst.Stride, &rows, 0, n)
	}
}

// nearest copies one pixel of the source for each of the result.
func (m *Memory) nearest(dst, src *bitmap.Image, across, down Key) {
	m.at = slices.Grow(m.at[:0], dst.Width)[:dst.Width]
	at := m.at
	for x := range at {
		at[x] = int32(NearestSource(across.Lo+x, across.In, across.Out) * src.Channels)
	}
	last := -1
	for y := range dst.Height {
		from := NearestSource(down.Lo+y, down.In, down.Out)
		row := dst.Row(y)
		if from == last {
			copy(row, dst.Row(y-1))
			continue
		}
		last = from
		in := src.Row(from)
		if src.Channels == 1 {
			for x, i := range at {
				row[x] = in[i]
			}
			continue
		}
		for _, i := range at {
			p := in[i : i+3]
			row[0], row[1], row[2] = p[0], p[1], p[2]
			row = row[3:]
		}
	}
}

// ResizePlane is ResizeAlong with the order of the passes that is fastest for one channel: whole
// rows are weighed four times as fast as the samples of a row, so that what makes fewer rows
// comes first.
func (m *Memory) ResizePlane(dst, src *bitmap.Image, across, down Key) {
	if across.Antialias && down.In > dst.Height && !down.Identity() && !across.Identity() {
		m.bothDownFirst(dst, src, Axes.Get(across), Axes.Get(down))
		return
	}
	m.ResizeAlong(dst, src, across, down)
}
