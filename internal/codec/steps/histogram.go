package steps

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// Equalize spreads the levels of each channel so that all occur about as often,
// as Pillow's ImageOps.equalize and torchvision's equalize.
type Equalize struct{}

func (s Equalize) op() string { return "equalize" }

func (s Equalize) size(w, h int) (int, int) { return w, h }

func (s Equalize) validate() error { return nil }

func (s Equalize) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s Equalize) recolor(r *recolor.Recoloring) {
	var h recolor.Histogram
	h.Of(r)
	var t recolor.ChannelLevels
	for c := range r.From.Channels {
		t[c] = recolor.Equalized(&h[c])
	}
	r.LookEach(&t)
}

// AutoContrast stretches the levels of each channel so that the darkest becomes
// 0 and the lightest 255, as Pillow's ImageOps.autocontrast and torchvision's
// autocontrast.
type AutoContrast struct{}

func (s AutoContrast) op() string { return "autocontrast" }

func (s AutoContrast) size(w, h int) (int, int) { return w, h }

func (s AutoContrast) validate() error { return nil }

func (s AutoContrast) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	return applyColor(s, dst, src, scratch)
}

func (s AutoContrast) recolor(r *recolor.Recoloring) {
	var h recolor.Histogram
	h.Of(r)
	var t recolor.ChannelLevels
	for c := range r.From.Channels {
		t[c] = recolor.Stretched(&h[c])
	}
	r.LookEach(&t)
}
