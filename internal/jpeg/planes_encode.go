package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	stdjpeg "image/jpeg"
)

// planeEncoder is an encoder that takes planes.
type planeEncoder interface {
	appendPlanes(dst []byte, p *Planar, quality int) ([]byte, error)
}

// AppendPlanes encodes p behind dst, with the subsampling that it has. Quality is 1 to 100.
func (s *Set) AppendPlanes(dst []byte, p *Planar, quality int) ([]byte, error) {
	if err := p.check(); err != nil {
		return dst, fmt.Errorf("encoding JPEG: %w", err)
	}
	if quality < 1 || quality > 100 {
		return dst, fmt.Errorf("encoding JPEG: quality %d is not in 1 to 100", quality)
	}
	e, ok := s.encoder.(planeEncoder)
	if !ok || !s.encoder.encodes(p.Sampling) {
		return dst, fmt.Errorf("encoding JPEG: %s can't write subsampling %v: use 420, or %s", s.encoder.name(), p.Sampling, Install)
	}
	out, err := e.appendPlanes(dst, p, quality)
	if err != nil {
		return dst, fmt.Errorf("encoding JPEG: %w", err)
	}
	return out, nil
}

func (stdCodec) appendPlanes(dst []byte, p *Planar, quality int) ([]byte, error) {
	if p.Stride[1] != p.Stride[2] {
		return dst, errors.New("image/jpeg wants chroma planes of one stride")
	}
	m := &image.YCbCr{
		Y: p.Pix[0], Cb: p.Pix[1], Cr: p.Pix[2], YStride: p.Stride[0], CStride: p.Stride[1],
		SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: image.Rect(0, 0, p.Width, p.Height),
	}
	buf := bytes.NewBuffer(dst)
	if err := stdjpeg.Encode(buf, m, &stdjpeg.Options{Quality: quality}); err != nil {
		return dst, err
	}
	return buf.Bytes(), nil
}
