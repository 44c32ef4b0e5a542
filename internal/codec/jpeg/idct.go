package jpeg

// The inverse cosine transforms are libjpeg's accurate integer ones: the algorithm of Loeffler,
// Ligtenberg and Moschytz with constants of 13 bits (jidctint.c), and the reduced forms of it that
// leave out samples (jidctred.c). The samples equal libjpeg-turbo's, which computes them with
// vectors of 16 bits, for all coefficients, even if no image has them: sums of two coefficients
// wrap, values between the first pass and the second saturate, and so do samples. The exceptions
// are blocks with only zeros below the first row, dequantised, and a coefficient in that row that
// takes more than 14 bits. For these, libjpeg-turbo has a shortcut that wraps.
//
// All take coefficients in natural order, row by row, and the quantisation
// table in the same order.

// Bits of fraction: of the constants, and of the values between the first pass and the second.
const (
	dctBits  = 13
	passBits = 2
)

// The cosines, as jidctint.c and jidctred.c name them: 0.298631336 is fix0_298.
const (
	fix0_211 = 1730
	fix0_298 = 2446
	fix0_390 = 3196
	fix0_509 = 4176
	fix0_541 = 4433
	fix0_601 = 4926
	fix0_720 = 5906
	fix0_765 = 6270
	fix0_850 = 6967
	fix0_899 = 7373
	fix1_061 = 8697
	fix1_175 = 9633
	fix1_272 = 10426
	fix1_451 = 11893
	fix1_501 = 12299
	fix1_847 = 15137
	fix1_961 = 16069
	fix2_053 = 16819
	fix2_172 = 17799
	fix2_562 = 20995
	fix3_072 = 25172
	fix3_624 = 29692
)

// wrap keeps 16 bits.
func wrap(v int32) int32 { return int32(int16(v)) }

// saturate brings v to the range of 16 bits.
func saturate(v int32) int32 { return max(-1<<15, min(v, 1<<15-1)) }

// sample makes a byte of a value around zero.
func sample(v int32) byte { return clamp(v + 128) }

// dequantise multiplies a block by its table.
func dequantise(dst *[64]int32, coefs *[64]int16, quant *[64]uint16) {
	for i, c := range coefs {
		dst[i] = int32(c * int16(quant[i]))
	}
}

// idct8Plain is idct8 without assembly.
func idct8Plain(dst []byte, stride int, coefs [][64]int16, quant *[64]uint16) {
	var w [64]int32
	for i := range coefs {
		out := dst[8*i:]
		if withoutAC(&coefs[i]) {
			v := flat(coefs[i][0] * int16(quant[0]))
			for y := range 8 {
				row := out[y*stride:][:8]
				for x := range row {
					row[x] = v
				}
			}
			continue
		}
		dequantise(&w, &coefs[i], quant)
		for x := range 8 {
			c := w[x : x+57]
			if c[8]|c[16]|c[24]|c[32]|c[40]|c[48]|c[56] == 0 {
				v := saturate(c[0] << passBits)
				c[8], c[16], c[24], c[32], c[40], c[48], c[56] = v, v, v, v, v, v, v
				c[0] = v
				continue
			}
			y0, y1, y2, y3, y4, y5, y6, y7 := points8(c[0], c[8], c[16], c[24], c[32], c[40], c[48], c[56], 1<<(dctBits-passBits-1))
			c[0], c[8] = saturate(y0>>(dctBits-passBits)), saturate(y1>>(dctBits-passBits))
			c[16], c[24] = saturate(y2>>(dctBits-passBits)), saturate(y3>>(dctBits-passBits))
			c[32], c[40] = saturate(y4>>(dctBits-passBits)), saturate(y5>>(dctBits-passBits))
			c[48], c[56] = saturate(y6>>(dctBits-passBits)), saturate(y7>>(dctBits-passBits))
		}
		for y := range 8 {
			c := w[8*y : 8*y+8]
			row := out[y*stride:][:8]
			x0, x1, x2, x3, x4, x5, x6, x7 := points8(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], 1<<(dctBits+passBits+2))
			row[0], row[1] = sample(x0>>(dctBits+passBits+3)), sample(x1>>(dctBits+passBits+3))
			row[2], row[3] = sample(x2>>(dctBits+passBits+3)), sample(x3>>(dctBits+passBits+3))
			row[4], row[5] = sample(x4>>(dctBits+passBits+3)), sample(x5>>(dctBits+passBits+3))
			row[6], row[7] = sample(x6>>(dctBits+passBits+3)), sample(x7>>(dctBits+passBits+3))
		}
	}
}

// withoutAC reports whether only the first coefficient of a block may be non-zero.
func withoutAC(coefs *[64]int16) bool {
	var or int16
	for _, c := range coefs[1:] {
		or |= c
	}
	return or == 0
}

// flat is each sample of a block that has the DC coefficient dc and no other.
func flat(dc int16) byte {
	return sample((saturate(int32(dc)<<passBits) + 1<<(passBits+2)) >> (passBits + 3))
}

