package augment

import "encoding/binary"

// clip rounds nothing: it drops the fraction of a sum, which half was added to,
// and keeps it within a byte.
func clip(sum int32) uint8 {
	v := sum >> precision
	if uint32(v) > 255 {
		return uint8(^(v >> 31)) // 0 below, 255 above
	}
	return uint8(v)
}

// weighRowPlain makes one row of the result from one of the source.
func (a *axis) weighRowPlain(dst, src []uint8, channels int) {
	if channels == 1 {
		for i := range dst {
			first, weights := a.of(i)
			sum := int32(half)
			for j, p := range src[first:][:len(weights)] {
				sum += int32(p) * weights[j]
			}
			dst[i] = clip(sum)
		}
		return
	}
	for i := range len(dst) / 3 {
		first, weights := a.of(i)
		in := src[3*first:][:3*len(weights)]
		r, g, b := int32(half), int32(half), int32(half)
		for _, w := range weights {
			r += int32(in[0]) * w
			g += int32(in[1]) * w
			b += int32(in[2]) * w
			in = in[3:]
		}
		out := dst[3*i : 3*i+3]
		out[0], out[1], out[2] = clip(r), clip(g), clip(b)
	}
}

// Two sums of 32 bits in one word of 64: a product of the word with a weight,
// negative or not, adds to both, and what the lower one borrowed is given back
// when they are parted.
const (
	halves   = half | half<<32
	evenBits = 0x000000ff_000000ff
)

// weighRowsPlain makes one row of the result from len(weights) rows that begin
// stride apart in src.
func weighRowsPlain(dst, src []uint8, stride int, weights []int32) {
	x := 0
	for ; x+8 <= len(dst); x += 8 {
		a, b, c, d := uint64(halves), uint64(halves), uint64(halves), uint64(halves)
		at := x
		for _, w := range weights {
			p := binary.LittleEndian.Uint64(src[at:])
			k := uint64(int64(w))
			a += (p & evenBits) * k
			b += (p >> 8 & evenBits) * k
			c += (p >> 16 & evenBits) * k
			d += (p >> 24 & evenBits) * k
			at += stride
		}
		out := dst[x : x+8]
		out[0], out[4] = clipBoth(a)
		out[1], out[5] = clipBoth(b)
		out[2], out[6] = clipBoth(c)
		out[3], out[7] = clipBoth(d)
	}
	for ; x < len(dst); x++ {
		sum := int32(half)
		at := x
		for _, w := range weights {
			sum += int32(src[at]) * w
			at += stride
		}
		dst[x] = clip(sum)
	}
}

// clipBoth parts a word of two sums.
func clipBoth(sums uint64) (lower, upper uint8) {
	l := int32(sums)
	return clip(l), clip(int32((sums - uint64(int64(l))) >> 32))
}
