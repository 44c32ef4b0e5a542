package augment

import (
	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/recolor"
)

// Limits on images.
const (
	// MaxSide is the longest side of a resized image, in pixels.
	MaxSide = bitmap.MaxSide
	// MaxSourceSide is the longest side of an image that is decoded or resized, in pixels.
	MaxSourceSide = bitmap.MaxSourceSide
)

// Image is an image in memory: rows from the top, pixels from the left, one byte a sample. Pix
// holds the samples, interleaved: pixel (x, y) begins at y*Stride + x*Channels. Width and Height
// are in pixels, Channels is 1 (grayscale) or 3 (RGB), and Stride is the number of bytes from one
// row to the next, at least Width*Channels.
//
// Its zero value is empty and ready for Reset(w, h, channels), which makes it an image of that size
// with undefined pixels and reuses the memory if it is large enough. Row(y) is a row, without
// padding; it aliases Pix.
type Image = bitmap.Image

// Planes is a colour image as JPEG stores it, in YCbCr: BT.601 over the full range. An image that
// is read from JPEG, only resized, cropped or padded, and written to JPEG needs no RGB: that saves
// upsampling the chroma, two conversions and half of the resizing.
//
//	if info, err := codec.Stat(data); err == nil && codec.TakesPlanes(info) && spec.TakesPlanes() {
//		var o augment.DecodeOptions
//		o.MinWidth, o.MinHeight = spec.MinDecode(info.Width, info.Height)
//		_, err = codec.DecodePlanes(&src, data, o)
//		…
//		err = spec.RenderPlanes(&dst, &src, spec.Geometry(info.Width, info.Height), "420", &scratch)
//		…
//		out, err = codec.AppendJPEGPlanes(out[:0], &dst, 95)
//	}
//
// Y is the luma, Cb and Cr are the chroma, each an [Image] of one channel. Subsampling is "420",
// "422", "440" or "444". Width and Height are the image's size in pixels, and Denom is 1, 2, 4 or
// 8: a sample of Y represents Denom x Denom of these. RGB converts the planes to an Image. The zero
// value is empty and ready to be decoded or rendered into.
type Planes = bitmap.Planes

// Normalize maps samples to numbers, (x/255 - Mean) / Std for each channel. The zero value maps
// them to x/255, from 0 to 1: a Std of 0 counts as 1. Grayscale images use the first value of each.
// Of returns the number for a sample, as NumPy and torchvision compute it.
type Normalize = bitmap.Normalize

// ToGray makes dst the grayscale image of src, by the weights of Pillow's convert("L"). dst reuses
// its memory and may be src itself, which is then changed in place.
func ToGray(dst, src *Image) error { return recolor.ToGray(dst, src) }

// ToRGB makes dst the RGB image of src: each gray level three times, as Pillow's convert("RGB").
// dst reuses its memory and must not share it with src.
func ToRGB(dst, src *Image) error { return recolor.ToRGB(dst, src) }

// AppendRaw appends the image's samples to dst, row by row, pixel by pixel, channel by channel
// (HWC), with nothing between rows.
func AppendRaw(dst []byte, im *Image) []byte { return bitmap.AppendRaw(dst, im) }

// AppendFloat32 appends the image's samples to dst as float32 in little-endian order, row by row,
// pixel by pixel, channel by channel (HWC), with nothing between rows.
func AppendFloat32(dst []byte, im *Image, n Normalize) []byte {
	return bitmap.AppendFloat32(dst, im, n)
}

// AppendPNG appends the image to dst as a PNG of 8 bits a sample, grayscale or RGB, not interlaced.
// The bytes depend only on the pixels, and on the encoder that [PNGEncoder] names.
func AppendPNG(dst []byte, im *Image) ([]byte, error) { return imagefile.AppendPNG(dst, im) }

// PNGEncoder names everything except the pixels that determines the bytes of [AppendPNG], such as
// "png tfrec 1". It changes when the bytes do.
func PNGEncoder() string { return imagefile.PNGEncoder() }
