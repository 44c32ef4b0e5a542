package imagefile

import (
	"fmt"
	"sync"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/png"
)

var pngEncoders = sync.Pool{New: func() any { return new(png.Encoder) }}

// AppendPNG appends the image to dst as a PNG of 8 bits a sample, grayscale or RGB, not interlaced.
// The bytes depend only on the pixels, and on the encoder that [PNGEncoder] names.
func AppendPNG(dst []byte, im *bitmap.Image) ([]byte, error) {
	if err := bitmap.CheckImage(im); err != nil {
		return dst, fmt.Errorf("encode as PNG: %w", err)
	}
	return appendPNG(dst, png.Pixels{Pix: im.Pix, Width: im.Width, Height: im.Height, Channels: im.Channels, Depth: 8, Stride: im.Stride})
}

func appendPNG(dst []byte, im png.Pixels) ([]byte, error) {
	e := pngEncoders.Get().(*png.Encoder)
	defer pngEncoders.Put(e)
	defer e.Release()
	out, err := e.Append(dst, im)
	if err != nil {
		return out, fmt.Errorf("encode as PNG: %w", err)
	}
	return out, nil
}

// PNGEncoder names everything except the pixels that determines the bytes of [AppendPNG], such as
// "png tfrec 1". It changes when the bytes do.
func PNGEncoder() string { return png.EncoderName }
