package imagefile

import (
	"fmt"
	"image"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/sniff"
	"github.com/tfrec/tfrec/internal/codec/tiff"
)

// DecodeOptions configure decoding. The zero value decodes at full size, with the stored channels.
type DecodeOptions struct {
	// Channels is 1 for grayscale, 3 for RGB, 0 for whichever the image is.
	Channels int
	// MinWidth and MinHeight, both above 0, let a JPEG be decoded at 1/2, 1/4 or 1/8 of its size,
	// if neither side of the upright result is then shorter than this.
	MinWidth, MinHeight int
	// Trusted asserts that the bytes were checked for damage before and are unchanged, as a
	// record's checksum proves. With Part, no decoder then searches the data after the part for
	// damage. Without Part it has no effect.
	Trusted bool
	// Part, unless empty, is the part of the image, in pixels at full size, whose samples
	// [Codec.DecodePlanes] must decode. Other samples are then undefined. [Codec.Decode] ignores
	// it.
	Part image.Rectangle
	// Spare, if not nil, gives processors that may help to decode a large JPEG, of a megapixel or
	// more with restart markers and of three without: the built-in decoder takes what TryAcquire
	// grants, and returns each by Release. The pixels and the verdict don't depend on it. The
	// goroutines together take up to the size of the file more memory, and 2 MiB each. Default: an
	// image is decoded by the calling goroutine.
	Spare interface {
		TryAcquire() bool
		Release()
	}

	// mirrored reports that the last column or row of the image won't be the last one of the
	// upright image, so it must not represent fewer pixels than the others.
	mirrored bool
	// mask is DecodeMask.
	mask bool
	// deep makes samples of 16 bits, the upper byte first, of an image that has them: the result is
	// an Image with twice as many channels.
	deep bool
}

// bytes returns the bytes of a pixel of the result.
func (o *DecodeOptions) bytes() int {
	if o.deep {
		return 2 * o.Channels
	}
	return o.Channels
}

// Decode decodes an image into dst, upright, reusing its memory. It returns what [Codec.Stat]
// returns; the size of the result is dst's. After an error the contents of dst are undefined.
// Errors wrap one of the package's sentinels.
func (c *Codec) Decode(dst *bitmap.Image, data []byte, o DecodeOptions) (Info, error) {
	if o.Channels != 0 && o.Channels != 1 && o.Channels != 3 {
		return Info{}, fmt.Errorf("decoding to %d channels: give 0, 1 or 3", o.Channels)
	}
	h, err := c.header(data)
	if err != nil {
		return h.Info, err
	}
	if o.mask && !h.Mask {
		return h.Info, sniff.Unsupported(h.Format, "its samples are not classes: %s", wantMask)
	}
	if c.background != nil && h.Alpha {
		h.Channels = 3 // the background may have a colour
	}
	if o.Channels == 0 {
		o.Channels = h.Channels
	}
	return h.Info, c.decodeUpright(dst, data, &h, o)
}

// decodeUpright is Decode after the header. Channels is 1 or 3.
func (c *Codec) decodeUpright(dst *bitmap.Image, data []byte, h *header, o DecodeOptions) error {
	if h.Orientation == 1 {
		return c.decode(dst, data, h, o)
	}
	tmp := c.takeScratch()
	defer c.keepScratch(tmp)
	if h.Orientation >= 5 {
		o.MinWidth, o.MinHeight = o.MinHeight, o.MinWidth
	}
	o.mirrored = h.Orientation != 5
	if err := c.decode(tmp, data, h, o); err != nil {
		return err
	}
	bitmap.Orient(dst, tmp, h.Orientation)
	return nil
}

// Check decodes an image only as far as needed to detect damage.
func (c *Codec) Check(data []byte) (Info, error) {
	h, err := c.header(data)
	if err != nil {
		return h.Info, err
	}
	return h.Info, c.check(data, &h)
}

// CheckJPEG is Check for a JPEG, with its header. Other formats are unsupported.
func CheckJPEG(c *Codec, data []byte) (Info, jpeg.Header, error) {
	h, err := c.header(data)
	if err == nil && h.Format != sniff.JPEG {
		err = sniff.Unsupported(h.Format, "a task wants it decoded, or a JPEG")
	}
	if err == nil {
		err = c.check(data, &h)
	}
	return h.Info, h.jpeg, err
}

