package bitmap

import (
	"fmt"
	"slices"
)

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

// Fill repeats the pattern all over pix, whose length is a multiple of its.
func Fill(pix, pattern []uint8) {
	for n := copy(pix, pattern); n < len(pix); n *= 2 {
		copy(pix[n:], pix[:n])
	}
}

// CheckImage returns an error if the fields of the image don't fit together.
func CheckImage(im *Image) error {
	switch {
	case im.Channels != 1 && im.Channels != 3:
		return fmt.Errorf("image of %d channels: want 1 or 3", im.Channels)
	case im.Width < 1 || im.Height < 1:
		return fmt.Errorf("image of %dx%d pixels", im.Width, im.Height)
	case im.Stride/im.Channels < im.Width:
		return fmt.Errorf("image %d pixels wide with a stride of %d bytes", im.Width, im.Stride)
	case len(im.Pix) < im.Width*im.Channels || (len(im.Pix)-im.Width*im.Channels)/im.Stride < im.Height-1:
		return fmt.Errorf("image of %dx%d pixels with %d bytes", im.Width, im.Height, len(im.Pix))
	}
	return nil
}

// CopyRows copies the pixels of an image to one of the same size.
func CopyRows(dst, src *Image) {
	for y := range src.Height {
		copy(dst.Row(y), src.Row(y))
	}
}

// CopyPixel copies one pixel of 1 or 3 channels.
func CopyPixel(dst, src []uint8, channels int) {
	if channels == 1 {
		dst[0] = src[0]
		return
	}
	dst, src = dst[:3], src[:3]
	dst[0], dst[1], dst[2] = src[0], src[1], src[2]
}
