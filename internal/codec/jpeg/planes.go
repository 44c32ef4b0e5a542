package jpeg

import "fmt"

// Planar is an image in YCbCr as JPEG stores it: a plane of luma and two of chroma, which may have
// fewer samples. A chroma sample is in the middle of the pixels that it represents.
type Planar struct {
	Width, Height int         // of the luma plane
	Sampling      Subsampling // any but SubGray
	Pix           [3][]byte   // Y, Cb, Cr: rows from the top, one byte a sample
	Stride        [3]int      // bytes from one row to the next
}

// Factors returns the number of pixels that a chroma sample represents, across and down.
func (s Subsampling) Factors() (across, down int) {
	f := [...][2]int{Sub420: {2, 2}, Sub422: {2, 1}, Sub444: {1, 1}, Sub440: {1, 2}, SubGray: {1, 1}}[s]
	return f[0], f[1]
}

// ChromaSize returns the size of the chroma planes of an image of w by h pixels: halves are rounded
// up.
func (s Subsampling) ChromaSize(w, h int) (cw, ch int) {
	across, down := s.Factors()
	return ceilDiv(w, across), ceilDiv(h, down)
}

// size is the size of plane i.
func (p *Planar) size(i int) (w, h int) {
	if i == 0 {
		return p.Width, p.Height
	}
	return p.Sampling.ChromaSize(p.Width, p.Height)
}

// check returns an error for planes that are too small.
func (p *Planar) check() error {
	if p.Width < 1 || p.Height < 1 || p.Width > 65500 || p.Height > 65500 {
		return fmt.Errorf("an image of %dx%d: sides must be 1 to 65500", p.Width, p.Height)
	}
	if p.Sampling >= SubGray {
		return fmt.Errorf("planes with subsampling %d", p.Sampling)
	}
	for i := range p.Pix {
		if w, h := p.size(i); p.Stride[i] < w || len(p.Pix[i]) < p.Stride[i]*(h-1)+w {
			return fmt.Errorf("%d bytes are too few for plane %d of %dx%d", len(p.Pix[i]), i, w, h)
		}
	}
	return nil
}

// sampling returns the chroma subsampling of an image whose planes can be used unchanged: YCbCr in
// Huffman coding, with sampling factors that are written in the usual way.
func (h *Header) sampling() (Subsampling, bool) {
	if h.ColorSpace != ColorYCbCr || !h.Huffman() {
		return 0, false
	}
	y, cb, cr := h.Components[0], h.Components[1], h.Components[2]
	if cb.H*cb.V*cr.H*cr.V != 1 {
		return 0, false
	}
	for s := range SubGray {
		if across, down := s.Factors(); y.H == across && y.V == down {
			return s, true
		}
	}
	return 0, false
}

// Usual reports, from the header alone, whether every hardware decoder supports this kind of image:
// baseline or progressive Huffman coding with 8 bits, grayscale or YCbCr with planes of a
// [Subsampling], all in one scan unless progressive, and its own tables with 8-bit entries. sub is
// SubGray for grayscale.
func (h *Header) Usual() (sub Subsampling, ok bool) {
	if h.SOF != markerSOF0 && h.SOF != markerSOF2 || h.Precision != 8 || h.NoTables || h.WideTables || h.Odd ||
		h.SOF == markerSOF0 && h.FirstScan != h.N {
		return 0, false
	}
	if h.ColorSpace == ColorGray {
		return SubGray, true
	}
	return h.sampling()
}

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
