package augment

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Limits on what images are resized to.
const (
	// MaxSide is the longest side of a resized image, in pixels.
	MaxSide = 65535
	// maxPixels is the maximum number of pixels of a resized image, equal to the default of
	// [Codec].
	maxPixels = 178956970
	// MaxSourceSide is the longest side of an image that is decoded or resized, in pixels.
	MaxSourceSide = 1 << 20
	// maxScaled bounds the sides of the resized image that a window is
	// cut from, which is never in memory.
	maxScaled = 1<<31 - 1
)

// Scratch is memory for work on images, to be reused from image to image. Its zero value is ready.
// It is not safe for concurrent use.
type Scratch struct {
	// Codec is the codec of [JPEGArtefacts]; no other step needs one. Pixels depend on it.
	Codec *Codec

	memory memory
}

// memory is what a [Scratch] keeps from image to image.
type memory struct {
	resizing resizeMemory
	planes   Planes // resized, before they are converted
	drawn    Image  // the result of a draw, before the resize
	steps    stepScratch
}

// memoryOf returns the memory of a scratch.
func memoryOf(s *Scratch) *memory { return &s.memory }

// size returns the number of bytes that it keeps.
func (m *memory) size() int {
	size := m.resizing.size() + cap(m.drawn.Pix) + m.steps.size()
	for _, im := range m.planes.images() {
		size += cap(im.Pix)
	}
	return size
}

// resizeMemory is the memory of resizes, reused. Its zero value is ready.
type resizeMemory struct {
	rows []uint8 // a band of rows resized horizontally
	wide []int16 // the same where bytes would clip what overshoots
	at   []int32 // where in a row of the source each pixel is taken from
}

// size returns the number of bytes that it keeps.
func (m *resizeMemory) size() int { return cap(m.rows) + 2*cap(m.wide) + 4*cap(m.at) }

// Trim frees the memory that is kept from image to image if it is more than 64 MiB. Call it after
// an image that may have been large.
func (s *Scratch) Trim() {
	if s.memory.size() > keptBytes {
		*s = Scratch{Codec: s.Codec}
	}
}

var scratches = sync.Pool{New: func() any { return new(Scratch) }}

// Resize sets dst to the image src resized to w by h pixels. dst gets src's channels and reuses its
// memory; it must not share memory with src. Pixel centres are at halves, as in Pillow, TensorFlow
// 2 and torchvision.
//
// With antialias, Bilinear, Bicubic and Lanczos3 give the bytes of Pillow 13's Image.resize, which
// rounds and clips to bytes between its two passes. Without it they follow tf.image.resize: to make
// an image smaller, they use a few pixels around each position and skip the others. Area and
// Nearest follow tf.image.resize, and antialias changes nothing for them. Compared with
// TensorFlow's floats, rounded and clipped to bytes, Nearest is equal and all others are within one
// level. TensorFlow's own antialias differs from Pillow's by the rounding and clipping in between:
// by one level for Bilinear, and where the result overshoots between very unlike neighbours, in
// less than a twentieth of the samples of noise, by up to 24 levels for Bicubic and 40 for
// Lanczos3.
//
// Sides of the result may be 1 to [MaxSide] pixels long, with 178,956,970 pixels in all. Sides of
// the source may be up to 1,048,576 pixels long.
//
// The arithmetic is in integers, with the same weights on every architecture, so the bytes are the
// same as well.
func Resize(dst, src *Image, w, h int, f Filter, antialias bool) error {
	if err := checkTarget(w, h); err != nil {
		return err
	}
	if err := checkResize(dst, src, f); err != nil {
		return err
	}
	scratch, free := ownScratch()
	defer free()
	dst.Reset(w, h, src.Channels)
	memoryOf(scratch).resizing.resize(dst, src, scaling{width: w, height: h, filter: f, antialias: antialias})
	return nil
}

// checkTarget returns an error for invalid sizes of the result.
func checkTarget(w, h int) error {
	switch {
	case w < 1 || h < 1:
		return fmt.Errorf("resize to %dx%d: each side must be at least 1 pixel", w, h)
	case w > MaxSide || h > MaxSide:
		return fmt.Errorf("resize to %dx%d: no side may be over %d pixels", w, h, MaxSide)
	case int64(w)*int64(h) > maxPixels:
		return fmt.Errorf("resize to %dx%d: over %d pixels in all", w, h, maxPixels)
	}
	return nil
}

// checkResize returns an error for invalid sources and unknown filters.
func checkResize(dst, src *Image, f Filter) error {
	if !f.valid() {
		return fmt.Errorf("resize: unknown filter %v", f)
	}
	if dst == src {
		return errors.New("resize: the result must not be the source itself")
	}
	if err := src.check(); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	if src.Width > MaxSourceSide || src.Height > MaxSourceSide {
		return fmt.Errorf("resize of %dx%d: no side of the source may be over %d pixels", src.Width, src.Height, MaxSourceSide)
	}
	return nil
}

