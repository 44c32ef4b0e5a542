package fit

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// Apply resizes src into dst. dst gets src's channels and reuses its memory; it must not share
// memory with src. scratch may be nil.
func (s ResizeSpec) Apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := resample.CheckResize(dst, src, s.Filter); err != nil {
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
func (s ResizeSpec) Render(dst, src *bitmap.Image, g Geometry, scratch *workspace.Scratch) error {
	if err := resample.CheckResize(dst, src, s.Filter); err != nil {
		return err
	}
	if err := CheckGeometry(g); err != nil {
		return err
	}
	scratch, free := workspace.Take(scratch)
	defer free()
	dst.Reset(g.Width, g.Height, src.Channels)
	window := *dst
	if g.WindowWidth != g.Width || g.WindowHeight != g.Height {
		s.pad(dst)
		window.Width, window.Height = g.WindowWidth, g.WindowHeight
		window.Pix = dst.Pix[g.PadY*dst.Stride+g.PadX*dst.Channels:]
	}
	workspace.Of(scratch).Resizing.Resize(&window, src, resample.Scaling{
		Width: g.ScaledWidth, Height: g.ScaledHeight,
		X: g.CropX, Y: g.CropY,
		Filter: s.Filter, Antialias: !s.NoAntialias,
		Whole: WholeOf(g, src),
	})
	return nil
}

// WholeOf returns the full image that src is a reduced version of. It returns the zero value if src
// isn't reduced, or not as decoding reduces images.
func WholeOf(g Geometry, src *bitmap.Image) resample.Whole {
	for denom := 2; denom <= 8; denom *= 2 {
		if src.Width == (g.SourceWidth+denom-1)/denom && src.Height == (g.SourceHeight+denom-1)/denom {
			return resample.Whole{Width: g.SourceWidth, Height: g.SourceHeight, Denom: denom}
		}
	}
	return resample.Whole{}
}

// CheckGeometry returns an error for a geometry whose numbers don't fit together.
func CheckGeometry(g Geometry) error {
	if err := resample.CheckTarget(g.Width, g.Height); err != nil {
		return err
	}
	inside := func(at, n, within int) bool { return at >= 0 && n >= 1 && n <= within && at <= within-n }
	if g.ScaledWidth >= bitmap.MaxScaled || g.ScaledHeight >= bitmap.MaxScaled {
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
func (s ResizeSpec) pad(dst *bitmap.Image) {
	if dst.Channels == 1 {
		bitmap.Fill(dst.Pix, []uint8{recolor.Luminance(s.PadColor[0], s.PadColor[1], s.PadColor[2])})
		return
	}
	bitmap.Fill(dst.Pix, s.PadColor[:])
}

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
// Sides of the result may be 1 to [bitmap.MaxSide] pixels long, with 178,956,970 pixels in all.
// Sides of the source may be up to 1,048,576 pixels long.
//
// The arithmetic is in integers, with the same weights on every architecture, so the bytes are the
// same as well.
func Resize(dst, src *bitmap.Image, w, h int, f resample.Filter, antialias bool) error {
	if err := resample.CheckTarget(w, h); err != nil {
		return err
	}
	if err := resample.CheckResize(dst, src, f); err != nil {
		return err
	}
	scratch, free := workspace.Take(nil)
	defer free()
	dst.Reset(w, h, src.Channels)
	workspace.Of(scratch).Resizing.Resize(dst, src, resample.Scaling{Width: w, Height: h, Filter: f, Antialias: antialias})
	return nil
}
