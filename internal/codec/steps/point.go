package steps

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/workspace"
	"github.com/tfrec/tfrec/internal/exact"
)

// Invert makes each level v 255-v.
type Invert struct{}

func (s Invert) op() string { return "invert" }

func (s Invert) size(w, h int) (int, int) { return w, h }

func (s Invert) validate() error { return nil }

func (s Invert) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Invert) recolor(r *recolor.Recoloring) {
	var t recolor.Levels
	for v := range t {
		t[v] = uint8(255 - v)
	}
	r.Look(&t)
}

// Posterize keeps the highest bits of each level and clears the others, as
// Pillow's ImageOps.posterize.
type Posterize struct {
	// Bits is the number of bits that are kept, 0 to 8.
	Bits int `json:"bits"`
}

func (s Posterize) op() string { return "posterize" }

func (s Posterize) size(w, h int) (int, int) { return w, h }

func (s Posterize) validate() error {
	if s.Bits < 0 || s.Bits > 8 {
		return fmt.Errorf("%s: %d bits: want 0 to 8", s.op(), s.Bits)
	}
	return nil
}

func (s Posterize) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Posterize) recolor(r *recolor.Recoloring) {
	var t recolor.Levels
	for v := range t {
		t[v] = uint8(v >> (8 - s.Bits) << (8 - s.Bits))
	}
	r.Look(&t)
}

// Solarize inverts the levels that aren't below a threshold, as Pillow's
// ImageOps.solarize.
type Solarize struct {
	// Threshold is the lowest level that is inverted, 0 to 256.
	Threshold float64 `json:"threshold"`
}

func (s Solarize) op() string { return "solarize" }

func (s Solarize) size(w, h int) (int, int) { return w, h }

func (s Solarize) validate() error { return checkRange(s.op(), "threshold", s.Threshold, 0, 256) }

func (s Solarize) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Solarize) recolor(r *recolor.Recoloring) {
	var t recolor.Levels
	for v := range t {
		t[v] = uint8(v)
		if float64(v) >= s.Threshold {
			t[v] = uint8(255 - v)
		}
	}
	r.Look(&t)
}

// Gamma makes each level v, from 0 to 1, Gain times v to the power of Gamma, as
// torchvision's adjust_gamma does with Pillow images.
type Gamma struct {
	// Gamma below 1 makes dark levels lighter, above 1 darker; 0 to 1000.
	Gamma float64 `json:"gamma"`
	// Gain is the factor, 0 to 1000; 1 is none.
	Gain float64 `json:"gain"`
}

func (s Gamma) op() string { return "gamma" }

func (s Gamma) size(w, h int) (int, int) { return w, h }

func (s Gamma) validate() error {
	if err := checkRange(s.op(), "gamma", s.Gamma, 0, 1000); err != nil {
		return err
	}
	return checkRange(s.op(), "gain", s.Gain, 0, 1000)
}

func (s Gamma) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Gamma) recolor(r *recolor.Recoloring) {
	var t recolor.Levels
	for v := range t {
		// With 0.999, only a whole 1 becomes 255, and the conversion may truncate.
		t[v] = uint8(min(float64(float64(255.999*s.Gain)*exact.Pow(float64(v)/255, s.Gamma)), 255))
	}
	r.Look(&t)
}
