package steps

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// HFlip swaps left and right.
type HFlip struct{}

func (s HFlip) op() string { return "hflip" }

func (s HFlip) size(w, h int) (int, int) { return w, h }

func (s HFlip) validate() error { return nil }

func (s HFlip) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	for y := range src.Height {
		mirror(dst.Row(y), src.Row(y), src.Channels)
	}
	return nil
}

// VFlip swaps top and bottom.
type VFlip struct{}

func (s VFlip) op() string { return "vflip" }

func (s VFlip) size(w, h int) (int, int) { return w, h }

func (s VFlip) validate() error { return nil }

func (s VFlip) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	for y := range src.Height {
		copy(dst.Row(src.Height-1-y), src.Row(y))
	}
	return nil
}

// mirror writes the pixels of a row in the opposite order.
func mirror(dst, src []uint8, channels int) {
	if channels == 1 {
		for i, v := range src {
			dst[len(dst)-1-i] = v
		}
		return
	}
	for ; len(src) >= 3 && len(dst) >= 3; src, dst = src[3:], dst[:len(dst)-3] {
		to := dst[len(dst)-3:]
		to[0], to[1], to[2] = src[0], src[1], src[2]
	}
}
