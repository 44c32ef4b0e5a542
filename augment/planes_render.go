package augment

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/jpeg"
)

// TakesPlanes reports whether [ResizeSpec.RenderPlanes] supports the spec: not for Nearest, which
// picks pixels and must not pick luma and chroma of different ones.
func (s ResizeSpec) TakesPlanes() bool { return s.Filter != Nearest }

// RenderPlanes is [ResizeSpec.Render] for planes. The luma is resized as a gray image is, except
// for the rounding between the two passes, whose order may differ. The chroma is resized directly
// from the sample grid of src to the grid of subsampling in dst: each sample is the mean of the
// pixels that it represents, as if these had been computed. So sample centres are where JPEG has
// them, even if a crop begins between the pixels of a sample, and padding contributes to the
// samples at its border.
//
// g must be [ResizeSpec.Geometry] of src.Width and src.Height. dst reuses its memory and must not
// share it with src; scratch may be nil.
func (s ResizeSpec) RenderPlanes(dst, src *Planes, g Geometry, subsampling string, scratch *Scratch) error {
	if dst == src {
		return errors.New("resize: the result must not be the source itself")
	}
	if err := s.checkPlanes(src, g); err != nil {
		return err
	}
	to, err := parseSampling(subsampling)
	if err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	scratch, free := scratch.orOwn()
	defer free()
	s.renderPlanes(dst, src, g, to, scratch)
	return nil
}

// RenderRGB resizes src into dst, in RGB: all three planes are resized to the size of the window,
// as [ResizeSpec.RenderPlanes] does for subsampling "444", and only then converted. Padding has
// exactly its colour. dst reuses its memory; scratch may be nil.
func (s ResizeSpec) RenderRGB(dst *Image, src *Planes, g Geometry, scratch *Scratch) error {
	if err := s.checkPlanes(src, g); err != nil {
		return err
	}
	scratch, free := scratch.orOwn()
	defer free()
	dst.Reset(g.Width, g.Height, 3)
	window := dst.Pix
	if g.WindowWidth != g.Width || g.WindowHeight != g.Height {
		s.pad(dst)
		window = dst.Pix[g.PadY*dst.Stride+3*g.PadX:]
		g.Width, g.Height, g.PadX, g.PadY = g.WindowWidth, g.WindowHeight, 0, 0
	}
	planes := &memoryOf(scratch).planes
	s.renderPlanes(planes, src, g, jpeg.Sub444, scratch)
	planar := planes.planar(jpeg.Sub444)
	planar.RGB(window, dst.Stride)
	return nil
}

// checkPlanes returns an error for planes that can't be rendered.
func (s ResizeSpec) checkPlanes(src *Planes, g Geometry) error {
	if err := src.check(); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	return s.checkShape(src, g)
}

// checkShape is checkPlanes without regard to samples.
func (s ResizeSpec) checkShape(src *Planes, g Geometry) error {
	if !s.Filter.valid() || !s.TakesPlanes() {
		return fmt.Errorf("resize: filter %v has no way with planes", s.Filter)
	}
	if src.Width > MaxSourceSide || src.Height > MaxSourceSide {
		return fmt.Errorf("resize of %dx%d: no side of the source may be over %d pixels", src.Width, src.Height, MaxSourceSide)
	}
	return g.check()
}

// renderPlanes makes dst planes of a subsampling.
func (s ResizeSpec) renderPlanes(dst, src *Planes, g Geometry, to jpeg.Subsampling, scratch *Scratch) {
	dst.reset(g.Width, g.Height, to)
	color := planesColor(s.PadColor)
	in := src.images()
	for i, out := range dst.images() {
		across, down := planeAxes(i, src, g, to)
		s.renderPlane(out, in[i], across, down, color[i], scratch)
	}
}

