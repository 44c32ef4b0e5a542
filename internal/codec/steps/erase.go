package steps

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// Erase replaces a box by a colour, as torchvision's erase, or by noise.
type Erase struct {
	// X and Y are the top left corner of the box, in pixels, W and H its size, at least 1. Parts
	// outside the image are ignored.
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
	// Value is the colour, in RGB; grayscale images get its luminance.
	Value [3]uint8 `json:"value,omitzero"`
	// Noise uses random samples instead of Value, uniformly distributed and determined by Seed.
	// (torchvision's are normally distributed, which is of use only after it has normalized the
	// image.)
	Noise bool   `json:"noise,omitzero"`
	Seed  uint64 `json:"seed,omitzero"`
}

func (s Erase) op() string { return "erase" }

func (s Erase) size(w, h int) (int, int) { return w, h }

func (s Erase) validate() error { return checkBox(s.op(), s.X, s.Y, s.W, s.H) }

func (s Erase) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	bitmap.CopyRows(dst, src)
	left, right := max(s.X, 0), min(s.X+s.W, src.Width)
	top, bottom := max(s.Y, 0), min(s.Y+s.H, src.Height)
	if left >= right {
		return nil
	}
	random := splitMix(s.Seed)
	color := recolor.Shade(&s.Value, dst.Channels)
	for y := top; y < bottom; y++ {
		row := dst.Row(y)[left*dst.Channels : right*dst.Channels]
		if s.Noise {
			random.fill(row)
		} else {
			bitmap.Fill(row, color)
		}
	}
	return nil
}

// fill writes random bytes, eight for each 64 bits. It discards surplus bytes of the last 64 bits.
func (s *splitMix) fill(row []uint8) {
	for len(row) > 0 {
		bits := s.next()
		n := min(8, len(row))
		for i := range n {
			row[i] = uint8(bits >> (8 * i))
		}
		row = row[n:]
	}
}
