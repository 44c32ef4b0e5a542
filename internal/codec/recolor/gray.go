package recolor

import (
	"errors"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
)

// Luminance is Pillow's conversion from RGB to L: ITU-R 601-2 luma in 16 bits of
// fraction, rounded.
func Luminance(r, g, b uint8) uint8 {
	return uint8((19595*uint32(r) + 38470*uint32(g) + 7471*uint32(b) + 1<<15) >> 16)
}

// ToGray makes dst the grayscale image of src, by the weights of Pillow's
// convert("L"). dst reuses its memory and may be src itself, which is then
// changed in place.
func ToGray(dst, src *bitmap.Image) error {
	if err := bitmap.CheckImage(src); err != nil {
		return err
	}
	in := *src
	if dst != src {
		dst.Reset(in.Width, in.Height, 1)
	} else {
		dst.Channels, dst.Stride = 1, in.Width
		dst.Pix = in.Pix[:in.Width*in.Height]
	}
	for y := range in.Height {
		from, to := in.Row(y), dst.Row(y)
		if in.Channels == 1 {
			copy(to, from)
			continue
		}
		LuminanceRow(to, from)
	}
	return nil
}

// ToRGB makes dst the RGB image of src: each gray level three times, as Pillow's convert("RGB").
// dst reuses its memory and must not share it with src.
func ToRGB(dst, src *bitmap.Image) error {
	if dst == src {
		return errors.New("to RGB: the result must not be the source itself")
	}
	if err := bitmap.CheckImage(src); err != nil {
		return err
	}
	dst.Reset(src.Width, src.Height, 3)
	for y := range src.Height {
		from, to := src.Row(y), dst.Row(y)
		if src.Channels == 3 {
			copy(to, from)
			continue
		}
		for x, v := range from {
			p := to[3*x : 3*x+3]
			p[0], p[1], p[2] = v, v, v
		}
	}
	return nil
}

// PlanesColor converts RGB as libjpeg does (jccolor.c), in 16 bits of fraction.
func PlanesColor(rgb [3]uint8) [3]uint8 {
	r, g, b := int32(rgb[0]), int32(rgb[1]), int32(rgb[2])
	return [3]uint8{
		Luminance(rgb[0], rgb[1], rgb[2]),
		uint8((-11059*r - 21709*g + 32768*b + 128<<16 + 1<<15 - 1) >> 16),
		uint8((32768*r - 27439*g - 5329*b + 128<<16 + 1<<15 - 1) >> 16),
	}
}

// Shade is a colour as the image's channels have it: itself in RGB, its
// luminance in grayscale. The result aliases c.
func Shade(c *[3]uint8, channels int) []uint8 {
	if channels == 1 {
		c[0] = Luminance(c[0], c[1], c[2])
	}
	return c[:channels]
}
