package steps

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/warp"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// Perspective tilts the image: its corners move, and lines stay straight. The size does not change.
// The bytes equal Pillow's Image.transform with PERSPECTIVE, and torchvision's perspective with
// startpoints [0, 0], [w, 0], [w, h] and [0, h] except for the rounding of its coefficients to
// float32.
type Perspective struct {
	// Corners are the new positions of the image's corners, in pixels from the top left corner of
	// the result: top left, top right, bottom right and bottom left. They must form a convex
	// quadrilateral, up to 1,000,000 pixels away.
	Corners [4][2]int `json:"corners"`
	// Filter is Nearest, Bilinear or Bicubic. The zero value is Bilinear, as in torchvision.
	Filter resample.Filter `json:"filter"`
	// Fill is the colour of pixels from outside the image, in RGB; grayscale images get its
	// luminance.
	Fill [3]uint8 `json:"fill,omitzero"`
}

func (s Perspective) op() string { return "perspective" }

func (s Perspective) size(w, h int) (int, int) { return w, h }

func (s Perspective) validate() error {
	for _, p := range s.Corners {
		for _, v := range p {
			if err := checkRange(s.op(), "corner", float64(v), -1e6, 1e6); err != nil {
				return err
			}
		}
	}
	if !s.convex() {
		return fmt.Errorf("%s: corners %v: want those of a convex quadrilateral", s.op(), s.Corners)
	}
	if f := warp.Forward(s.Corners); f.Constant() == 0 {
		return fmt.Errorf("%s: corners %v: the top left corner of the result is on the horizon", s.op(), s.Corners)
	}
	return warp.CheckTransformFilter(s.op(), s.Filter)
}

// convex reports whether all four turns from edge to edge are in the same direction.
func (s Perspective) convex() bool { return s.turns() == 4 || s.mirrors() }

// mirrors reports whether the corners go around counter-clockwise, so that the image is mirrored.
func (s Perspective) mirrors() bool { return s.turns() == -4 }

// turns returns the number of clockwise turns from edge to edge minus the number of
// counter-clockwise ones.
func (s Perspective) turns() int {
	turns := 0
	for i := range 4 {
		a, b, c := s.Corners[i], s.Corners[(i+1)%4], s.Corners[(i+2)%4]
		switch turn := (b[0]-a[0])*(c[1]-b[1]) - (b[1]-a[1])*(c[0]-b[0]); {
		case turn > 0:
			turns++
		case turn < 0:
			turns--
		}
	}
	return turns
}

func (s Perspective) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	m, t := warp.Forward(s.Corners).Inverse(src.Width, src.Height)
	bitmap.Fill(dst.Pix, recolor.Shade(&s.Fill, dst.Channels))
	for y := range dst.Height {
		to := dst.Row(y)
		for x := range dst.Width {
			centerX, centerY := float64(x)+0.5, float64(y)+0.5
			atX, atY := m.At(centerX, centerY)
			z := t.At(centerX, centerY)
			atX, atY = atX/z, atY/z
			if !warp.Inside(atX, src.Width) || !warp.Inside(atY, src.Height) {
				continue
			}
			switch pixel := to[x*dst.Channels:]; s.Filter {
			case resample.Bilinear:
				warp.BilinearAt(pixel, src, atX, atY)
			case resample.Bicubic:
				warp.BicubicAt(pixel, src, atX, atY)
			default:
				bitmap.CopyPixel(pixel, src.Row(int(atY))[int(atX)*src.Channels:], src.Channels)
			}
		}
	}
	return nil
}

// TiltBox returns the box around what becomes of a box of an image of w x h pixels.
func TiltBox(s Perspective, b bitmap.Box, w, h int) bitmap.Box {
	f := warp.Forward(s.Corners)
	points := bitmap.Corners(b)
	for i, p := range points {
		u, v := p[0]/float64(w), p[1]/float64(h)
		x, y := f.Matrix.At(u, v)
		z := f.Tilt.At(u, v)
		points[i] = [2]float64{x / z, y / z}
	}
	return bitmap.Around(points)
}
