package steps

import (
	"errors"
	"fmt"
	"math"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/mixing"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// The methods of a [Mixture].
const (
	MixUp  = "mixup"
	CutMix = "cutmix"
	Mosaic = "mosaic"
)

// mosaicFill is the level of the background of a mosaic, as in YOLO.
const mosaicFill = 114

// Partner is an image that is mixed into another one.
type Partner struct {
	// Key names the image.
	Key string `json:"key"`
	// Weight is its share of the mixture and of its label, 0 to 1. [policy.Policy.DrawMixed] sets
	// it.
	Weight float64 `json:"weight"`
	// Width and Height are its size before Draw, upright, in pixels.
	Width  int `json:"width"`
	Height int `json:"height"`
	// Draw is applied to the image before it is mixed. [policy.Policy.DrawMixed] sets it.
	Draw Draw `json:"ops"`
	// Boxes are the boxes of the partner's objects, in pixels before Draw.
	// [policy.Policy.DrawMixed] passes them to iou_crop.
	Boxes []bitmap.Box `json:"-"`
	// Image is the result of Draw, with as many channels as the image that it is mixed with. Only
	// [Draw.Apply] needs it.
	Image *bitmap.Image `json:"-"`
}

// Mixture is the [Step] that mixes partners into the image: by mixup or cutmix (see
// [operation.Mix]), or by mosaic, which puts the corners of four images together (Bochkovskiy et
// al.: YOLOv4, 2020; with the geometry and fill of Ultralytics' Mosaic and the crop that follows
// it). Partners are resized with Bilinear and antialias.
type Mixture struct {
	// Method is "mixup", "cutmix" or "mosaic": the op in JSON.
	Method string `json:"-"`
	// Lambda is the weight of the image itself, 0 to 1. For a mixup it is the share of each pixel;
	// otherwise it is the share of the pixels that show an image.
	Lambda float64 `json:"lambda"`
	// Box is the area that the partner of a cutmix, resized to the size of the image, replaces: x,
	// y, width and height in pixels.
	Box [4]int `json:"box,omitzero"`
	// Size is the width and height of a mosaic, 2 to [bitmap.MaxSide], and Center where its images
	// meet, x and y of 1 to Size-1. The longer side of each image becomes Size. The image itself is
	// above and left of Center; then come its right and lower neighbours, and the one across.
	Size   int    `json:"size,omitzero"`
	Center [2]int `json:"center,omitzero"`
	// Partners are the other images: one, and three of a mosaic.
	Partners []Partner `json:"partners"`

	ofMasks bool  // images are masks: they are resized with Nearest
	fill    uint8 // of masks
}

func (s Mixture) op() string { return s.Method }

func (s Mixture) size(w, h int) (int, int) {
	if s.Method == Mosaic {
		return s.Size, s.Size
	}
	return w, h
}

func (s Mixture) validate() error {
	want := PartnersOf(s.Method)
	switch {
	case want == 0:
		return fmt.Errorf("%q is not a way to mix: want %s, %s or %s", s.Method, MixUp, CutMix, Mosaic)
	case len(s.Partners) != want:
		return fmt.Errorf("%s: %d partners: want %d", s.Method, len(s.Partners), want)
	case s.Method == Mosaic && (s.Size < 2 || s.Center[0] < 1 || s.Center[1] < 1 || s.Center[0] >= s.Size || s.Center[1] >= s.Size):
		return fmt.Errorf("%s: images of %d pixels meet at %d,%d: want 1 to size-1", s.Method, s.Size, s.Center[0], s.Center[1])
	case s.Method == Mosaic:
		if err := CheckResult(s.Method, s.Size, s.Size); err != nil {
			return err
		}
	}
	if x, y, w, h := s.Box[0], s.Box[1], s.Box[2], s.Box[3]; min(x, y, w, h) < 0 || max(x, y, w, h) > bitmap.MaxSourceSide {
		return fmt.Errorf("%s: a box of %dx%d pixels at %d,%d: want one within the image", s.Method, w, h, x, y)
	}
	weights := []float64{s.Lambda}
	for i := range s.Partners {
		p := &s.Partners[i]
		weights = append(weights, p.Weight)
		if p.Width < 1 || p.Height < 1 || p.Width > bitmap.MaxSourceSide || p.Height > bitmap.MaxSourceSide {
			return fmt.Errorf("%s: a partner of %dx%d pixels: want sides of 1 to %d", s.Method, p.Width, p.Height, bitmap.MaxSourceSide)
		}
		if MixtureAt(p.Draw) >= 0 {
			return fmt.Errorf("%s: its partner is a mixture itself", s.Method)
		}
	}
	for _, weight := range weights {
		if err := checkRange(s.Method, "weight", weight, 0, 1); err != nil {
			return err
		}
	}
	return nil
}

// PartnersOf returns how many partners a method has; 0 for none of that name.
func PartnersOf(method string) int {
	switch method {
	case MixUp, CutMix:
		return 1
	case Mosaic:
		return 3
	}
	return 0
}

func (s Mixture) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	scratch, free := workspace.Take(scratch)
	defer free()
	if s.Method == Mosaic {
		level := uint8(mosaicFill)
		if s.ofMasks {
			level = s.fill
		}
		bitmap.Fill(dst.Pix, []uint8{level})
		if err := s.paste(dst, src, 0, scratch); err != nil {
			return err
		}
	} else {
		bitmap.CopyRows(dst, src)
	}
	for i := range s.Partners {
		im, err := s.partner(i, src.Channels)
		if err == nil {
			err = s.paste(dst, im, i+1, scratch)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// partner returns the image of a partner.
func (s Mixture) partner(i, channels int) (*bitmap.Image, error) {
	p := &s.Partners[i]
	if p.Image == nil {
		return nil, fmt.Errorf("%s: the image of partner %q is missing", s.Method, p.Key)
	}
	if err := bitmap.CheckImage(p.Image); err != nil {
		return nil, fmt.Errorf("%s: partner %q: %w", s.Method, p.Key, err)
	}
	if w, h := p.Draw.Size(p.Width, p.Height); p.Image.Width != w || p.Image.Height != h || p.Image.Channels != channels {
		return nil, fmt.Errorf("%s: the image of partner %q is %dx%d with %d channels: want %dx%d with %d", s.Method, p.Key, p.Image.Width, p.Image.Height, p.Image.Channels, w, h, channels)
	}
	return p.Image, nil
}

// paste adds an image to the result: part 0 is the image itself, the others are partners.
func (s Mixture) paste(dst, im *bitmap.Image, part int, scratch *workspace.Scratch) error {
	w, h, x, y := s.location(part, im.Width, im.Height, dst.Width, dst.Height)
	if w != im.Width || h != im.Height {
		resized := &workspace.Of(scratch).Steps.Mixed
		if err := s.resize(w, h).apply(resized, im, scratch); err != nil {
			return fmt.Errorf("%s: %w", s.Method, err)
		}
		im = resized
	}
	switch s.Method {
	case MixUp:
		own, other := float32(s.Lambda), float32(1-s.Lambda)
		for y := range dst.Height {
			mixing.Bytes(dst.Row(y), im.Row(y), own, other)
		}
	case CutMix:
		x, y, w, h := s.Box[0], s.Box[1], s.Box[2], s.Box[3]
		if w > dst.Width-x || h > dst.Height-y {
			return errors.New("cutmix: the box is not within the image")
		}
		c := dst.Channels
		for row := y; row < y+h; row++ {
			copy(dst.Row(row)[c*x:c*(x+w)], im.Row(row)[c*x:])
		}
	default:
		c := dst.Channels
		left, right := max(x, 0), min(x+w, dst.Width)
		for row := max(y, 0); row < min(y+h, dst.Height); row++ {
			copy(dst.Row(row)[c*left:c*right], im.Row(row - y)[c*(left-x):])
		}
	}
	return nil
}

// resize is the step that a part is resized by.
func (s Mixture) resize(w, h int) ResizeTo {
	if s.ofMasks {
		return ResizeTo{Width: w, Height: h, Filter: resample.Nearest}
	}
	return ResizeTo{Width: w, Height: h, Antialias: true}
}

// location returns the size that a part of w x h pixels is resized to, and where its top left
// corner then is in the result, of toW x toH pixels.
func (s Mixture) location(part, w, h, toW, toH int) (width, height, x, y int) {
	if s.Method != Mosaic {
		return toW, toH, 0, 0
	}
	scaled := func(side int) int {
		return max(1, int(math.Round(float64(side)*float64(s.Size)/float64(max(w, h)))))
	}
	width, height = scaled(w), scaled(h)
	x, y = s.Center[0], s.Center[1]
	if part%2 == 0 {
		x -= width
	}
	if part < 2 {
		y -= height
	}
	return width, height, x, y
}

// steps returns the steps for a part of w x h pixels in a mixture of toW x toH.
func (s Mixture) steps(part, w, h, toW, toH int) []Step {
	var steps []Step
	width, height, x, y := s.location(part, w, h, toW, toH)
	if width != w || height != h {
		steps = append(steps, s.resize(width, height))
	}
	switch {
	case s.Method == Mosaic:
		steps = append(steps, CropBox{X: -x, Y: -y, W: toW, H: toH, Fill: [3]uint8{mosaicFill, mosaicFill, mosaicFill}})
	case s.Method == CutMix && s.Box[2] > 0 && s.Box[3] > 0:
		c := Cover{X: s.Box[0], Y: s.Box[1], W: s.Box[2], H: s.Box[3]}
		if part == 0 {
			return append(steps, c)
		}
		steps = append(steps, CropBox(c), CropBox{X: -c.X, Y: -c.Y, W: toW, H: toH})
	case s.Method == CutMix && part > 0: // nothing of it is visible
		steps = append(steps, Cover{W: toW, H: toH})
	}
	return steps
}
