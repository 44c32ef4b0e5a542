package fit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/resample"
)

// Fit selects how an image is fitted to a target of another shape. The zero value is Stretch.
type Fit uint8

// The ways to fit an image of any shape to a target of Width x Height.
const (
	// Stretch gives each side its target and loses the image's shape.
	Stretch Fit = iota
	// Crop covers the target and cuts the surplus equally from both sides.
	Crop
	// Pad fits the image inside the target, in the middle, on PadColor.
	Pad
	// Shorter covers the target and cuts nothing: with N x N, the shorter
	// side becomes N.
	Shorter
	// Longer stays inside the target and pads nothing: with N x N, the
	// longer side becomes N.
	Longer
)

// FitNames are the names of the fits, by their values.
var FitNames = [...]string{"stretch", "crop", "pad", "shorter", "longer"}

// String returns the name that [ParseFit] reads.
func (f Fit) String() string {
	if int(f) < len(FitNames) {
		return FitNames[f]
	}
	return fmt.Sprintf("Fit(%d)", uint8(f))
}

// ParseFit returns the fit of a name: stretch, crop, pad, shorter or longer.
func ParseFit(name string) (Fit, error) {
	for i, n := range FitNames {
		if n == name {
			return Fit(i), nil
		}
	}
	return 0, fmt.Errorf("unknown fit %q: want %s", name, strings.Join(FitNames[:], ", "))
}

// ResizeSpec configures a resize. Either Width and Height or Square is set.
type ResizeSpec struct {
	// Width and Height are the target, in pixels, 1 to [bitmap.MaxSide].
	Width, Height int
	// Fit selects how images of another shape than the target's are fitted.
	Fit Fit
	// Square resizes the shorter side to this length and cuts a square of it from the middle, as
	// torchvision's Resize(N) and CenterCrop(N) do. It replaces Width, Height and Fit. 0: none.
	Square int
	// NoUpscale never enlarges. Stretch keeps a side that is shorter than its target; the others
	// keep the size of an image that they would have to enlarge. Crop and Square then cut it to the
	// target, so the result may be smaller; Pad still puts it in the middle of the target.
	NoUpscale bool
	// Filter is the filter of [Resize]. NoAntialias turns its antialias off.
	Filter      resample.Filter
	NoAntialias bool
	// PadColor is the RGB colour of the padding; grayscale images get its luminance. The zero value
	// is black.
	PadColor [3]uint8
}

// ParseSize reads WxH, as in 224x224, into Width and Height of an otherwise
// zero spec, or N, as in 224, into its Square.
func ParseSize(text string) (ResizeSpec, error) {
	var s ResizeSpec
	var err error
	if w, h, both := strings.Cut(text, "x"); both {
		s.Width, err = parseSide(w)
		if err == nil {
			s.Height, err = parseSide(h)
		}
	} else {
		s.Square, err = parseSide(text)
	}
	if err == nil {
		err = s.Validate()
	}
	if err != nil {
		return ResizeSpec{}, fmt.Errorf("size %q: %w", text, err)
	}
	return s, nil
}

func parseSide(text string) (int, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, errors.New("want WxH like 224x224, or N like 224")
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > bitmap.MaxSide {
		return 0, fmt.Errorf("want sides of 1 to %d pixels", bitmap.MaxSide)
	}
	return n, nil
}

// Validate returns an error if fields are out of range or contradict each other.
func (s ResizeSpec) Validate() error {
	if !resample.Valid(s.Filter) {
		return fmt.Errorf("resize: unknown filter %v", s.Filter)
	}
	if int(s.Fit) >= len(FitNames) {
		return fmt.Errorf("resize: unknown fit %v", s.Fit)
	}
	if s.Square == 0 {
		return resample.CheckTarget(s.Width, s.Height)
	}
	if s.Width != 0 || s.Height != 0 || s.Fit != Stretch {
		return errors.New("resize: Square takes the place of Width, Height and Fit: set it or them")
	}
	return resample.CheckTarget(s.Square, s.Square)
}

// Geometry describes a resize by [ResizeSpec] of images of one size, in pixels: the whole image is
// resized to ScaledWidth x ScaledHeight, and a window of that is put on a canvas.
type Geometry struct {
	// ScaledWidth and ScaledHeight are the size of the whole image after the resize.
	ScaledWidth, ScaledHeight int
	// CropX and CropY are the position of the window in the resized image, WindowWidth and
	// WindowHeight its size.
	CropX, CropY, WindowWidth, WindowHeight int
	// Width and Height are the size of the result, PadX and PadY the position of the window in it.
	Width, Height, PadX, PadY int
	// SourceWidth and SourceHeight are the image's. They are needed for images decoded at 1/2, 1/4
	// or 1/8 of this size, whose last pixels may represent less than the others. With 0, 0 every
	// image counts as decoded at full size.
	SourceWidth, SourceHeight int
}

