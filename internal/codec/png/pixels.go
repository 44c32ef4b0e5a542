package png

import "encoding/binary"

// Samples writes the samples of a row of one sample a pixel and up to 8 bits, a byte each, as the
// file has them: classes, indexes of the palette. The length of dst is the number of pixels.
func (h *Header) Samples(dst, row []byte) {
	if h.Depth == 8 {
		copy(dst, row)
		return
	}
	if h.Depth == 1 {
		for ; len(dst) >= 8; row, dst = row[1:], dst[8:] { // bit 7-i goes to byte i
			v := uint64(row[0]) * 0x8040201008040201 >> 7 & 0x0101010101010101
			binary.LittleEndian.PutUint64(dst, v)
		}
	}
	each := 8 / h.Depth // pixels in a byte
	mask := byte(1<<h.Depth - 1)
	for len(dst) > 0 {
		v := row[0]
		row = row[1:]
		n := min(each, len(dst))
		for i := range dst[:n] {
			dst[i] = v >> (8 - h.Depth) & mask
			v <<= h.Depth
		}
		dst = dst[n:]
	}
}

// Gray writes the pixels of a gray row, without alpha, a byte each. It scales samples of less than
// 8 bits to 255 and takes the upper 8 of 16 bits. The length of dst is the number of pixels.
func (h *Header) Gray(dst, row []byte) {
	switch step := h.bits() / 8; step {
	case 0:
		h.Samples(dst, row)
		scale := byte(255 / (1<<h.Depth - 1))
		for i := range dst {
			dst[i] *= scale
		}
	case 1:
		copy(dst, row)
	default:
		row = row[:len(dst)*step]
		for i := range dst {
			dst[i] = row[i*step]
		}
	}
}

// Deep writes the pixels of a row of 16 bits a sample as it has them, without alpha: gray, or red,
// green and blue, the upper byte of each first.
func (h *Header) Deep(dst, row []byte) {
	from := h.bits() / 8
	to := from
	if h.Color == GrayAlpha || h.Color == RGBA {
		to -= 2
	}
	for ; len(dst) >= to; row, dst = row[from:], dst[to:] {
		copy(dst[:to], row)
	}
}

// RGB writes the pixels of a row as red, green and blue, without alpha, a byte each: the upper 8 of
// samples of 16 bits. The length of dst is three times the number of pixels.
func (h *Header) RGB(dst, row []byte) {
	n := len(dst) / 3
	le := binary.LittleEndian
	switch {
	case h.Color == RGB && h.Depth == 8:
		copy(dst, row)
	case h.Color == RGB:
		upper(dst, row[:6*n])
	case h.Color == RGBA && h.Depth == 8:
		row = row[:4*n]
		for len(row) >= 12 { // a third pixel is written over
			v := le.Uint64(row)
			le.PutUint64(dst, v&0xFFFFFF|v>>8&0xFFFFFF000000)
			row, dst = row[8:], dst[6:]
		}
		for ; len(row) >= 4; row, dst = row[4:], dst[3:] {
			dst[0], dst[1], dst[2] = row[0], row[1], row[2]
		}
	case h.Color == RGBA:
		row = row[:8*n]
		for ; len(row) >= 16; row, dst = row[8:], dst[3:] { // part of the next pixel is written over
			v := le.Uint64(row)
			le.PutUint32(dst, uint32(v&0xFF|v>>8&0xFF00|v>>16&0xFF0000))
		}
		dst[0], dst[1], dst[2] = row[0], row[2], row[4]
	case h.Color == Palette:
		indexes := dst[2*n:] // each is read before it is written over
		h.Samples(indexes, row)
		for x, i := range indexes[:n-1] { // part of the next pixel is written over
			*(*[4]byte)(dst[3*x:]) = h.Colors[i]
		}
		copy(dst[3*n-3:], h.Colors[indexes[n-1]][:3])
	default:
		gray := dst[2*n:] // as above
		h.Gray(gray, row)
		for x, v := range gray[:n-1] {
			le.PutUint32(dst[3*x:], uint32(v)*0x010101)
		}
		v := gray[n-1]
		dst[3*n-3], dst[3*n-2], dst[3*n-1] = v, v, v
	}
}

// upper writes the upper bytes of samples of 16 bits.
func upper(dst, row []byte) {
	le := binary.LittleEndian
	for len(row) >= 8 && len(dst) >= 4 {
		v := le.Uint64(row) & 0x00FF00FF00FF00FF
		v = (v | v>>8) & 0x0000FFFF0000FFFF
		le.PutUint32(dst, uint32(v|v>>16))
		row, dst = row[8:], dst[4:]
	}
	for i := range dst {
		dst[i] = row[2*i]
	}
}

// RGBA writes the pixels of a row as red, green, blue and alpha, not multiplied by it, a byte each:
// the upper 8 of samples of 16 bits. The length of dst is four times the number of pixels.
func (h *Header) RGBA(dst, row []byte) {
	n := len(dst) / 4
	switch {
	case h.Color == RGBA && h.Depth == 8:
		copy(dst, row)
	case h.Color == RGBA:
		upper(dst, row[:8*n])
	case h.Color == Palette:
		indexes := make([]byte, n)
		h.Samples(indexes, row)
		for x, i := range indexes {
			*(*[4]byte)(dst[4*x:]) = h.Colors[i]
		}
	default:
		colors := dst[n:]
		h.RGB(colors, row)
		for x := range n { // each is read before it is written over
			p := colors[3*x : 3*x+3]
			*(*[4]byte)(dst[4*x:]) = [4]byte{p[0], p[1], p[2], h.alpha(row, x)}
		}
	}
}

// alpha returns the alpha of pixel x of a row that is neither RGBA nor has a palette.
func (h *Header) alpha(row []byte, x int) byte {
	wide := h.Depth / 16 // 1 for two bytes a sample
	if h.Color == GrayAlpha {
		return row[2*x<<wide+1<<wide]
	}
	if !h.keyed {
		return 255
	}
	for i := range samples[h.Color] {
		var v uint16
		switch at := samples[h.Color]*x + i; h.Depth {
		case 16:
			v = binary.BigEndian.Uint16(row[2*at:])
		case 8:
			v = uint16(row[at])
		default:
			bit := at * h.Depth
			v = uint16(row[bit/8]) >> (8 - h.Depth - bit%8) & (1<<h.Depth - 1)
		}
		if v != h.key[i] {
			return 255
		}
	}
	return 0
}
