package fit

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// TakesPlanes reports whether [ResizeSpec.RenderPlanes] supports the spec: not for Nearest, which
// picks pixels and must not pick luma and chroma of different ones.
func (s ResizeSpec) TakesPlanes() bool { return s.Filter != resample.Nearest }

// RenderPlanes is [ResizeSpec.Render] for planes. The luma is resized as a gray image is, except
// for the rounding between the two passes, whose order may differ. The chroma is resized directly
// from the sample grid of src to the grid of subsampling in dst: each sample is the mean of the
// pixels that it represents, as if these had been computed. So sample centres are where JPEG has
// them, even if a crop begins between the pixels of a sample, and padding contributes to the
// samples at its border.
//
// g must be [ResizeSpec.Geometry] of src.Width and src.Height. dst reuses its memory and must not
// share it with src; scratch may be nil.
func (s ResizeSpec) RenderPlanes(dst, src *bitmap.Planes, g Geometry, subsampling string, scratch *workspace.Scratch) error {
	if dst == src {
		return errors.New("resize: the result must not be the source itself")
	}
	if err := s.checkPlanes(src, g); err != nil {
		return err
	}
	to, err := bitmap.ParseSampling(subsampling)
	if err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	scratch, free := workspace.Take(scratch)
	defer free()
	s.renderPlanes(dst, src, g, to, scratch)
	return nil
}

// RenderRGB resizes src into dst, in RGB: all three planes are resized to the size of the window,
// as [ResizeSpec.RenderPlanes] does for subsampling "444", and only then converted. Padding has
// exactly its colour. dst reuses its memory; scratch may be nil.
func (s ResizeSpec) RenderRGB(dst *bitmap.Image, src *bitmap.Planes, g Geometry, scratch *workspace.Scratch) error {
	if err := s.checkPlanes(src, g); err != nil {
		return err
	}
	scratch, free := workspace.Take(scratch)
	defer free()
	dst.Reset(g.Width, g.Height, 3)
	window := dst.Pix
	if g.WindowWidth != g.Width || g.WindowHeight != g.Height {
		s.pad(dst)
		window = dst.Pix[g.PadY*dst.Stride+3*g.PadX:]
		g.Width, g.Height, g.PadX, g.PadY = g.WindowWidth, g.WindowHeight, 0, 0
	}
	planes := &workspace.Of(scratch).Planes
	s.renderPlanes(planes, src, g, jpeg.Sub444, scratch)
	planar := bitmap.Planar(planes, jpeg.Sub444)
	planar.RGB(window, dst.Stride)
	return nil
}

// checkPlanes returns an error for planes that can't be rendered.
func (s ResizeSpec) checkPlanes(src *bitmap.Planes, g Geometry) error {
	if err := bitmap.CheckPlanes(src); err != nil {
		return fmt.Errorf("resize: %w", err)
	}
	return CheckShape(s, src, g)
}

// CheckShape is checkPlanes without regard to samples.
func CheckShape(s ResizeSpec, src *bitmap.Planes, g Geometry) error {
	if !resample.Valid(s.Filter) || !s.TakesPlanes() {
		return fmt.Errorf("resize: filter %v has no way with planes", s.Filter)
	}
	if src.Width > bitmap.MaxSourceSide || src.Height > bitmap.MaxSourceSide {
		return fmt.Errorf("resize of %dx%d: no side of the source may be over %d pixels", src.Width, src.Height, bitmap.MaxSourceSide)
	}
	return CheckGeometry(g)
}

// renderPlanes makes dst planes of a subsampling.
func (s ResizeSpec) renderPlanes(dst, src *bitmap.Planes, g Geometry, to jpeg.Subsampling, scratch *workspace.Scratch) {
	bitmap.ResetPlanes(dst, g.Width, g.Height, to)
	color := recolor.PlanesColor(s.PadColor)
	in := bitmap.Components(src)
	for i, out := range bitmap.Components(dst) {
		across, down := PlaneAxes(i, src, g, to)
		s.renderPlane(out, in[i], across, down, color[i], scratch)
	}
}

// renderPlane makes one plane, whose size is set.
func (s ResizeSpec) renderPlane(dst, src *bitmap.Image, across, down PlaneAxis, color uint8, scratch *workspace.Scratch) {
	window := *dst
	x, w := across.Span()
	y, h := down.Span()
	if w != dst.Width || h != dst.Height {
		bitmap.Fill(dst.Pix, []uint8{color})
		window.Width, window.Height = w, h
		window.Pix = dst.Pix[y*dst.Stride+x:]
	}
	workspace.Of(scratch).Resizing.ResizePlane(&window, src, across.Key(s, 1), down.Key(s, 0))
	first, last := across.Halves()
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
	first, last = down.Halves()
	if first {
		blend(window.Row(0))
	}
	if last {
		blend(window.Row(h - 1))
	}
}

func mean(a, b uint8) uint8 { return uint8((uint32(a) + uint32(b) + 1) / 2) }

// PlaneAxis is one direction of the resize of a plane. It relates the samples before and after to
// the pixels of the image.
type PlaneAxis struct {
	in        int // samples of the source
	size, per int // the image's pixels at full size, and pixels per sample of the source
	step      int // pixels per sample of the result
	// Pixels of the [Geometry]: the size of the resized image, the start of the window in it and in
	// the result, and the sizes of the window and the result.
	scaled, crop, pad, window, total int
}

// PlaneAxes describes the resize of plane i of planes to a plane with a subsampling.
func PlaneAxes(i int, src *bitmap.Planes, g Geometry, to jpeg.Subsampling) (across, down PlaneAxis) {
	fx, fy, tx, ty := 1, 1, 1, 1
	if i > 0 {
		from, _ := bitmap.SamplingOf(src)
		fx, fy = from.Factors()
		tx, ty = to.Factors()
	}
	in := bitmap.Components(src)[i]
	across = PlaneAxis{in: in.Width, size: src.Width, per: src.Denom * fx, step: tx,
		scaled: g.ScaledWidth, crop: g.CropX, pad: g.PadX, window: g.WindowWidth, total: g.Width}
	down = PlaneAxis{in: in.Height, size: src.Height, per: src.Denom * fy, step: ty,
		scaled: g.ScaledHeight, crop: g.CropY, pad: g.PadY, window: g.WindowHeight, total: g.Height}
	return across, down
}

// Span returns the range of the result's samples that overlap the window.
func (a PlaneAxis) Span() (at, n int) {
	at = a.pad / a.step
	return at, (a.pad+a.window+a.step-1)/a.step - at
}

// Halves reports whether the first and the last sample also represent padding.
func (a PlaneAxis) Halves() (first, last bool) {
	end := a.pad + a.window
	return a.pad%a.step != 0, end%a.step != 0 && end < a.total
}

// Key returns the key of the weights; channels are defined by [resample.Key].
func (a PlaneAxis) Key(s ResizeSpec, channels int) resample.Key {
	k := resample.Key{In: a.in, Out: a.scaled, Lo: a.crop, Hi: a.crop + a.window, Filter: s.Filter, Antialias: !s.NoAntialias, Channels: channels}
	if a.step > 1 || a.size != a.in*a.per {
		k.Grid = resample.Grid{Size: a.size, Per: a.per, Step: a.step, Lead: a.pad % a.step}
	}
	return k
}
