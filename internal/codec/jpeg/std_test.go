package jpeg

import (
	"bytes"
	"fmt"
	"image"
	stdjpeg "image/jpeg"
	"slices"
)

// stdDecoder is the standard library's image/jpeg, a judge that knows nothing of ours.
type stdDecoder struct{}

func (stdDecoder) name() string { return "image/jpeg" }

// supports leaves out the sampling factors that image/jpeg refuses, colour spaces that it detects
// differently from libjpeg, and reductions.
func (stdDecoder) supports(h *Header, r Request) bool {
	if h.SOF > markerSOF2 || h.Precision != 8 || r.Denom != 1 {
		return false
	}
	c := &h.Components
	if h.Restart > 0 && h.N > 1 && (h.Progressive() || h.FirstScan < h.N) && c[0].H*c[0].V > 1 {
		return false // it counts blocks outside the image towards the restart interval
	}
	switch h.N {
	case 1:
		return true
	case 3:
		if h.ColorSpace == ColorYCbCr && !h.JFIF && c[0].ID == 'R' && c[1].ID == 'G' && c[2].ID == 'B' {
			return false
		}
		for _, p := range c[:3] {
			if p.H == 3 || p.V == 3 {
				return false
			}
		}
		if c[1].H != c[2].H || c[1].V != c[2].V || c[0].V == 4 || c[0].H%c[1].H != 0 || c[0].V%c[1].V != 0 {
			return false
		}
		return h.ColorSpace == ColorYCbCr || c[0].H == c[1].H && c[0].V == c[1].V || c[1].H*c[1].V == 1
	case 4:
		full := c[0].H == c[0].V && c[0].H <= 2 && c[0].H == c[3].H && c[0].V == c[3].V
		return full && c[1].H*c[1].V*c[2].H*c[2].V == 1
	}
	return false
}

// adobe is an APP14 segment without a transform. image/jpeg insists on one for CMYK.
var adobe = []byte("\xFF\xEE\x00\x0EAdobe\x00\x64\x00\x00\x00\x00\x00")

func (stdDecoder) decode(dst []byte, stride int, data []byte, h *Header, r Request) error {
	if h.N == 4 && h.Adobe < 0 {
		data = slices.Concat(data[:2], adobe, data[2:])
	}
	m, err := stdjpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return fromImage(dst, stride, m, h, r)
}

func (stdDecoder) decodePlanes(dst *Planar, data []byte, _ *Header, _ Request) error {
	m, err := stdjpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return dst.take(m)
}

// take makes p what a Go decoder returned, without a copy: these decoders make new planes for
// each image and forget them.
func (p *Planar) take(m image.Image) error {
	ycc, ok := m.(*image.YCbCr)
	if !ok {
		return fmt.Errorf("it came out as %T", m)
	}
	switch ycc.SubsampleRatio {
	case image.YCbCrSubsampleRatio420:
		p.Sampling = Sub420
	case image.YCbCrSubsampleRatio422:
		p.Sampling = Sub422
	case image.YCbCrSubsampleRatio444:
		p.Sampling = Sub444
	case image.YCbCrSubsampleRatio440:
		p.Sampling = Sub440
	default:
		return fmt.Errorf("it came out in the ratio %v", ycc.SubsampleRatio)
	}
	p.Width, p.Height = ycc.Rect.Dx(), ycc.Rect.Dy()
	p.Pix = [3][]byte{ycc.Y, ycc.Cb, ycc.Cr}
	p.Stride = [3]int{ycc.YStride, ycc.CStride, ycc.CStride}
	return p.check()
}

// fromImage writes what a Go decoder returned.
func fromImage(dst []byte, stride int, m image.Image, h *Header, r Request) error {
	w, ht := h.Scaled(r.Denom)
	if b := m.Bounds(); b.Dx() != w || b.Dy() != ht {
		return fmt.Errorf("a picture of %dx%d came out as %dx%d", w, ht, b.Dx(), b.Dy())
	}
	switch m := m.(type) {
	case *image.Gray:
		if r.Format == Gray {
			copyRows(dst, stride, m.Pix, m.Stride, w, ht)
			return nil
		}
	case *image.YCbCr:
		if r.Format == Gray {
			copyRows(dst, stride, m.Y, m.YStride, w, ht)
			return nil
		}
		if r.Format == RGB {
			return fromYCbCr(dst, stride, m)
		}
	case *image.RGBA:
		for y := range ht {
			src, row := m.Pix[y*m.Stride:], dst[y*stride:]
			for x := range w {
				p := src[4*x : 4*x+3 : 4*x+3]
				if r.Format == Gray {
					row[x] = luminance(p)
				} else {
					copy(row[3*x:], p)
				}
			}
		}
		return nil
	case *image.CMYK:
		if r.Format == cmyk {
			for y := range ht {
				src, row := m.Pix[y*m.Stride:], dst[y*stride:]
				for i := range 4 * w {
					row[i] = 255 - src[i]
				}
			}
			return nil
		}
	}
	return fmt.Errorf("it came out as %T", m)
}

// copyRows copies rows of n bytes.
func copyRows(dst []byte, stride int, src []byte, srcStride, n, rows int) {
	for y := range rows {
		copy(dst[y*stride:y*stride+n], src[y*srcStride:])
	}
}

// fromYCbCr is Planar.RGB for an image of package image.
func fromYCbCr(dst []byte, stride int, m *image.YCbCr) error {
	f, ok := map[image.YCbCrSubsampleRatio][2]int{
		image.YCbCrSubsampleRatio444: {1, 1}, image.YCbCrSubsampleRatio422: {2, 1}, image.YCbCrSubsampleRatio420: {2, 2},
		image.YCbCrSubsampleRatio440: {1, 2}, image.YCbCrSubsampleRatio411: {4, 1}, image.YCbCrSubsampleRatio410: {4, 2},
	}[m.SubsampleRatio]
	if !ok {
		return fmt.Errorf("planes in the ratio %v", m.SubsampleRatio)
	}
	width, height := m.Rect.Dx(), m.Rect.Dy()
	var cb, cr upsampler
	cb.reset(m.Cb, m.CStride, ceilDiv(width, f[0]), ceilDiv(height, f[1]), f[0], f[1], true)
	cr.reset(m.Cr, m.CStride, ceilDiv(width, f[0]), ceilDiv(height, f[1]), f[0], f[1], true)
	for y := range height {
		convertRow(dst[y*stride:][:3*width], m.Y[y*m.YStride:][:width], cb.row(y)[:width], cr.row(y)[:width])
	}
	return nil
}