// check returns an error if the fields of the image don't fit together.
func (im *Image) check() error {
	switch {
	case im.Channels != 1 && im.Channels != 3:
		return fmt.Errorf("image of %d channels: want 1 or 3", im.Channels)
	case im.Width < 1 || im.Height < 1:
		return fmt.Errorf("image of %dx%d pixels", im.Width, im.Height)
	case im.Stride/im.Channels < im.Width:
		return fmt.Errorf("image %d pixels wide with a stride of %d bytes", im.Width, im.Stride)
	case len(im.Pix) < im.Width*im.Channels || (len(im.Pix)-im.Width*im.Channels)/im.Stride < im.Height-1:
		return fmt.Errorf("image of %dx%d pixels with %d bytes", im.Width, im.Height, len(im.Pix))
	}
	return nil
}

// scaling is the resize of a whole image to width by height, of which only
// the window that begins at x, y and is as large as the result is computed.
type scaling struct {
	width, height int
	x, y          int
	filter        Filter
	antialias     bool
	whole         wholeImage
}

// wholeImage is the size in pixels of the image that the source was decoded from at 1/denom. Its
// zero value is the source itself.
type wholeImage struct{ width, height, denom int }

// resize computes the pixels of dst, whose size is set.
func (m *resizeMemory) resize(dst, src *Image, to scaling) {
	across, down := to.axes(src.Width, src.Height, dst.Width, dst.Height, src.Channels)
	m.resizeAlong(dst, src, across, down)
}

// axes returns the keys of the weights for a source of the given size and a window of w by h
// pixels.
func (to scaling) axes(width, height, w, h, channels int) (across, down axisKey) {
	across = axisKey{in: width, out: to.width, lo: to.x, hi: to.x + w, filter: to.filter, antialias: to.antialias, channels: channels}
	down = axisKey{in: height, out: to.height, lo: to.y, hi: to.y + h, filter: to.filter, antialias: to.antialias}
	if to.whole.denom > 1 {
		across.reduced(to.whole.width, to.whole.denom)
		down.reduced(to.whole.height, to.whole.denom)
	}
	return across, down
}

// resizeAlong computes the pixels of dst, which has the size of the windows of the two axes.
func (m *resizeMemory) resizeAlong(dst, src *Image, across, down axisKey) {
	switch {
	case across.identity() && down.identity():
		for y := range dst.Height {
			copy(dst.Row(y), src.Row(down.lo + y)[across.lo*src.Channels:])
		}
	case across.filter == Nearest:
		m.nearest(dst, src, across, down)
	case across.identity():
		a := axes.get(down)
		for y := range dst.Height {
			first := int(a.first[y])
			a.weighRows(dst.Row(y), src.Pix[first*src.Stride+across.lo*src.Channels:], src.Stride, y)
		}
	case down.identity():
		axes.get(across).weighColumns(dst.Pix, dst.Stride, src, down.lo, dst.Height)
	case across.wide():
		m.wideBoth(dst, src, axes.get(across), axes.get(down))
	case downFirst(across, down):
		m.bothDownFirst(dst, src, axes.get(across), axes.get(down))
	default:
		m.both(dst, src, axes.get(across), axes.get(down))
	}
}

// both resizes horizontally into a band of rows, and that vertically.
func (m *resizeMemory) both(dst, src *Image, across, down *axis) {
	length := dst.Width * dst.Channels
	b := band[uint8]{rows: m.rows, length: length}
	b.reserve(down)
	m.rows = b.rows
	for y := range dst.Height {
		first := int(down.first[y])
		if at, n := b.missing(first, int(down.count[y])); n > 0 {
			across.weighColumns(b.room(n), length, src, at, n)
		}
		down.weighRows(dst.Row(y), b.from(first), length, y)
	}
}

// downFirst reports whether the vertical pass comes first. It follows the rule of Pillow from
// version 13 on: the height loses more than twice as many pixels as the width. The rule is for
// speed, but the order of the passes affects the rounding.
func downFirst(across, down axisKey) bool {
	lost := down.in - down.out/down.placed().step
	return lost > 0 && lost > 2*(across.in-across.out/across.placed().step)
}

// bothDownFirst resizes vertically a few rows at a time, and these horizontally.
func (m *resizeMemory) bothDownFirst(dst, src *Image, across, down *axis) {
	from, end := across.span(0, dst.Width)
	from, end = from*src.Channels, end*src.Channels
	rows := Image{Width: src.Width, Height: min(bandExtra, dst.Height), Channels: src.Channels, Stride: src.Width * src.Channels}
	n := rows.Height * rows.Stride
	m.rows = slices.Grow(m.rows[:0], n+readBeyond)[:n+readBeyond]
	rows.Pix = m.rows
	for y := 0; y < dst.Height; y += rows.Height {
		n := min(rows.Height, dst.Height-y)
		for i := range n {
			first := int(down.first[y+i])
			down.weighRows(rows.Row(i)[from:end], src.Pix[first*src.Stride+from:], src.Stride, y+i)
		}
		across.weighColumns(dst.Pix[y*dst.Stride:], dst.Stride, &rows, 0, n)
	}
}

// nearest copies one pixel of the source for each of the result.
func (m *resizeMemory) nearest(dst, src *Image, across, down axisKey) {
	m.at = slices.Grow(m.at[:0], dst.Width)[:dst.Width]
	at := m.at
	for x := range at {
		at[x] = int32(nearestSource(across.lo+x, across.in, across.out) * src.Channels)
	}
	last := -1
	for y := range dst.Height {
		from := nearestSource(down.lo+y, down.in, down.out)
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