// renderPlane makes one plane, whose size is set.
func (s ResizeSpec) renderPlane(dst, src *Image, across, down planeAxis, color uint8, scratch *Scratch) {
	window := *dst
	x, w := across.span()
	y, h := down.span()
	if w != dst.Width || h != dst.Height {
		fill(dst.Pix, []uint8{color})
		window.Width, window.Height = w, h
		window.Pix = dst.Pix[y*dst.Stride+x:]
	}
	memoryOf(scratch).resizing.resizePlane(&window, src, across.key(s, 1), down.key(s, 0))
	first, last := across.halves()
	for y := range h {
		row := window.Row(y)
		if first {
			row[0] = mean(row[0], color)
		}
		if last {
			row[w-1] = mean(row[w-1], color)
		}
	}
	blend := func(row []uint8) {
		for x, v := range row {
			row[x] = mean(v, color)
		}
	}
	first, last = down.halves()
	if first {
		blend(window.Row(0))
	}
	if last {
		blend(window.Row(h - 1))
	}
}

// resizePlane is resizeAlong with the order of the passes that is fastest for one channel: whole
// rows are weighed four times as fast as the samples of a row, so that what makes fewer rows
// comes first.
func (m *resizeMemory) resizePlane(dst, src *Image, across, down axisKey) {
	if across.antialias && down.in > dst.Height && !down.identity() && !across.identity() {
		m.bothDownFirst(dst, src, axes.get(across), axes.get(down))
		return
	}
	m.resizeAlong(dst, src, across, down)
}

func mean(a, b uint8) uint8 { return uint8((uint32(a) + uint32(b) + 1) / 2) }

// planeAxis is one direction of the resize of a plane. It relates the samples before and after to
// the pixels of the image.
type planeAxis struct {
	in        int // samples of the source
	size, per int // the image's pixels at full size, and pixels per sample of the source
	step      int // pixels per sample of the result
	// Pixels of the [Geometry]: the size of the resized image, the start of the window in it and in
	// the result, and the sizes of the window and the result.
	scaled, crop, pad, window, total int
}

// planeAxes describes the resize of plane i of planes to a plane with a subsampling.
func planeAxes(i int, src *Planes, g Geometry, to jpeg.Subsampling) (across, down planeAxis) {
	fx, fy, tx, ty := 1, 1, 1, 1
	if i > 0 {
		from, _ := src.sampling()
		fx, fy = from.Factors()
		tx, ty = to.Factors()
	}
	in := src.images()[i]
	across = planeAxis{in: in.Width, size: src.Width, per: src.Denom * fx, step: tx,
		scaled: g.ScaledWidth, crop: g.CropX, pad: g.PadX, window: g.WindowWidth, total: g.Width}
	down = planeAxis{in: in.Height, size: src.Height, per: src.Denom * fy, step: ty,
		scaled: g.ScaledHeight, crop: g.CropY, pad: g.PadY, window: g.WindowHeight, total: g.Height}
	return across, down
}

// span returns the range of the result's samples that overlap the window.
func (a planeAxis) span() (at, n int) {
	at = a.pad / a.step
	return at, (a.pad+a.window+a.step-1)/a.step - at
}

// halves reports whether the first and the last sample also represent padding.
func (a planeAxis) halves() (first, last bool) {
	end := a.pad + a.window
	return a.pad%a.step != 0, end%a.step != 0 && end < a.total
}

// key returns the key of the weights; channels are defined by [axisKey].
func (a planeAxis) key(s ResizeSpec, channels int) axisKey {
	k := axisKey{in: a.in, out: a.scaled, lo: a.crop, hi: a.crop + a.window, filter: s.Filter, antialias: !s.NoAntialias, channels: channels}
	if a.step > 1 || a.size != a.in*a.per {
		k.grid = grid{size: a.size, per: a.per, step: a.step, lead: a.pad % a.step}
	}
	return k
}

// planesColor converts RGB as libjpeg does (jccolor.c), in 16 bits of fraction.
func planesColor(rgb [3]uint8) [3]uint8 {
	r, g, b := int32(rgb[0]), int32(rgb[1]), int32(rgb[2])
	return [3]uint8{
		luminance(rgb[0], rgb[1], rgb[2]),
		uint8((-11059*r - 21709*g + 32768*b + 128<<16 + 1<<15 - 1) >> 16),
		uint8((32768*r - 27439*g - 5329*b + 128<<16 + 1<<15 - 1) >> 16),
	}
}
