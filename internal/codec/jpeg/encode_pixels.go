package jpeg

import "slices"

// strips are the planes of one row of MCUs, converted from RGB.
type strips struct {
	luma   []byte // 8 rows for each row of blocks
	chroma [2][]byte
	full   [2][]byte // the rows that make one row of chroma, at full width
	stride int       // of luma and full: whole groups of 32 samples
	half   int       // of chroma
}

// reset makes room.
func (s *strips) reset(e *encoding) {
	across, down := e.sub.Factors()
	s.half = (e.wide*8 + 31) / 32 * 32
	s.stride = s.half * across
	grow := func(b *[]byte, n int) { *b = slices.Grow((*b)[:0], n)[:n] }
	grow(&s.luma, 8*down*s.stride)
	for i := range s.chroma {
		grow(&s.chroma[i], 8*s.half)
		grow(&s.full[i], down*s.stride)
	}
}

// row transforms row y of MCUs of an image. Beyond its edges pixels are
// repeated, but beyond the lower edge rows of chroma are, as libjpeg
// (jcprepct.c) does it.
func (s *strips) row(e *encoding, p *Pixels, y int) {
	across, down := e.sub.Factors()
	rows := min(8*down, p.Height-y*8*down) // that the image has
	for j := 0; j < 8*down; j += down {
		if j >= rows {
			for i := range s.chroma {
				copy(s.chroma[i][j/down*s.half:][:s.half], s.chroma[i][(j/down-1)*s.half:])
			}
		}
		for k := range down {
			luma := s.luma[(j+k)*s.stride:][:s.stride]
			if j+k >= rows {
				copy(luma, s.luma[(rows-1)*s.stride:])
				if j < rows {
					for i := range s.full {
						copy(s.full[i][k*s.stride:][:s.stride], s.full[i])
					}
				}
				continue
			}
			cb, cr := s.full[0][k*s.stride:][:s.stride], s.full[1][k*s.stride:][:s.stride]
			if across*down == 1 {
				cb, cr = s.chroma[0][j*s.half:][:s.half], s.chroma[1][j*s.half:][:s.half]
			}
			fromRGB(luma, cb, cr, p.Pix[(y*8*down+j+k)*p.Stride:], p.Width)
			// Nothing after the last block is read.
			extend(luma[:8*e.components[0].wide], p.Width)
			last := &e.components[len(e.components)-1]
			extend(cb[:8*last.wide*across], p.Width)
			extend(cr[:8*last.wide*across], p.Width)
		}
		if j >= rows || across*down == 1 {
			continue
		}
		for i := range s.full {
			halve(s.chroma[i][j/down*s.half:][:s.half], s.full[i], across, down)
		}
	}
	for i := range e.components {
		c := &e.components[i]
		src, stride := s.luma, s.stride
		if i > 0 {
			src, stride = s.chroma[i-1], s.half
		}
		for v := range min(c.down, c.high-y*c.down) {
			e.blocks(c, 0, v, src[8*v*stride:], stride, c.wide)
		}
	}
}

// luminance is 0.299 R + 0.587 G + 0.114 B, rounded.
func luminance(p []byte) byte {
	return byte((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
}

// fromRGBPlain is [fromRGB] without assembly.
func fromRGBPlain(luma, cb, cr, rgb []byte, n int) {
	luma, cb, cr, rgb = luma[:n], cb[:n], cr[:n], rgb[:3*n]
	for x := range luma {
		p := rgb[3*x : 3*x+3 : 3*x+3]
		r, g, b := int32(p[0]), int32(p[1]), int32(p[2])
		luma[x] = luminance(p)
		cb[x] = byte((-11059*r - 21709*g + 32768*b + 128<<16 + 1<<15 - 1) >> 16)
		cr[x] = byte((32768*r - 27439*g - 5329*b + 128<<16 + 1<<15 - 1) >> 16)
	}
}

// halvePlain is [halve] without assembly.
func halvePlain(dst, src []byte, across, down int) {
	n := len(dst)
	switch {
	case down == 1:
		for x := range dst {
			dst[x] = byte((int(src[2*x]) + int(src[2*x+1]) + x&1) >> 1)
		}
	case across == 1:
		below := src[n:]
		for x := range dst {
			dst[x] = byte((int(src[x]) + int(below[x]) + 1) >> 1)
		}
	default:
		below := src[2*n:]
		for x := range dst {
			dst[x] = byte((int(src[2*x]) + int(src[2*x+1]) + int(below[2*x]) + int(below[2*x+1]) + 1 + x&1) >> 2)
		}
	}
}
