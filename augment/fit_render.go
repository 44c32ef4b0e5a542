package augment

import "fmt"

// Apply resizes src into dst. dst gets src's channels and reuses its memory; it must not share
// memory with src. scratch may be nil.
func (s ResizeSpec) Apply(dst, src *Image, scratch *Scratch) error {
	if err := checkResize(dst, src, s.Filter); err != nil {
		return err
	}
	if err := s.Validate(); err != nil {
		return err
	}
	return s.Render(dst, src, s.Geometry(src.Width, src.Height), scratch)
}

// Render is Apply with a given geometry, such as the one of an image's full size if src was decoded
// at a part of it. Only the pixels of the window are computed, to the same bytes as if the window
// were cut from the whole.
func (s ResizeSpec) Render(dst, src *Image, g Geometry, scratch *Scratch) error {
	if err := checkResize(dst, src, s.Filter); err != nil {
		return err
	}
	if err := g.check(); err != nil {
		return err
	}
	scratch, free := scratch.orOwn()
	defer free()
	dst.Reset(g.Width, g.Height, src.Channels)
	window := *dst
	if g.WindowWidth != g.Width || g.WindowHeight != g.Height {
		s.pad(dst)
		window.Width, window.Height = g.WindowWidth, g.WindowHeight
		window.Pix = dst.Pix[g.PadY*dst.Stride+g.PadX*dst.Channels:]
	}
	memoryOf(scratch).resizing.resize(&window, src, scaling{
		width: g.ScaledWidth, height: g.ScaledHeight,
		x: g.CropX, y: g.CropY,
		filter: s.Filter, antialias: !s.NoAntialias,
		whole: g.wholeOf(src),
	})
	return nil
}

// wholeOf returns the full image that src is a reduced version of. It returns the zero value if src
// isn't reduced, or not as decoding reduces images.
func (g Geometry) wholeOf(src *Image) wholeImage {
	for denom := 2; denom <= 8; denom *= 2 {
		if src.Width == (g.SourceWidth+denom-1)/denom && src.Height == (g.SourceHeight+denom-1)/denom {
			return wholeImage{g.SourceWidth, g.SourceHeight, denom}
		}
	}
	return wholeImage{}
}

// check returns an error for a geometry whose numbers don't fit together.
func (g Geometry) check() error {
	if err := checkTarget(g.Width, g.Height); err != nil {
		return err
	}
	inside := func(at, n, within int) bool { return at >= 0 && n >= 1 && n <= within && at <= within-n }
	if g.ScaledWidth >= maxScaled || g.ScaledHeight >= maxScaled {
		return fmt.Errorf("resize to %dx%d before the crop: the image is too long for its width", g.ScaledWidth, g.ScaledHeight)
	}
	if !inside(g.CropX, g.WindowWidth, g.ScaledWidth) || !inside(g.CropY, g.WindowHeight, g.ScaledHeight) {
		return fmt.Errorf("resize: window %dx%d at %d,%d isn't within %dx%d", g.WindowWidth, g.WindowHeight, g.CropX, g.CropY, g.ScaledWidth, g.ScaledHeight)
	}
	if !inside(g.PadX, g.WindowWidth, g.Width) || !inside(g.PadY, g.WindowHeight, g.Height) {
		return fmt.Errorf("resize: window %dx%d put at %d,%d isn't within %dx%d", g.WindowWidth, g.WindowHeight, g.PadX, g.PadY, g.Width, g.Height)
	}
	return nil
}

// pad fills dst with the padding colour.
func (s ResizeSpec) pad(dst *Image) {
	if dst.Channels == 1 {
		fill(dst.Pix, []uint8{luminance(s.PadColor[0], s.PadColor[1], s.PadColor[2])})
		return
	}
	fill(dst.Pix, s.PadColor[:])
}

// fill repeats the pattern all over pix, whose length is a multiple of its.
func fill(pix, pattern []uint8) {
	for n := copy(pix, pattern); n < len(pix); n *= 2 {
		copy(pix[n:], pix[:n])
	}
}
