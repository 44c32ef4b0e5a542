package jpeg

import "math/bits"

// The forward cosine transform is libjpeg's accurate integer one (jfdctint.c),
// the counterpart of idct8, and what follows divides as its vector code does
// (jcdctmgr.c, jquanti).

// divisors divide the 64 coefficients of a block, in natural order. Each is divided by eight times
// its entry in the quantisation table, because the transform scales by eight. They hold the term
// for rounding, the reciprocal and the scale that shifts the quotient, each row twice, for the two
// blocks that the assembly processes at a time.
type divisors [3][8][16]uint16

// set sets the divisors for a quantisation table, in natural order, of numbers from 1 to 255.
// Quotients equal the integer division by 8*quant[i], rounded half up.
func (d *divisors) set(quant *[64]uint16) {
	for i, q := range quant {
		divisor := uint32(q) * 8
		shift := 15 + bits.Len32(divisor)
		reciprocal, rest := uint32(1)<<shift/divisor, uint32(1)<<shift%divisor
		add := divisor / 2
		switch {
		case rest == 0: // a power of two: the reciprocal has a bit too many
			reciprocal >>= 1
			shift--
		case rest <= divisor/2:
			add++
		default:
			reciprocal++
		}
		for part, v := range [...]uint32{add, reciprocal, 1 << (32 - shift)} {
			d[part][i/8][i%8], d[part][i/8][i%8+8] = uint16(v), uint16(v)
		}
	}
}

// blockLayout is the layout of the blocks of a row among the blocks of its MCUs: the second block
// of each pair is between blocks after the first, the next pair step blocks further.
type blockLayout struct{ between, step int }

// of returns the position of block i.
func (p blockLayout) of(i int) int { return i/2*p.step + i%2*p.between }

// zigzagOrder maps a position in a block to its index in zigzag order.
var zigzagOrder = func() (t [64]uint8) {
	for k := range t {
		t[naturalOrder[k]] = uint8(k)
	}
	return t
}()

// fdctPlain is [fdct] without assembly.
func fdctPlain(coefs []block, nonzero []uint64, at blockLayout, src []byte, stride int, d *divisors, n int) {
	var w [64]int32
	for i := range n {
		for y := range 8 {
			s := src[y*stride+8*i:][:8]
			c := w[8*y : 8*y+8]
			c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7] = forward8(int32(s[0]), int32(s[1]), int32(s[2]), int32(s[3]),
				int32(s[4]), int32(s[5]), int32(s[6]), int32(s[7]), dctBits-passBits)
			// The samples have not been centred around zero: that shows in the sums alone.
			c[0] = (c[0] - 8*128) << passBits
			c[4] <<= passBits
		}
		for x := range 8 {
			c := w[x : x+57]
			c[0], c[8], c[16], c[24], c[32], c[40], c[48], c[56] = forward8(c[0], c[8], c[16], c[24], c[32], c[40], c[48], c[56], dctBits+passBits)
			c[0] = (c[0] + 1<<(passBits-1)) >> passBits
			c[32] = (c[32] + 1<<(passBits-1)) >> passBits
		}
		b, mask := &coefs[at.of(i)], uint64(0)
		for y := range 8 {
			add, reciprocal, scale := &d[0][y], &d[1][y], &d[2][y]
			for x, v := range w[8*y : 8*y+8] {
				sign := v >> 31
				q := (uint32(v^sign-sign) + uint32(add[x&7])) * uint32(reciprocal[x&7]) >> 16 * uint32(scale[x&7]) >> 16
				k := zigzagOrder[8*y+x] & 63
				b[k] = int16(int32(q) ^ sign - sign)
				mask |= uint64(-q>>31) << k
			}
		}
		nonzero[at.of(i)] = mask
	}
}

// forward8 is the 8-point transform in one direction, scaled by the square root of 8, with bits
// dropped from all but the sums, 0 and 4, which have no fraction.
func forward8(x0, x1, x2, x3, x4, x5, x6, x7 int32, bits uint) (y0, y1, y2, y3, y4, y5, y6, y7 int32) {
	t0, t1, t2, t3 := x0+x7, x1+x6, x2+x5, x3+x4
	t7, t6, t5, t4 := x0-x7, x1-x6, x2-x5, x3-x4
	t10, t11, t12, t13 := t0+t3, t1+t2, t1-t2, t0-t3
	half := int32(1) << (bits - 1)
	z3, z4 := t4+t6, t5+t7
	a := z3*(fix1_175-fix1_961) + z4*fix1_175 + half
	b := z3*fix1_175 + z4*(fix1_175-fix0_390) + half
	y0, y4 = t10+t11, t10-t11
	y1 = (t7*(fix1_501-fix0_899) - t4*fix0_899 + b) >> bits
	y2 = (t13*(fix0_541+fix0_765) + t12*fix0_541 + half) >> bits
	y3 = (t6*(fix3_072-fix2_562) - t5*fix2_562 + a) >> bits
	y5 = (t5*(fix2_053-fix2_562) - t6*fix2_562 + b) >> bits
	y6 = (t13*fix0_541 + t12*(fix0_541-fix1_847) + half) >> bits
	y7 = (t4*(fix0_298-fix0_899) - t7*fix0_899 + a) >> bits
	return
}