// Geometry returns the geometry for an image of w x h pixels, after orientation; w and h must be at
// least 1.
//
// If the shape is kept, one side becomes exactly the target's and the other is truncated to whole
// pixels, as in torchvision's Resize, but is never below 1. A crop begins at half of the surplus,
// halves rounded to even, as in torchvision's CenterCrop; padding begins at half of the missing
// pixels, rounded down.
func (s ResizeSpec) Geometry(w, h int) Geometry {
	targetW, targetH, fit := s.Width, s.Height, s.Fit
	if s.Square > 0 {
		targetW, targetH, fit = s.Square, s.Square, Crop
	}
	g := Geometry{SourceWidth: w, SourceHeight: h}
	switch fit {
	case Stretch:
		g.ScaledWidth, g.ScaledHeight = targetW, targetH
		if s.NoUpscale {
			g.ScaledWidth, g.ScaledHeight = min(w, targetW), min(h, targetH)
		}
	case Crop, Shorter:
		g.ScaledWidth, g.ScaledHeight = scaled(w, h, targetW, targetH, wider(targetW, targetH, w, h))
	default:
		g.ScaledWidth, g.ScaledHeight = scaled(w, h, targetW, targetH, !wider(targetW, targetH, w, h))
	}
	if s.NoUpscale && fit != Stretch && (g.ScaledWidth > w || g.ScaledHeight > h) {
		g.ScaledWidth, g.ScaledHeight = w, h
	}
	g.WindowWidth, g.WindowHeight = g.ScaledWidth, g.ScaledHeight
	g.Width, g.Height = g.ScaledWidth, g.ScaledHeight
	switch fit {
	case Crop:
		g.Width, g.Height = min(targetW, g.ScaledWidth), min(targetH, g.ScaledHeight)
		g.WindowWidth, g.WindowHeight = g.Width, g.Height
		g.CropX, g.CropY = CropStart(g.ScaledWidth-g.Width), CropStart(g.ScaledHeight-g.Height)
	case Pad:
		g.Width, g.Height = targetW, targetH
		g.PadX, g.PadY = (targetW-g.ScaledWidth)/2, (targetH-g.ScaledHeight)/2
	}
	return g
}

// wider reports whether a shape is wider than another.
func wider(w, h, thanW, thanH int) bool {
	return int64(w)*int64(thanH) > int64(thanW)*int64(h)
}

// scaled resizes w x h without losing its shape until its width, or else its
// height, is the target's.
func scaled(w, h, targetW, targetH int, byWidth bool) (int, int) {
	if byWidth {
		return targetW, max(1, int(min(int64(targetW)*int64(h)/int64(w), bitmap.MaxScaled)))
	}
	return max(1, int(min(int64(targetH)*int64(w)/int64(h), bitmap.MaxScaled))), targetH
}

// CropStart returns the start of a crop that removes surplus pixels.
func CropStart(surplus int) int {
	start := surplus / 2
	if surplus%2 == 1 && start%2 == 1 {
		start++
	}
	return start
}

// MinDecode returns the smallest size, after orientation, at which an image of w x h pixels may be
// decoded, for [imagefile.DecodeOptions]: one and a half times the size after resizing, two and a
// half times for Area, whose hard edges show reduced pixels sooner. It returns 0, 0, for full size
// only, if a reduced image would look different because the filter without antialias picks single
// pixels.
//
// [ResizeSpec.Render] uses the Geometry of the full size for the reduced image, too, since it could
// not tell otherwise how much the last pixels of the reduced image represent.
//
// Against the result of a full decode (13 photographs of 1280 to 5760 pixels,
// libjpeg-turbo's 1/2, 1/4 and 1/8, at the worst of the three the least PSNR of a
// photograph and the mean over them), Bilinear gives
//
//	1.00 times    36.8 dB, 40.6     1.50 times    43.0 dB, 46.4
//	1.10 times    38.5 dB, 42.0     1.75 times    43.7 dB, 47.0
//	1.25 times    40.2 dB, 43.7     2.00 times    45.9 dB, 48.3
//
// Bicubic and Lanczos3 are like it, and Area gives 36.9 dB, 40.1 at 1.5 times and 43.3 dB, 46.2 at
// 2.6. So photographs of 1280 pixels or more keep at least 41 dB; photographs of 320 pixels,
// reduced as much, keep 33. At one and a half times 5120 x 2880 for 224 is still decoded at 1/8,
// and 2560 x 1600 at 1/4.
func (s ResizeSpec) MinDecode(w, h int) (minW, minH int) {
	if s.Filter == resample.Nearest || s.NoAntialias && s.Filter != resample.Area {
		return 0, 0
	}
	g := s.Geometry(w, h)
	halves := 3
	if s.Filter == resample.Area {
		halves = 5
	}
	return (halves*g.ScaledWidth + 1) / 2, (halves*g.ScaledHeight + 1) / 2
}
