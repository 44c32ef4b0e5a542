package augment

import (
	"bytes"
	"errors"
	"image"
	"math"

	"golang.org/x/image/tiff"
)

// Photometric interpretations and sample formats of TIFF.
const (
	tiffWhiteIsZero = 0
	tiffBlackIsZero = 1
	tiffCMYK        = 5

	tiffFloat = 3
)

func (h *header) statTIFF(data []byte) error {
	d, ok := openTIFF(data)
	if !ok {
		return damaged(TIFF, "no directory")
	}
	h.Width, h.Height = d.number(tagWidth, 0, 0), d.number(tagHeight, 0, 0)
	h.Orientation = d.orientation()
	if d.number(tagPhotometric, 0, 2) <= tiffBlackIsZero && d.number(tagSamples, 0, 1) <= 2 {
		h.Channels = 1
	}
	h.alpha = d.number(tagExtra, 0, 0) != 0
	return nil
}

func (c *Codec) decodeTIFF(dst *Image, data []byte, h *header, channels int) error {
	d, ok := openTIFF(data)
	if !ok {
		return damaged(TIFF, "no directory")
	}
	var m image.Image
	var err error
	if raw := d.raw(); raw != nil {
		m, err = raw(h.Width, h.Height)
	} else {
		m, err = tiff.Decode(bytes.NewReader(data))
	}
	var u tiff.UnsupportedError
	switch {
	case errors.As(err, &u):
		return unsupported(TIFF, "%v", err)
	case err != nil:
		return damaged(TIFF, "%v", err)
	}
	return c.convert(dst, m, h, channels)
}

// raw gives the reader for kinds of pixels that golang.org/x/image/tiff lacks: CMYK, gray of 2
// or 4 bits, gray as 32-bit floats. It is nil for all others.
func (d *tiffDirectory) raw() func(w, h int) (image.Image, error) {
	photometric, bits := d.number(tagPhotometric, 0, 2), d.number(tagBits, 0, 1)
	samples, float := d.number(tagSamples, 0, 1), d.number(tagFormat, 0, 1) == tiffFloat
	if d.number(tagPlanar, 0, 1) != 1 || d.number(tagPredictor, 0, 1) != 1 {
		return nil
	}
	switch gray := photometric <= tiffBlackIsZero && samples == 1; {
	case photometric == tiffCMYK && samples == 4 && bits == 8:
		return d.cmyk
	case gray && float && bits == 32:
		return d.floats
	case gray && !float && (bits == 2 || bits == 4):
		return func(w, h int) (image.Image, error) {
			return d.nibbles(w, h, bits, photometric == tiffWhiteIsZero)
		}
	}
	return nil
}

// samples decodes a copy of the file that pretends to be gray, each pixel n samples of so many
// bits side by side: the compression is undone, the samples stay as they are.
func (d *tiffDirectory) samples(w, n, bits int) (*image.Gray, error) {
	lie := tiffDirectory{data: bytes.Clone(d.data), order: d.order}
	lie.entries = lie.data[d.at:][:len(d.entries)]
	lie.set(tagWidth, w*n)
	lie.set(tagTileWidth, d.number(tagTileWidth, 0, 0)*n)
	lie.set(tagBits, bits)
	lie.set(tagSamples, 1)
	lie.set(tagFormat, 1)
	lie.set(tagPhotometric, tiffBlackIsZero)
	m, err := tiff.Decode(bytes.NewReader(lie.data))
	if err != nil {
		return nil, err
	}
	gray, ok := m.(*image.Gray)
	if !ok {
		return nil, tiff.UnsupportedError("layout")
	}
	return gray, nil
}

// set makes the value of a tag, where there is such a tag, one number.
func (d *tiffDirectory) set(tag, value int) {
	for e := d.entries; len(e) >= 12; e = e[12:] {
		if int(d.order.Uint16(e)) == tag {
			d.order.PutUint16(e[2:], 4)
			d.order.PutUint32(e[4:], 1)
			d.order.PutUint32(e[8:], uint32(value))
		}
	}
}

func (d *tiffDirectory) cmyk(w, h int) (image.Image, error) {
	m, err := d.samples(w, 4, 8)
	if err != nil {
		return nil, err
	}
	return &image.CMYK{Pix: m.Pix, Stride: m.Stride, Rect: image.Rect(0, 0, w, h)}, nil
}

// nibbles reads gray of 2 or 4 bits.
func (d *tiffDirectory) nibbles(w, h, bits int, inverted bool) (image.Image, error) {
	m, err := d.samples(w, bits, 1)
	if err != nil {
		return nil, err
	}
	out := image.NewGray(image.Rect(0, 0, w, h))
	full := 1<<bits - 1
	for y := range h {
		src, row := m.Pix[y*m.Stride:], out.Pix[y*out.Stride:][:w]
		for x := range row {
			v := 0
			for _, bit := range src[x*bits:][:bits] {
				v = v<<1 | int(bit&1)
			}
			if inverted {
				v = full - v
			}
			row[x] = byte(v * 255 / full)
		}
	}
	return out, nil
}

// floats reads gray as 32-bit floats from 0 to 255, as Pillow's mode F is converted: cut to
// the range, fractions dropped.
func (d *tiffDirectory) floats(w, h int) (image.Image, error) {
	m, err := d.samples(w, 4, 8)
	if err != nil {
		return nil, err
	}
	out := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		src, row := m.Pix[y*m.Stride:], out.Pix[y*out.Stride:][:w]
		for x := range row {
			if v := math.Float32frombits(d.order.Uint32(src[4*x:])); v > 0 { // not for NaN
				row[x] = byte(min(v, 255))
			}
		}
	}
	return out, nil
}
