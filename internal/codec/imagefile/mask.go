package imagefile

import "github.com/tfrec/tfrec/internal/codec/bitmap"

// wantMask is part of the errors about masks.
const wantMask = "want a PNG, grayscale with up to 8 bits a sample or with a palette"

// DecodeMask decodes a mask, an image whose samples are the classes of its pixels, into dst, with
// one channel and upright. The classes are the stored samples of a grayscale PNG, without scaling
// 1, 2 or 4 bits to 255, or the indexes of a PNG with a palette. Images without [Info.Mask] return
// ErrUnsupported: JPEG is lossy, samples of 16 bits may not fit, and colors are not classes.
func (c *Codec) DecodeMask(dst *bitmap.Image, data []byte) (Info, error) {
	return c.Decode(dst, data, DecodeOptions{Channels: 1, mask: true})
}