// check is Check after the header.
func (c *Codec) check(data []byte, h *header) error {
	if h.Format == sniff.JPEG && h.jpeg.Huffman() {
		if err := c.jpeg.Supports(&h.jpeg); err != nil {
			return err
		}
		return jpeg.Check(data, &h.jpeg)
	}
	tmp := c.takeScratch()
	defer c.keepScratch(tmp)
	return c.decode(tmp, data, h, DecodeOptions{Channels: h.Channels})
}

// decode decodes as stored, without regard to orientation. Channels is 1 or 3.
func (c *Codec) decode(dst *bitmap.Image, data []byte, h *header, o DecodeOptions) (err error) {
	if h.Format == sniff.JPEG {
		return c.decodeJPEG(dst, data, &h.jpeg, o)
	}
	// Most of the decoders below are from other modules and have panicked on odd input.
	defer sniff.Recovered(h.Format, &err)
	switch h.Format {
	case sniff.PNG:
		err = c.decodePNG(dst, data, h, o)
	case sniff.GIF:
		err = c.decodeGIF(dst, data, h, o.Channels)
	case sniff.BMP:
		err = h.bmp.Decode(dst, data, o.Channels, o.deep, c.background)
	case sniff.WebP:
		err = c.decodeWebP(dst, data, h, o.Channels)
	case sniff.TIFF:
		err = tiff.Decode(dst, data, &h.tiff, tiff.Options{Channels: o.Channels, Deep: o.deep, Background: c.background, Floats: c.floatRange})
	}
	return err
}

func (c *Codec) decodeJPEG(dst *bitmap.Image, data []byte, h *jpeg.Header, o DecodeOptions) error {
	if err := c.jpeg.Supports(h); err != nil {
		return err
	}
	if h.Arithmetic() || !h.Plausible(len(data)) { // find unsupported features before allocating
		if err := jpeg.Check(data, h); err != nil || h.Huffman() {
			return err
		}
	}
	r := jpeg.Request{Format: jpeg.RGB, Spare: o.Spare}
	if o.Channels == 1 {
		r.Format = jpeg.Gray
	}
	r.Denom = c.reduction(h, r.Format, o)
	w, ht := h.Scaled(r.Denom)
	dst.Reset(w, ht, o.Channels)
	return c.jpeg.Decode(dst.Pix, dst.Stride, data, h, r)
}

// reduction is the part of its size, as 1/1, 1/2, 1/4 or 1/8, at which a JPEG is decoded.
func (c *Codec) reduction(h *jpeg.Header, format jpeg.Format, o DecodeOptions) (denom int) {
	if o.MinWidth > 0 && o.MinHeight > 0 {
		for denom := 8; denom > 1; denom /= 2 {
			if o.mirrored && (h.Width%denom != 0 || h.Height%denom != 0) {
				continue
			}
			if w, ht := h.Scaled(denom); w >= o.MinWidth && ht >= o.MinHeight && c.jpeg.Reduces(h, format, denom) {
				return denom
			}
		}
	}
	return 1
}

// convert writes a decoder's image to dst.
func (c *Codec) convert(dst *bitmap.Image, m image.Image, h *header, channels int) error {
	if err := h.checkDecoded(m); err != nil {
		return err
	}
	read, err := rowReader(m)
	if err != nil {
		return sniff.Unsupported(h.Format, "%v", err)
	}
	dst.Reset(h.Width, h.Height, channels)
	row := make([]byte, 4*h.Width)
	for y := range h.Height {
		read(row, y)
		if c.background != nil {
			recolor.LayOn(row, *c.background)
		}
		recolor.FillRow(dst.Row(y), row, channels)
	}
	return nil
}

// checkDecoded checks that a decoded image has the size in the header.
func (h *header) checkDecoded(m image.Image) error {
	if b := m.Bounds(); b.Dx() != h.Width || b.Dy() != h.Height {
		return sniff.Damaged(h.Format, "%dx%d were announced, %dx%d came", h.Width, h.Height, b.Dx(), b.Dy())
	}
	return nil
}
