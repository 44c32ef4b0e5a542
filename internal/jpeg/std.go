package jpeg

import (
	"bytes"
	"errors"
	"image"
	stdjpeg "image/jpeg"
	"runtime"
	"slices"
)

// stdCodec is the standard library's image/jpeg.
type stdCodec struct{}

func (stdCodec) name() string { return "image/jpeg " + goVersion() }

// goVersion is the release of Go without its patch number: go1.26.
func goVersion() string {
	v := runtime.Version()
	for i, dots := 0, 0; i < len(v); i++ {
		if v[i] == ' ' || v[i] == '-' {
			return v[:i]
		}
		if v[i] == '.' {
			if dots++; dots == 2 {
				return v[:i]
			}
		}
	}
	return v
}

// supports leaves out the sampling factors that image/jpeg refuses, colour spaces that it
// tells otherwise than libjpeg, and reductions.
func (stdCodec) supports(h *Header, r Request) bool {
	if h.SOF > markerSOF2 || h.Precision != 8 || r.Denom != 1 {
		return false
	}
	c := &h.Components
	if h.Restart > 0 && h.N > 1 && (h.Progressive() || h.FirstScan < h.N) && c[0].H*c[0].V > 1 {
		return false // it counts blocks outside the picture towards the restart interval
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

func (stdCodec) decode(dst []byte, stride int, data []byte, h *Header, r Request) error {
	if h.N == 4 && h.Adobe < 0 {
		data = slices.Concat(data[:2], adobe, data[2:])
	}
	m, err := stdjpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return fromImage(dst, stride, m, h, r)
}

// append writes 4:2:0 or gray, the only kinds that image/jpeg knows.
func (stdCodec) append(dst []byte, p Pixels, quality int, s Subsampling) ([]byte, error) {
	var m image.Image
	switch {
	case p.Format == Gray:
		m = &image.Gray{Pix: p.Pix, Stride: p.Stride, Rect: image.Rect(0, 0, p.Width, p.Height)}
	case s == SubGray:
		m = toLuma(p)
	case s == Sub420:
		m = toYCbCr(p)
	default:
		return dst, errors.New("image/jpeg has 420 and gray only")
	}
	buf := bytes.NewBuffer(dst)
	err := stdjpeg.Encode(buf, m, &stdjpeg.Options{Quality: quality})
	if err != nil {
		return dst, err
	}
	return buf.Bytes(), nil
}

// encodes is what append takes.
func (stdCodec) encodes(s Subsampling) bool { return s == Sub420 || s == SubGray }
