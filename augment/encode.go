package augment

import "slices"

// AppendRaw appends the image's samples to dst, row by row, pixel by pixel,
// channel by channel (HWC), with nothing between rows.
func AppendRaw(dst []byte, im *Image) []byte {
	dst = slices.Grow(dst, im.Width*im.Height*im.Channels)
	for y := range im.Height {
		dst = append(dst, im.Row(y)...)
	}
	return dst
}
