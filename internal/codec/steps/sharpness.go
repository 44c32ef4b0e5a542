package steps

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// Sharpness mixes the image with a smoothed one, as Pillow's ImageEnhance.Sharpness and
// torchvision's adjust_sharpness. Pixels at the edge stay unchanged, and so do images of less than
// 3 pixels a side.
type Sharpness struct {
	// Factor is 0 for the smoothed image, 1 for the unchanged image, above for a sharper one.
	Factor float64 `json:"factor"`
}

func (s Sharpness) op() string { return "sharpness" }

func (s Sharpness) size(w, h int) (int, int) { return w, h }

func (s Sharpness) validate() error { return checkFactor(s.op(), s.Factor) }

func (s Sharpness) apply(dst, src *bitmap.Image, scratch *workspace.Scratch) error {
	if err := begin(s, dst, src); err != nil {
		return err
	}
	if src.Width < 3 || src.Height < 3 {
		bitmap.CopyRows(dst, src)
		return nil
	}
	var b recolor.Blender
	b.Fill(s.Factor)
	scratch, free := workspace.Take(scratch)
	defer free()
	n := src.Width * src.Channels
	workspace.Of(scratch).Steps.Sums = bitmap.Room(workspace.Of(scratch).Steps.Sums, n)
	copy(dst.Row(0), src.Row(0))
	for y := 1; y < src.Height-1; y++ {
		sharpenRow(dst.Row(y), src.Row(y-1), src.Row(y), src.Row(y+1), workspace.Of(scratch).Steps.Sums, &b, src.Channels)
	}
	copy(dst.Row(src.Height-1), src.Row(src.Height-1))
	return nil
}

// sharpenRow mixes a row with the smoothed one: each sample five times and its
// eight neighbours once, over 13. The sums of the columns go to sums.
func sharpenRow(dst, above, row, below []uint8, sums []uint16, b *recolor.Blender, channels int) {
	n := len(row)
	above, below, sums, dst = above[:n], below[:n], sums[:n], dst[:n]
	for i, v := range row {
		sums[i] = uint16(above[i]) + uint16(v) + uint16(below[i])
	}
	copy(dst, row[:channels])
	copy(dst[n-channels:], row[n-channels:])
	m := n - 2*channels
	left, here, right := sums[:m], sums[channels:][:m], sums[2*channels:][:m]
	out := dst[channels:][:m]
	for i, v := range row[channels:][:m] {
		sum := uint32(left[i]) + uint32(here[i]) + uint32(right[i]) + 4*uint32(v)
		out[i] = b.Mix(uint8((2*sum+13)/26), v)
	}
}
