package images

import "math"

// Float16Of returns the bits of the IEEE 754 half-precision number nearest to x, halves rounded to
// even: infinity from 65520 on, and a quiet NaN for a NaN.
func Float16Of(x float32) uint16 {
	const (
		overflow = (127 + 16) << 23 // 65536, in the bits of a float32
		normal   = (127 - 14) << 23 // the smallest normal number of half precision
		infinity = 0xff << 23
	)
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 1<<31 - 1
	switch {
	case bits > infinity:
		return sign | 0x7e00
	case bits >= overflow:
		return sign | 0x7c00
	case bits < normal:
		// Adding 0.5 aligns the last bit of a subnormal half, 2^-24, with the last bit of the sum,
		// which the addition rounds.
		return sign | uint16(math.Float32bits(math.Float32frombits(bits)+0.5)-math.Float32bits(0.5))
	}
	// Rebias the exponent, and round: a carry out of the mantissa is one into the exponent.
	return sign | uint16((bits-(127-15)<<23+0xfff+bits>>13&1)>>13)
}

// Float16Value returns the value of bits of half precision.
func Float16Value(h uint16) float32 {
	bits := uint32(h&0x7fff) << 13
	x := math.Float32frombits(bits) * 0x1p112 // rebiases the exponent, of subnormals too
	if h&0x7c00 == 0x7c00 {
		x = math.Float32frombits(bits | 0xff<<23)
	}
	return math.Float32frombits(math.Float32bits(x) | uint32(h&0x8000)<<16)
}

// BFloat16Of returns the bits of the bfloat16 number nearest to x, the upper half of a float32,
// halves rounded to even: a quiet NaN for a NaN.
func BFloat16Of(x float32) uint16 {
	bits := math.Float32bits(x)
	if x != x {
		return uint16(bits>>16) | 0x40
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// BFloat16Value returns the value of bits of bfloat16.
func BFloat16Value(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
