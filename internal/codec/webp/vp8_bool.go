package webp

import (
	"encoding/binary"
	"math/bits"
)

// even is the probability of a bit that is as often 0 as 1.
const even = 128

// boolReader is the boolean decoder (RFC 6386, 7). The assembly of tokens knows its layout.
type boolReader struct {
	value uint64 // the next bits, from the highest one down
	n     int    // how many of them have come from data
	width uint64 // of the interval, less 1: 127 to 254
	data  []byte
	pos   int  // in data
	end   bool // bits were requested after the end of the data
}

// init begins to read data. Encoders keep the first byte below the initial width of the interval,
// 255: data that begin so are damaged, and count as none. x/image and libwebp read noise from them.
func (r *boolReader) init(data []byte) {
	*r = boolReader{width: 254, data: data}
	if r.impossible() {
		r.pos = len(data)
	}
}

func (r *boolReader) impossible() bool { return len(r.data) > 0 && r.data[0] == 255 }

// fill adds whole bytes. After the end of the data come zeros without end.
func (r *boolReader) fill() {
	rest := r.data[r.pos:]
	switch {
	case len(rest) >= 8:
		r.value |= binary.BigEndian.Uint64(rest) >> uint(r.n)
		k := (64 - r.n) / 8
		r.pos, r.n = r.pos+k, r.n+8*k
	case len(rest) > 0:
		for ; r.n <= 56 && len(rest) > 0; rest = rest[1:] {
			r.value |= uint64(rest[0]) << uint(56-r.n)
			r.pos, r.n = r.pos+1, r.n+8
		}
	default:
		r.end, r.n = true, 1<<62
	}
}

// bit reads a bit that is 0 with a probability of p/256.
func (r *boolReader) bit(p uint8) bool {
	if r.n < 8 {
		r.fill()
	}
	split := r.width*uint64(p)>>8 + 1
	one := r.value >= split<<56
	if one {
		r.width -= split
		r.value -= split << 56
	} else {
		r.width = split - 1
	}
	if r.width < 127 {
		shift := bits.LeadingZeros8(uint8(r.width + 1))
		r.width = (r.width+1)<<uint(shift) - 1
		r.value <<= uint(shift)
		r.n -= shift
	}
	return one
}

// number reads a bit as a number.
func (r *boolReader) number(p uint8) int {
	if r.bit(p) {
		return 1
	}
	return 0
}

// literal reads an unsigned number of n bits.
func (r *boolReader) literal(n int) int {
	v := 0
	for range n {
		v = 2*v + r.number(even)
	}
	return v
}

// optional reads a number of n bits and its sign, or 0 if the first bit is.
func (r *boolReader) optional(n int) int {
	if !r.bit(even) {
		return 0
	}
	v := r.literal(n)
	if r.bit(even) {
		return -v
	}
	return v
}
