package imagefile

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/codec/png"
)

// AppendDeepPNG decodes an image whose samples have more than 8 bits ([Info.Deep]) and appends it
// to dst as a PNG of 16 bits a sample: upright, gray or RGB, with the colours under transparency,
// as [Codec.Decode] gives them. Samples of fewer bits are scaled to 16. Errors of decoding wrap one
// of the package's sentinels. Memory is up to 12 bytes a pixel, in addition to the file's.
func (c *Codec) AppendDeepPNG(dst, data []byte) ([]byte, Info, error) {
	h, err := c.header(data)
	if err != nil {
		return dst, h.Info, err
	}
	if !h.Deep || c.background != nil {
		return dst, h.Info, fmt.Errorf("a PNG of 16 bits a sample: the %s has fewer, or a background", h.Format)
	}
	im := c.takeScratch()
	defer c.keepScratch(im)
	if err := c.decodeUpright(im, data, &h, DecodeOptions{Channels: h.Channels, deep: true}); err != nil {
		return dst, h.Info, err
	}
	out, err := appendPNG(dst, png.Pixels{Pix: im.Pix, Width: im.Width, Height: im.Height, Channels: h.Channels, Depth: 16, Stride: im.Stride})
	return out, h.Info, err
}
