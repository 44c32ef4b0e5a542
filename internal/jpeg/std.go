package jpeg

import (
	"bytes"
	"errors"
	"image"
	stdjpeg "image/jpeg"
	"runtime"
)

// stdCodec is the encoder of the standard library's image/jpeg.
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
