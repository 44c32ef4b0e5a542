package imagefile

import (
	"errors"
	"io"
	"sync"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/png"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/sniff"
)

// mostPerByte is the largest expansion of a byte by deflate.
const mostPerByte = 1032

// pngHeader holds the fields that determine the memory of a PNG.
type pngHeader struct {
	width int64
	bits  int64 // of a pixel
}

// memory returns the bytes that decoding needs in addition to the result: a few rows.
func (p *pngHeader) memory() int64 {
	return png.Memory(int((p.width*p.bits+7)/8)) + 7*p.width
}

// pngDecoder is the memory of one decoding, reused.
type pngDecoder struct {
	reader png.Reader
	pixels []byte // red, green, blue and perhaps alpha of a row
	line   []byte // a row of a pass, in the image's format
}

var pngDecoders = sync.Pool{New: func() any { return new(pngDecoder) }}

func (c *Codec) decodePNG(dst *bitmap.Image, data []byte, h *header, o DecodeOptions) error {
	if int64(h.Width)*int64(h.Height)/8*h.png.bits > mostPerByte*int64(len(data)) {
		return sniff.Damaged(sniff.PNG, "%d bytes are too few for %dx%d", len(data), h.Width, h.Height)
	}
	d := pngDecoders.Get().(*pngDecoder)
	defer d.release()
	r := &d.reader
	if err := r.Reset(data); err != nil {
		return pngError(err)
	}
	background := c.background
	if !h.Alpha {
		background = nil
	}
	pixel := o.bytes()
	dst.Reset(h.Width, h.Height, pixel)
	same := r.Color == png.RGB && o.Channels == 3 || r.Color == png.Gray && o.Channels == 1
	direct := !r.Interlaced && background == nil && (r.Depth == 8 && (o.mask || same) || o.deep && same)
	for y := 0; ; y++ {
		var into []byte
		if direct && y < h.Height {
			into = dst.Row(y)
		}
		row, at, err := r.Next(into)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return pngError(err)
		case direct:
			continue
		}
		line := dst.Row(at.Y)
		if at.Step > 1 {
			line = bitmap.Grown(&d.line, at.Width*pixel)
		}
		switch {
		case o.mask:
			r.Samples(line, row)
		case o.deep:
			r.Deep(line, row)
		case background != nil:
			pixels := bitmap.Grown(&d.pixels, 4*at.Width)
			r.RGBA(pixels, row)
			recolor.LayOn(pixels, *background)
			recolor.FillRow(line, pixels, o.Channels)
		default:
			d.convert(line, row, o.Channels)
		}
		if at.Step > 1 {
			spread(dst.Row(at.Y)[at.X*pixel:], line, at.Step, pixel)
		}
	}
}

// convert writes the colours of a row, or their luminance.
func (d *pngDecoder) convert(line, row []byte, channels int) {
	r := &d.reader
	switch {
	case channels == 3:
		r.RGB(line, row)
	case r.Color == png.Gray || r.Color == png.GrayAlpha:
		r.Gray(line, row)
	case r.Color == png.RGB && r.Depth == 8:
		recolor.LuminanceRow(line, row)
	default:
		pixels := bitmap.Grown(&d.pixels, 3*len(line))
		r.RGB(pixels, row)
		recolor.LuminanceRow(line, pixels)
	}
}

// release keeps what small images need for the next one.
func (d *pngDecoder) release() {
	d.reader.Release()
	if cap(d.pixels) > KeptBytes {
		d.pixels, d.line = nil, nil
	}
	pngDecoders.Put(d)
}

// spread writes the pixels of a line, of n bytes each, to every step-th pixel of a row.
func spread(row, line []byte, step, n int) {
	switch n {
	case 1:
		for x, v := range line {
			row[x*step] = v
		}
	case 3:
		for x := 0; len(line) >= 3; x += 3 * step {
			p, q := row[x:x+3], line[:3]
			p[0], p[1], p[2] = q[0], q[1], q[2]
			line = line[3:]
		}
	default:
		for x := 0; len(line) >= n; x += n * step {
			copy(row[x:x+n], line)
			line = line[n:]
		}
	}
}

// pngError is an error of the decoder as one of this package.
func pngError(err error) error {
	var e *png.Error
	if errors.As(err, &e) && e.Unsupported {
		return sniff.Unsupported(sniff.PNG, "%v", err)
	}
	return sniff.Damaged(sniff.PNG, "%v", err)
}
