package imagefile

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"io"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/sniff"
)

// gifControl finds the transparent colour of the first frame. It returns the position of the flags
// that declare it (graphic control extension, GIF89a section 23), 0 if nothing is transparent, and
// its index.
func gifControl(data []byte) (flags int, index uint8) {
	pos := 13
	if data[10]&0x80 != 0 {
		pos += 3 << (data[10]&7 + 1)
	}
	for pos+8 <= len(data) && data[pos] == 0x21 { // extensions come before the frame
		if data[pos+1] == 0xF9 && data[pos+2] == 4 {
			flags, index = 0, 0
			if data[pos+3]&1 != 0 {
				flags, index = pos+3, data[pos+6]
			}
		}
		pos += 2
		for pos < len(data) && data[pos] != 0 {
			pos += 1 + int(data[pos])
		}
		pos++
	}
	return flags, index
}

// decodeGIF reads the first frame. image/gif forgets what colour a transparent pixel has, so
// unless images are composited on a background it sees the transparency flag cleared.
func (c *Codec) decodeGIF(dst *bitmap.Image, data []byte, h *header, channels int) error {
	var r io.Reader = bytes.NewReader(data)
	flags, index := gifControl(data)
	if flags != 0 && c.background == nil {
		r = io.MultiReader(bytes.NewReader(data[:flags]), bytes.NewReader([]byte{data[flags] &^ 1}), bytes.NewReader(data[flags+1:]))
	}
	m, err := gif.Decode(r)
	if err != nil {
		return sniff.Damaged(sniff.GIF, "%v", err)
	}
	if p, ok := m.(*image.Paletted); ok {
		m = onScreen(p, h.Width, h.Height, index)
	}
	return c.convert(dst, m, h, channels)
}

// onScreen puts a frame on the screen that it was made for, on a ground of one colour.
func onScreen(m *image.Paletted, w, h int, ground uint8) *image.Paletted {
	screen := image.Rect(0, 0, w, h)
	if m.Rect == screen {
		return m
	}
	out := image.NewPaletted(screen, m.Palette)
	if len(out.Palette) == 0 {
		out.Palette = color.Palette{color.Black}
	}
	if ground != 0 {
		for i := range out.Pix {
			out.Pix[i] = ground
		}
	}
	r := m.Rect.Intersect(screen)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		copy(out.Pix[out.PixOffset(r.Min.X, y):][:r.Dx()], m.Pix[m.PixOffset(r.Min.X, y):])
	}
	return out
}
