package jpeg

import (
	"bytes"
	"fmt"
	"image"

	"github.com/gen2brain/jpegn"
)

// jpegnDecoder is github.com/gen2brain/jpegn, exactly the version that its name says: go.mod
// and the name move together, for its pixels are part of a data set's fingerprint.
type jpegnDecoder struct{}

func (jpegnDecoder) name() string { return "jpegn 0.4.0" }

// supports leaves out what jpegn refuses (other frames, 16-bit tables, tiny chroma planes),
// what it reads wrongly (sequential pictures of several scans, of which it takes the first;
// colour spaces that it tells otherwise than libjpeg) and four components, which it takes
// only with an Adobe marker. It never reduces: reduced pictures came out with a fraction of
// their contrast.
func (jpegnDecoder) supports(h *Header, r Request) bool {
	switch {
	case h.SOF != markerSOF0 && h.SOF != markerSOF2,
		h.SOF == markerSOF0 && h.FirstScan != h.N,
		h.Precision != 8, h.WideTables,
		h.N != 1 && h.N != 3,
		h.Width*h.Height > 1<<28,
		r.Denom != 1:
		return false
	}
	if h.N == 1 {
		return true
	}
	c := h.Components[:3]
	rgb := h.Adobe == 0 || c[0].ID == 'R' && c[1].ID == 'G' && c[2].ID == 'B'
	if rgb != (h.ColorSpace == ColorRGB) {
		return false
	}
	hmax, vmax := h.maxSampling()
	for _, p := range c {
		if p.H == 3 || p.V == 3 ||
			p.H < hmax && ceilDiv(h.Width*p.H, hmax) < 3 || p.V < vmax && ceilDiv(h.Height*p.V, vmax) < 3 {
			return false
		}
	}
	return true
}

// planar says whether jpegn can give the planes of a picture of three components in the
// ratios that image.YCbCr knows.
func planar(h *Header) bool {
	y, cb, cr := h.Components[0], h.Components[1], h.Components[2]
	if h.ColorSpace != ColorYCbCr || cb.H*cb.V*cr.H*cr.V != 1 {
		return false
	}
	return y.V <= 2 && (y.H <= 2 || y.H == 4)
}

// decode takes the planes and converts them here, as libjpeg would. What has no such planes
// jpegn converts itself.
func (jpegnDecoder) decode(dst []byte, stride int, data []byte, h *Header, r Request) error {
	o := &jpegn.Options{ToRGBA: h.N == 3 && !planar(h), UpsampleMethod: jpegn.CatmullRom}
	m, err := jpegn.Decode(bytes.NewReader(data), o)
	if err != nil {
		return err
	}
	return fromImage(dst, stride, m, h, r)
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
			return FromYCbCr(dst, stride, m)
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
