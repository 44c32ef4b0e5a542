package imagefile

import (
	"fmt"
	"image"
	"image/color"

	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/recolor"
)

// rowReader gives a function that reads row y of a decoded image as red, green, blue and
// alpha, a byte each, the colours not multiplied by alpha. Samples of 16 bits give their
// upper 8, as libpng's and Pillow's readers do.
func rowReader(m image.Image) (func(row []byte, y int), error) {
	switch m := m.(type) {
	case *image.Gray:
		return func(row []byte, y int) {
			for x, v := range m.Pix[y*m.Stride:][:len(row)/4] {
				recolor.SetPixel(row[4*x:], v, v, v, 255)
			}
		}, nil
	case *image.Gray16:
		return func(row []byte, y int) {
			src := m.Pix[y*m.Stride:]
			for x := range len(row) / 4 {
				v := src[2*x]
				recolor.SetPixel(row[4*x:], v, v, v, 255)
			}
		}, nil
	case *image.NRGBA:
		return func(row []byte, y int) { copy(row, m.Pix[y*m.Stride:]) }, nil
	case *image.RGBA:
		return func(row []byte, y int) {
			copy(row, m.Pix[y*m.Stride:])
			recolor.Unmultiply(row)
		}, nil
	case *image.NRGBA64:
		return func(row []byte, y int) { upper(row, m.Pix[y*m.Stride:]) }, nil
	case *image.RGBA64:
		return func(row []byte, y int) {
			upper(row, m.Pix[y*m.Stride:])
			recolor.Unmultiply(row)
		}, nil
	case *image.Paletted:
		return palettedRows(m), nil
	case *image.CMYK:
		return func(row []byte, y int) {
			src := m.Pix[y*m.Stride:]
			for x := range len(row) / 4 {
				p := src[4*x : 4*x+4]
				white := 255 - uint32(p[3])
				recolor.SetPixel(row[4*x:], recolor.LessInk(white, p[0]), recolor.LessInk(white, p[1]), recolor.LessInk(white, p[2]), 255)
			}
		}, nil
	case *image.YCbCr:
		return videoRows(m, nil, 0)
	case *image.NYCbCrA:
		return videoRows(&m.YCbCr, m.A, m.AStride)
	}
	return nil, fmt.Errorf("its pixels are %T", m)
}

// upper takes the upper bytes of 16-bit samples.
func upper(row, src []byte) {
	for i := range row {
		row[i] = src[2*i]
	}
}

// palettedRows looks colours up. An index past the palette is black.
func palettedRows(m *image.Paletted) func([]byte, int) {
	var colors [256][4]byte
	for i, c := range m.Palette[:min(256, len(m.Palette))] {
		n, ok := c.(color.NRGBA)
		if !ok {
			n = color.NRGBAModel.Convert(c).(color.NRGBA)
		}
		colors[i] = [4]byte{n.R, n.G, n.B, n.A}
	}
	for i := len(m.Palette); i < 256; i++ {
		colors[i][3] = 255
	}
	return func(row []byte, y int) {
		for x, v := range m.Pix[y*m.Stride:][:len(row)/4] {
			*(*[4]byte)(row[4*x:]) = colors[v]
		}
	}
}

// videoRows reads the planes of a lossy WebP, which have the range of video. image.YCbCr's own
// conversion assumes the full range.
func videoRows(m *image.YCbCr, alpha []byte, alphaStride int) (func([]byte, int), error) {
	rows, err := jpeg.NewVideoRows(m)
	if err != nil {
		return nil, err
	}
	rgb := make([]byte, 3*m.Rect.Dx())
	return func(row []byte, y int) {
		rows.RGB(rgb, y)
		for x := range len(row) / 4 {
			a := byte(255)
			if alpha != nil {
				a = alpha[y*alphaStride+x]
			}
			p := rgb[3*x : 3*x+3 : 3*x+3]
			recolor.SetPixel(row[4*x:], p[0], p[1], p[2], a)
		}
	}, nil
}