// points8 is the 8-point transform in one direction, scaled by 1<<dctBits times
// the square root of 8, with half added for rounding.
func points8(x0, x1, x2, x3, x4, x5, x6, x7, half int32) (y0, y1, y2, y3, y4, y5, y6, y7 int32) {
	z3, z4 := wrap(x7+x3), wrap(x5+x1)
	a := z3*(fix1_175-fix1_961) + z4*fix1_175
	b := z3*fix1_175 + z4*(fix1_175-fix0_390)
	o3 := x7*(fix0_298-fix0_899) - x1*fix0_899 + a
	o0 := x1*(fix1_501-fix0_899) - x7*fix0_899 + b
	o2 := x5*(fix2_053-fix2_562) - x3*fix2_562 + b
	o1 := x3*(fix3_072-fix2_562) - x5*fix2_562 + a

	c := x2*fix0_541 + x6*(fix0_541-fix1_847)
	d := x2*(fix0_541+fix0_765) + x6*fix0_541
	sum, difference := wrap(x0+x4)<<dctBits+half, wrap(x0-x4)<<dctBits+half
	e0, e1, e2, e3 := sum+d, difference+c, difference-c, sum-d
	return e0 + o0, e1 + o1, e2 + o2, e3 + o3, e3 - o3, e2 - o2, e1 - o1, e0 - o0
}

// idct4Plain is idct4 without assembly.
func idct4Plain(dst []byte, stride int, coefs [][64]int16, quant *[64]uint16) {
	var w [64]int32
	for i := range coefs {
		dequantise(&w, &coefs[i], quant)
		for x := range 8 {
			if x == 4 {
				continue // the second pass takes no part of it
			}
			c := w[x : x+57]
			y0, y1, y2, y3 := points4(c[0], c[8], c[16], c[24], c[40], c[48], c[56], 1<<(dctBits-passBits))
			c[0], c[8] = saturate(y0>>(dctBits-passBits+1)), saturate(y1>>(dctBits-passBits+1))
			c[16], c[24] = saturate(y2>>(dctBits-passBits+1)), saturate(y3>>(dctBits-passBits+1))
		}
		for y := range 4 {
			c := w[8*y : 8*y+8]
			row := dst[y*stride+4*i:][:4]
			x0, x1, x2, x3 := points4(c[0], c[1], c[2], c[3], c[5], c[6], c[7], 1<<(dctBits+passBits+3))
			row[0], row[1] = sample(x0>>(dctBits+passBits+4)), sample(x1>>(dctBits+passBits+4))
			row[2], row[3] = sample(x2>>(dctBits+passBits+4)), sample(x3>>(dctBits+passBits+4))
		}
	}
}

// points4 leaves 4 of the samples of 8 coefficients, of which the fifth has no
// part.
func points4(x0, x1, x2, x3, x5, x6, x7, half int32) (y0, y1, y2, y3 int32) {
	a := -x7*fix0_211 + x5*fix1_451 - x3*fix2_172 + x1*fix1_061
	b := -x7*fix0_509 - x5*fix0_601 + x3*fix0_899 + x1*fix2_562
	c := x2*fix1_847 - x6*fix0_765
	dc := x0<<(dctBits+1) + half
	e0, e1 := dc+c, dc-c
	return e0 + b, e1 + a, e1 - a, e0 - b
}

// idct2Plain is idct2 without assembly.
func idct2Plain(dst []byte, stride int, coefs [][64]int16, quant *[64]uint16) {
	var w [64]int32
	for i := range coefs {
		dequantise(&w, &coefs[i], quant)
		for _, x := range [...]int{0, 1, 3, 5, 7} {
			c := w[x : x+57]
			a, b := points2(c[0], c[8], c[24], c[40], c[56], 1<<(dctBits-passBits+1))
			c[0], c[8] = a>>(dctBits-passBits+2), b>>(dctBits-passBits+2)
			if x > 0 {
				c[0], c[8] = saturate(c[0]), saturate(c[8])
			}
		}
		for y := range 2 {
			c := w[8*y : 8*y+8]
			a, b := points2(c[0], c[1], c[3], c[5], c[7], 1<<(dctBits+passBits+4))
			row := dst[y*stride+2*i:][:2]
			row[0], row[1] = sample(a>>(dctBits+passBits+5)), sample(b>>(dctBits+passBits+5))
		}
	}
}

// points2 leaves 2 of the samples of 8 coefficients, of which those between the
// odd ones have no part.
func points2(x0, x1, x3, x5, x7, half int32) (a, b int32) {
	odd := x1*fix3_624 - x3*fix1_272 + x5*fix0_850 - x7*fix0_720
	dc := x0<<(dctBits+2) + half
	return dc + odd, dc - odd
}

// idct1 makes one sample of each block: its mean. It wraps where it has more than 10 bits, as
// libjpeg's does.
func idct1(dst []byte, _ int, coefs [][64]int16, quant *[64]uint16) {
	for i := range coefs {
		mean := (int32(coefs[i][0])*int32(quant[0]) + 4) >> 3
		dst[i] = sample(mean << 22 >> 22)
	}
}
