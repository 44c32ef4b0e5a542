package steps

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// Brightness mixes the image with black, as Pillow's ImageEnhance.Brightness
// and torchvision's adjust_brightness.
type Brightness struct {
	// Factor is 0 for black, 1 for the unchanged image, above for brighter.
	Factor float64 `json:"factor"`
}

func (s Brightness) op() string { return "brightness" }

func (s Brightness) size(w, h int) (int, int) { return w, h }

func (s Brightness) validate() error { return checkFactor(s.op(), s.Factor) }

func (s Brightness) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Brightness) recolor(r *recolor.Recoloring) {
	var b recolor.Blender
	b.Fill(s.Factor)
	t := b.From(0)
	r.Look(&t)
}

// Contrast mixes the image with the mean of its luminance, as Pillow's
// ImageEnhance.Contrast and torchvision's adjust_contrast.
type Contrast struct {
	// Factor is 0 for plain gray, 1 for the unchanged image, above for more contrast.
	Factor float64 `json:"factor"`
}

func (s Contrast) op() string { return "contrast" }

func (s Contrast) size(w, h int) (int, int) { return w, h }

func (s Contrast) validate() error { return checkFactor(s.op(), s.Factor) }

func (s Contrast) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Contrast) recolor(r *recolor.Recoloring) {
	var b recolor.Blender
	b.Fill(s.Factor)
	t := b.From(r.MeanLuminance())
	r.Look(&t)
}

// Saturation mixes the image with its grayscale version, as Pillow's ImageEnhance.Color and
// torchvision's adjust_saturation. A grayscale image is unchanged.
type Saturation struct {
	// Factor is 0 for grayscale, 1 for the unchanged image, above for more colour.
	Factor float64 `json:"factor"`
}

func (s Saturation) op() string { return "saturation" }

func (s Saturation) size(w, h int) (int, int) { return w, h }

func (s Saturation) validate() error { return checkFactor(s.op(), s.Factor) }

func (s Saturation) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Saturation) recolor(r *recolor.Recoloring) {
	if r.From.Channels == 3 {
		r.Pixels(recolor.Mix).Mix.Fill(s.Factor)
	}
}

// Grayscale gives each pixel its luminance, by the weights of [recolor.ToGray], in as
// many channels as it has.
type Grayscale struct{}

func (s Grayscale) op() string { return "grayscale" }

func (s Grayscale) size(w, h int) (int, int) { return w, h }

func (s Grayscale) validate() error { return nil }

func (s Grayscale) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Grayscale) recolor(r *recolor.Recoloring) {
	if r.From.Channels == 3 {
		r.Pixels(recolor.Gray)
	}
}
