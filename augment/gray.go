package augment

import "errors"

// luminance is Pillow's conversion from RGB to L: ITU-R 601-2 luma in 16 bits of
// fraction, rounded.
func luminance(r, g, b uint8) uint8 {
	return uint8((19595*uint32(r) + 38470*uint32(g) + 7471*uint32(b) + 1<<15) >> 16)
}

// ToGray makes dst the grayscale image of src, by the weights of Pillow's
// convert("L"). dst reuses its memory and may be src itself, which is then
// changed in place.
func ToGray(dst, src *Image) error {
	if err := src.check(); err != nil {
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
		luminanceRow(to, from)
	}
	return nil
}

// ToRGB makes dst the RGB image of src: each gray level three times, as Pillow's convert("RGB").
// dst reuses its memory and must not share it with src.
func ToRGB(dst, src *Image) error {
	if dst == src {
		return errors.New("to RGB: the result must not be the source itself")
	}
	if err := src.check(); err != nil {
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
