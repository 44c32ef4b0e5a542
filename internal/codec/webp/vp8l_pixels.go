package webp

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// near are the pixels of the first 120 distance codes (RFC 9649, 3.6.2.2), the row above in the
// upper four bits and 8 less the column in the lower.
var near = [120]uint8{
	0x18, 0x07, 0x17, 0x19, 0x28, 0x06, 0x27, 0x29, 0x16, 0x1a, 0x26, 0x2a, 0x38, 0x05, 0x37, 0x39, 0x15, 0x1b, 0x36, 0x3a,
	0x25, 0x2b, 0x48, 0x04, 0x47, 0x49, 0x14, 0x1c, 0x35, 0x3b, 0x46, 0x4a, 0x24, 0x2c, 0x58, 0x45, 0x4b, 0x34, 0x3c, 0x03,
	0x57, 0x59, 0x13, 0x1d, 0x56, 0x5a, 0x23, 0x2d, 0x44, 0x4c, 0x55, 0x5b, 0x33, 0x3d, 0x68, 0x02, 0x67, 0x69, 0x12, 0x1e,
	0x66, 0x6a, 0x22, 0x2e, 0x54, 0x5c, 0x43, 0x4d, 0x65, 0x6b, 0x32, 0x3e, 0x78, 0x01, 0x77, 0x79, 0x53, 0x5d, 0x11, 0x1f,
	0x64, 0x6c, 0x42, 0x4e, 0x76, 0x7a, 0x21, 0x2f, 0x75, 0x7b, 0x31, 0x3f, 0x63, 0x6d, 0x52, 0x5e, 0x00, 0x74, 0x7c, 0x41,
	0x4f, 0x10, 0x20, 0x62, 0x6e, 0x30, 0x73, 0x7d, 0x51, 0x5f, 0x40, 0x72, 0x7e, 0x61, 0x6f, 0x50, 0x71, 0x7f, 0x60, 0x70,
}

// distance returns the number of pixels that a distance code goes back in rows of w pixels.
func distance(w int, code uint32) int {
	if code > uint32(len(near)) {
		return int(code) - len(near)
	}
	at := int(near[code-1])
	return max(1, at>>4*w+8-at&15)
}

// cacheSlot returns the slot of a pixel in a colour cache of 1<<(32-shift) colours. The hash is of
// alpha, red, green and blue from the highest byte down.
func cacheSlot(pixel uint32, shift uint32) uint32 {
	argb := bits.RotateLeft32(bits.ReverseBytes32(pixel), -8)
	return argb * 0x1E35A7BD >> (shift & 31)
}

var errReference = errors.New("a reference to pixels outside of the image")

// readPixels reads w*h pixels into the memory of pix. The image itself is top; the others are tables
// of transforms and of groups of codes.
func (d *vp8l) readPixels(pix []byte, w, h int, top bool) ([]byte, error) {
	r := &d.r
	cacheBits := uint32(0)
	if r.read(1) != 0 {
		if cacheBits = r.read(4); cacheBits < 1 || cacheBits > 11 {
			return pix, errors.New("a colour cache of an invalid size")
		}
	}
	cacheSize := uint32(1) << cacheBits &^ 1
	tileBits, err := d.readGroups(w, h, top, cacheSize)
	if err != nil {
		return pix, err
	}
	d.cache = sized(d.cache, int(cacheSize))
	clear(d.cache)
	pix = sized(pix, 4*w*h)
	perRow := tiles(w, tileBits)
	// Pixels up to cached are in the cache: the others follow before it is read.
	p, cached := 0, 0
	for y := 0; y < h; {
		if r.overrun() {
			return pix, errShort
		}
		x := p/4 - y*w
		for x < w {
			group, end := &d.groups[0], w
			if tileBits > 0 {
				area := d.groupOf[4*((y>>tileBits)*perRow+x>>tileBits):]
				group = &d.groups[binary.BigEndian.Uint16(area)]
				end = min(w, (x>>tileBits+1)<<tileBits)
			}
			green := uint32(0)
			if p, green = r.literals(group, pix[:4*(y*w+end)], p); green < literals {
				x = end
				continue
			}
			if green < literals+lengths {
				length := int(r.extended(green - literals))
				dist := 4 * distance(w, r.extended(r.symbol(&group.distance)))
				if dist > p || 4*length > len(pix)-p {
					return pix, errReference
				}
				repeatPixels(pix, p, dist, 4*length)
				p += 4 * length
				break // perhaps in another row
			}
			for ; cached < p; cached += 4 {
				pixel := binary.LittleEndian.Uint32(pix[cached:])
				d.cache[cacheSlot(pixel, 32-cacheBits)] = pixel
			}
			binary.LittleEndian.PutUint32(pix[p:], d.cache[green-literals-lengths])
			p += 4
			x = p/4 - y*w
		}
		y = p / 4 / w
	}
	if r.overrun() {
		return pix, errShort
	}
	return pix, nil
}

// literals reads pixels from p on while they are not references, to the end of pix. It returns
// where it has stopped, and the symbol that is not a literal, or 0 at the end.
func (r *bitReader) literals(group *codeGroup, pix []byte, p int) (int, uint32) {
	alpha, opaque := uint32(0), group.alpha.root == 0 // one symbol takes no bits
	if opaque {
		alpha = group.alpha.table[0] >> entrySymbol << 24
	}
	v, n := r.bits, r.n
	green := uint32(0)
	for ; p+4 <= len(pix); p += 4 {
		if n < 56 {
			r.bits, r.n = v, n
			r.fill()
			v, n = r.bits, r.n
		}
		e := group.green.entry(v)
		v >>= e & entryLength
		n -= int(e & entryLength)
		if green = e >> entrySymbol; green >= literals {
			break
		}
		e = group.red.entry(v)
		v >>= e & entryLength
		n -= int(e & entryLength)
		pixel := e>>entrySymbol | green<<8
		e = group.blue.entry(v)
		v >>= e & entryLength
		n -= int(e & entryLength)
		pixel |= e >> entrySymbol << 16
		if !opaque {
			if n < 16 {
				r.bits, r.n = v, n
				r.fill()
				v, n = r.bits, r.n
			}
			e = group.alpha.entry(v)
			v >>= e & entryLength
			n -= int(e & entryLength)
			alpha = e >> entrySymbol << 24
		}
		binary.LittleEndian.PutUint32(pix[p:], pixel|alpha)
	}
	r.bits, r.n = v, n
	return p, green
}

// extended reads a length or a distance that begins with a symbol (RFC 9649, 3.6.2.2).
func (r *bitReader) extended(symbol uint32) uint32 {
	if symbol < 4 {
		return symbol + 1
	}
	more := (symbol - 2) >> 1
	return (2+symbol&1)<<more + r.read(more) + 1
}

// repeatPixels copies n bytes to p from dist bytes before, of which some may be those copied.
func repeatPixels(pix []byte, p, dist, n int) {
	from, to := pix[p-dist:], pix[p:p+n]
	if dist < 4*4 && dist < n {
		for i := range to {
			to[i] = from[i]
		}
		return
	}
	for len(to) > 0 {
		k := copy(to, from[:dist])
		to, from = to[k:], from[k:]
	}
}
