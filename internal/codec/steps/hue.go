package steps

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// Hue rotates the colours of the image on the colour wheel, through Pillow's HSV of 8 bits a
// channel as torchvision's adjust_hue does with Pillow images: the bytes are the same, including
// the losses of converting to HSV and back, even with a factor of 0. A grayscale image is
// unchanged.
type Hue struct {
	// Factor is the part of a full turn, -0.5 to 0.5. It is truncated to a multiple of 1/255.
	Factor float64 `json:"factor"`
}

func (s Hue) op() string { return "hue" }

func (s Hue) size(w, h int) (int, int) { return w, h }

func (s Hue) validate() error { return checkRange(s.op(), "factor", s.Factor, -0.5, 0.5) }

func (s Hue) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Hue) recolor(r *recolor.Recoloring) {
	if r.From.Channels == 3 {
		r.Pixels(recolor.Turn).Turn = uint8(int(float64(s.Factor * 255)))
	}
}
