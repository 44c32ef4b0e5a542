package jpeg

import "fmt"

// AppendPlanes encodes p after dst, with the subsampling that it has. Quality is 1 to 100.
func (s *Set) AppendPlanes(dst []byte, p *Planar, quality int) ([]byte, error) {
	if err := p.check(); err != nil {
		return dst, fmt.Errorf("encoding JPEG: %w", err)
	}
	if quality < 1 || quality > 100 {
		return dst, fmt.Errorf("encoding JPEG: quality %d is not in 1 to 100", quality)
	}
	out, err := s.encoder.appendPlanes(dst, p, quality)
	if err != nil {
		return dst, fmt.Errorf("encoding JPEG: %w", err)
	}
	return out, nil
}
