package augment

import "slices"

// Image is an image in memory: rows from the top, pixels from the left, one byte a sample.
// Its zero value is empty and ready for [Image.Reset].
type Image struct {
	// Pix holds the samples, interleaved: pixel (x, y) begins at y*Stride + x*Channels.
	Pix []uint8
	// Width and Height are in pixels.
	Width, Height int
	// Channels is 1 (grayscale) or 3 (RGB).
	Channels int
	// Stride is the number of bytes from one row to the next, at least Width*Channels.
	Stride int
}

// Reset makes im an image of w by h pixels with the given channels and no gap between rows. It
// reuses the memory if it is large enough; the pixels are then undefined.
func (im *Image) Reset(w, h, channels int) {
	n := w * h * channels
	if cap(im.Pix) < n {
		im.Pix = make([]uint8, n)
	}
	im.Pix = im.Pix[:n]
	im.Width, im.Height, im.Channels, im.Stride = w, h, channels, w*channels
}

// Row is row y, without padding before the next one. It aliases Pix.
func (im *Image) Row(y int) []uint8 {
	return im.Pix[y*im.Stride:][:im.Width*im.Channels]
}

// AppendRaw appends the image's samples to dst, row by row, pixel by pixel,
// channel by channel (HWC), with nothing between rows.
func AppendRaw(dst []byte, im *Image) []byte {
	dst = slices.Grow(dst, im.Width*im.Height*im.Channels)
	for y := range im.Height {
		dst = append(dst, im.Row(y)...)
	}
	return dst
}
