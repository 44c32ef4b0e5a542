package resample

import (
	"encoding/binary"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
)

//go:generate sh -c "cd _generate && go run ./neon -out ../weigh_arm64.s -stubs ../weigh_stubs_arm64.go -pkg resample"

// clip rounds nothing: it drops the fraction of a sum, which half was added to,
// and keeps it within a byte.
func clip(sum int32) uint8 {
	v := sum >> precision
	if uint32(v) > 255 {
		return uint8(^(v >> 31)) // 0 below, 255 above
	}
	return uint8(v)
}

// weighColumnsPlain resizes n rows of src from row y on horizontally, into rows
// that begin stride apart in dst.
func (a *Axis) weighColumnsPlain(dst []uint8, stride int, src *bitmap.Image, y, n int) {
	length := len(a.First) * src.Channels
	for i := range n {
		if src.Channels == 3 {
			a.weighRGB(dst[i*stride:][:length], src.Row(y+i))
		} else {
			a.weighGray(dst[i*stride:][:length], src.Row(y+i))
		}
	}
}

// weighGray makes one row of the result from one of the source.
func (a *Axis) weighGray(dst, src []uint8) {
	for i := range dst {
		first, weights := a.of(i)
		sum := int32(half)
		for j, p := range src[first:][:len(weights)] {
			sum += int32(p) * weights[j]
		}
		dst[i] = clip(sum)
	}
}

// weighRGB is weighGray for three channels.
func (a *Axis) weighRGB(dst, src []uint8) {
	for i := range len(a.First) {
		first, weights := a.of(i)
		at := uint(3 * first)
		r, g, b := int32(half), int32(half), int32(half)
		for _, w := range weights {
			b += int32(src[at+2]) * w // the last first: one check of bounds for three
			g += int32(src[at+1]) * w
			r += int32(src[at]) * w
			at += 3
		}
		out := dst[3*i : 3*i+3]
		out[0], out[1], out[2] = clip(r), clip(g), clip(b)
	}
}

// Two 32-bit sums share a 64-bit word. Adding the product of such a word and a weight, negative or
// not, adds to both sums; a borrow of the lower sum is undone when they are split.
const (
	halves    = half | half<<32
	evenBytes = 0x000000ff_000000ff
)

// weighRowsPlain makes row i of the result from the rows that it needs, which
// begin stride apart in src.
func (a *Axis) weighRowsPlain(dst, src []uint8, stride, i int) {
	_, weights := a.of(i)
	x := 0
	for ; x+8 <= len(dst); x += 8 {
		p, q, r, s := uint64(halves), uint64(halves), uint64(halves), uint64(halves)
		at := x
		for _, w := range weights {
			in := binary.LittleEndian.Uint64(src[at:])
			k := uint64(int64(w))
			p += (in & evenBytes) * k
			q += (in >> 8 & evenBytes) * k
			r += (in >> 16 & evenBytes) * k
			s += (in >> 24 & evenBytes) * k
			at += stride
		}
		out := dst[x : x+8]
		out[0], out[4] = clipBoth(p)
		out[1], out[5] = clipBoth(q)
		out[2], out[6] = clipBoth(r)
		out[3], out[7] = clipBoth(s)
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
