package steps

import (
	"errors"
	"fmt"
	"image"
	"math"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// planeStep is a step that can be the first one done to an image, while it is in planes.
type planeStep interface {
	// takesPlanes reports whether the step, with its parameters, can be applied to planes.
	takesPlanes() bool
	// minDecode is [fit.ResizeSpec.MinDecode] for an image of w x h pixels.
	minDecode(w, h int) (minW, minH int)
	// part returns the pixels of the image, of w x h, that the step reads.
	part(w, h int) image.Rectangle
	// applyPlanes is Apply for planes, to RGB.
	applyPlanes(dst *bitmap.Image, src *bitmap.Planes, scratch *workspace.Scratch) error
}

// first is the first step if it is one for planes, or nil.
func (d Draw) first() planeStep {
	if len(d.Steps) > 0 {
		if s, ok := d.Steps[0].(planeStep); ok && s.takesPlanes() {
			return s
		}
	}
	return nil
}

// TakesPlanes reports whether [Draw.ApplyPlanes] supports the draw: if the first step crops or
// resizes the image, or both, with any filter except Nearest. The other steps are done in RGB, at
// the resulting size.
func (d Draw) TakesPlanes() bool { return d.first() != nil }

// MinDecode is [fit.ResizeSpec.MinDecode] for a draw that takes planes, of an image of w x h
// pixels.
func (d Draw) MinDecode(w, h int) (minW, minH int) {
	if s := d.first(); s != nil {
		return s.minDecode(w, h)
	}
	return 0, 0
}

// Part is [imagefile.DecodeOptions.Part] for a draw that takes planes, of an image of w x h pixels:
// the part that its first step uses.
func (d Draw) Part(w, h int) image.Rectangle {
	if s := d.first(); s != nil {
		return s.part(w, h).Intersect(image.Rect(0, 0, w, h))
	}
	return image.Rectangle{}
}

// ApplyPlanes is [Draw.Apply] for planes, to RGB. The first step is applied to the planes; its
// result is converted to RGB for the other steps. A crop has the same pixels as with Apply; resized
// images differ from those as [bitmap.Planes] says.
func (d Draw) ApplyPlanes(dst *bitmap.Image, src *bitmap.Planes, scratch *workspace.Scratch) error {
	s := d.first()
	if s == nil {
		return errors.New("the first step has no way with planes")
	}
	scratch, free := workspace.Take(scratch)
	defer free()
	to := dst
	rest := Draw{d.Steps[1:]}
	if len(rest.Steps) > 0 {
		to = &workspace.Of(scratch).Steps.Draw[1] // where apply doesn't write first
	}
	if err := s.applyPlanes(to, src, scratch); err != nil {
		return fmt.Errorf("step 0: %w", err)
	}
	if to == dst {
		return nil
	}
	return rest.apply(dst, to, 1, scratch)
}

func (s ResizeTo) takesPlanes() bool { return s.Filter != resample.Nearest }

func (s ResizeTo) minDecode(w, h int) (minW, minH int) { return WholeBox(s, w, h).minDecode(w, h) }

func (s ResizeTo) part(w, h int) image.Rectangle { return image.Rect(0, 0, w, h) }

func (s ResizeTo) applyPlanes(dst *bitmap.Image, src *bitmap.Planes, scratch *workspace.Scratch) error {
	if err := s.validate(); err != nil { // by its own name
		return err
	}
	return WholeBox(s, src.Width, src.Height).applyPlanes(dst, src, scratch)
}

// WholeBox is the step as a crop of a whole image.
func WholeBox(s ResizeTo, w, h int) ResizedCrop {
	return ResizedCrop{W: w, H: h, Width: s.Width, Height: s.Height, Filter: s.Filter, Antialias: s.Antialias}
}

func (s ResizedCrop) takesPlanes() bool { return s.Filter != resample.Nearest }

func (s ResizedCrop) minDecode(w, h int) (minW, minH int) {
	if s.W < 1 || s.H < 1 {
		return 0, 0
	}
	minW, minH = fit.ResizeSpec{Width: s.Width, Height: s.Height, Filter: s.Filter, NoAntialias: !s.Antialias}.MinDecode(s.W, s.H)
	return ofWhole(minW, w, s.W), ofWhole(minH, h, s.H)
}

func (s ResizedCrop) part(w, h int) image.Rectangle { return image.Rect(s.X, s.Y, s.X+s.W, s.Y+s.H) }

// ofWhole converts n from pixels of a part to pixels of the whole.
func ofWhole(n, whole, part int) int {
	return int(min((int64(n)*int64(whole)+int64(part)-1)/int64(part), math.MaxInt32))
}

// applyPlanes resizes each plane to the size of the result and converts the planes to RGB.
func (s ResizedCrop) applyPlanes(dst *bitmap.Image, src *bitmap.Planes, scratch *workspace.Scratch) error {
	if err := s.validate(); err != nil {
		return err
	}
	if err := bitmap.CheckPlanes(src); err != nil {
		return fmt.Errorf("%s: %w", s.op(), err)
	}
	if src.Width > bitmap.MaxSourceSide || src.Height > bitmap.MaxSourceSide {
		return fmt.Errorf("%s of %dx%d: no side of the source may be over %d pixels", s.op(), src.Width, src.Height, bitmap.MaxSourceSide)
	}
	if err := WithinImage(s, src.Width, src.Height); err != nil {
		return err
	}
	planes := &workspace.Of(scratch).Planes
	bitmap.ResetPlanes(planes, s.Width, s.Height, jpeg.Sub444)
	in := bitmap.Components(src)
	for i, out := range bitmap.Components(planes) {
		x, y, across, down := BoxAxes(s, i, src)
		box := *in[i]
		box.Pix = box.Pix[y*box.Stride+x:]
		box.Width, box.Height = across.In, down.In
		workspace.Of(scratch).Resizing.ResizePlane(out, &box, across, down)
	}
	dst.Reset(s.Width, s.Height, 3)
	planar := bitmap.Planar(planes, jpeg.Sub444)
	planar.RGB(dst.Pix, dst.Stride)
	return nil
}

// BoxAxes returns the resize of plane i of planes: its first sample, and the keys of the weights.
func BoxAxes(s ResizedCrop, i int, src *bitmap.Planes) (x, y int, across, down resample.Key) {
	fx, fy := src.Denom, src.Denom
	if i > 0 {
		from, _ := bitmap.SamplingOf(src)
		w, h := from.Factors()
		fx, fy = fx*w, fy*h
	}
	x, across = s.boxAxis(s.X, s.W, fx, s.Width, 1)
	y, down = s.boxAxis(s.Y, s.H, fy, s.Height, 0)
	return x, y, across, down
}

// boxAxis returns one direction of the resize of n pixels from x on, with per pixels to a sample:
// the first sample that overlaps them, and the key of the weights.
func (s ResizedCrop) boxAxis(x, n, per, to, channels int) (first int, k resample.Key) {
	first = x / per
	k = resample.Key{In: (x+n+per-1)/per - first, Out: to, Hi: to, Filter: s.Filter, Antialias: s.Antialias, Channels: channels}
	if skip := x - first*per; skip > 0 || n != k.In*per {
		k.Grid = resample.Grid{Size: n, Per: per, Skip: skip, Step: 1}
	}
	return first, k
}

func (s CropBox) takesPlanes() bool { return true }

// minDecode is 0, 0: the box is of the full size.
func (s CropBox) minDecode(w, h int) (minW, minH int) { return 0, 0 }

// part has the samples of chroma around the box, which those in it are interpolated with.
func (s CropBox) part(w, h int) image.Rectangle {
	return image.Rect(s.X-2, s.Y-2, s.X+s.W+2, s.Y+s.H+2)
}

// applyPlanes converts what of the image is in the box.
func (s CropBox) applyPlanes(dst *bitmap.Image, src *bitmap.Planes, scratch *workspace.Scratch) error {
	if err := s.validate(); err != nil {
		return err
	}
	if err := bitmap.CheckPlanes(src); err != nil {
		return fmt.Errorf("%s: %w", s.op(), err)
	}
	if src.Denom != 1 {
		return fmt.Errorf("%s: planes at 1/%d of their size: want all of it", s.op(), src.Denom)
	}
	dst.Reset(s.W, s.H, 3)
	left, right := max(s.X, 0), min(s.X+s.W, src.Width)
	top, bottom := max(s.Y, 0), min(s.Y+s.H, src.Height)
	if right-left < s.W || bottom-top < s.H {
		bitmap.Fill(dst.Pix, s.Fill[:])
	}
	if left >= right || top >= bottom {
		return nil
	}
	sub, _ := bitmap.SamplingOf(src)
	planar := bitmap.Planar(src, sub)
	planar.RGBOf(dst.Pix[(top-s.Y)*dst.Stride+3*(left-s.X):], dst.Stride, left, top, right-left, bottom-top)
	return nil
}
