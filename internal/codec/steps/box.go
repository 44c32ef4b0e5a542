package steps

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// CropBox cuts a box out of the image. Parts of the box outside the image are filled.
type CropBox struct {
	// X and Y are the top left corner, in pixels; they may be negative.
	X int `json:"x"`
	Y int `json:"y"`
	// W and H are the size, at least 1 and at most [bitmap.MaxSide].
	W int `json:"w"`
	H int `json:"h"`
	// Fill is the colour outside, in RGB; grayscale images get its luminance.
	Fill [3]uint8 `json:"fill,omitzero"`
}

func (s CropBox) op() string { return "crop" }

func (s CropBox) size(w, h int) (int, int) { return s.W, s.H }

func (s CropBox) validate() error {
	if err := checkBox(s.op(), s.X, s.Y, s.W, s.H); err != nil {
		return err
	}
	return CheckResult(s.op(), s.W, s.H)
}

func (s CropBox) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	left, right := max(s.X, 0), min(s.X+s.W, src.Width)
	top, bottom := max(s.Y, 0), min(s.Y+s.H, src.Height)
	if right-left < s.W || bottom-top < s.H {
		bitmap.Fill(dst.Pix, recolor.Shade(&s.Fill, dst.Channels))
	}
	if left >= right {
		return nil
	}
	for y := top; y < bottom; y++ {
		from := src.Row(y)[left*src.Channels : right*src.Channels]
		copy(dst.Row(y - s.Y)[(left-s.X)*dst.Channels:], from)
	}
	return nil
}

// ResizedCrop cuts a box out of the image and resizes it, as torchvision's resized_crop: the filter
// does not see pixels around the box. A box that is not within the image is an error.
type ResizedCrop struct {
	// X and Y are the top left corner, in pixels, W and H the size of the box, which must be within
	// the image.
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
	// Width and Height are the size of the result, 1 to [bitmap.MaxSide].
	Width  int `json:"width"`
	Height int `json:"height"`
	// Filter and Antialias are parameters of [fit.Resize].
	Filter    resample.Filter `json:"filter"`
	Antialias bool            `json:"antialias"`
}

func (s ResizedCrop) op() string { return "resized_crop" }

func (s ResizedCrop) size(w, h int) (int, int) { return s.Width, s.Height }

func (s ResizedCrop) validate() error {
	if err := checkBox(s.op(), s.X, s.Y, s.W, s.H); err != nil {
		return err
	}
	if !resample.Valid(s.Filter) {
		return fmt.Errorf("%s: unknown filter %v", s.op(), s.Filter)
	}
	return CheckResult(s.op(), s.Width, s.Height)
}

func (s ResizedCrop) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	if err := WithinImage(s, src.Width, src.Height); err != nil {
		return err
	}
	box := *src
	box.Pix = src.Pix[s.Y*src.Stride+s.X*src.Channels:]
	box.Width, box.Height = s.W, s.H
	if err := resample.CheckResize(dst, &box, s.Filter); err != nil {
		return err
	}
	scratch, free := workspace.Take(scratch)
	defer free()
	workspace.Of(scratch).Resizing.Resize(dst, &box, resample.Scaling{Width: s.Width, Height: s.Height, Filter: s.Filter, Antialias: s.Antialias})
	return nil
}

// WithinImage returns an error for a box that extends beyond an image of w x h pixels.
func WithinImage(s ResizedCrop, w, h int) error {
	if s.X < 0 || s.Y < 0 || s.W > w-s.X || s.H > h-s.Y {
		return fmt.Errorf("%s: the box %dx%d at %d,%d isn't within the image of %dx%d", s.op(), s.W, s.H, s.X, s.Y, w, h)
	}
	return nil
}

// ResizeTo resizes the image with [fit.Resize], ignoring its shape.
type ResizeTo struct {
	// Width and Height are the size of the result, 1 to [bitmap.MaxSide].
	Width  int `json:"width"`
	Height int `json:"height"`
	// Filter and Antialias are parameters of [fit.Resize].
	Filter    resample.Filter `json:"filter"`
	Antialias bool            `json:"antialias"`
}

func (s ResizeTo) op() string { return "resize" }

func (s ResizeTo) size(w, h int) (int, int) { return s.Width, s.Height }

func (s ResizeTo) validate() error {
	if !resample.Valid(s.Filter) {
		return fmt.Errorf("%s: unknown filter %v", s.op(), s.Filter)
	}
	return CheckResult(s.op(), s.Width, s.Height)
}

func (s ResizeTo) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	if err := resample.CheckResize(dst, src, s.Filter); err != nil {
		return err
	}
	scratch, free := workspace.Take(scratch)
	defer free()
	workspace.Of(scratch).Resizing.Resize(dst, src, resample.Scaling{Width: s.Width, Height: s.Height, Filter: s.Filter, Antialias: s.Antialias})
	return nil
}
