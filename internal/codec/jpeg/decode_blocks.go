package jpeg

import "encoding/binary"

// block is the coefficients of 8x8 samples, in natural order: rows from the top.
type block = [64]int16

// naturalOrder maps an index in zigzag order to the place in a block. After the 64 there is room
// for coefficients past a block's end, which go to its last place: such a block is an error, or the
// coefficient is the zero in entries of an end of block.
var naturalOrder = func() (t [256]uint8) {
	for i := range t {
		t[i] = 63
	}
	x, y := 0, 0
	for k := range 64 {
		t[k] = uint8(8*y + x)
		switch {
		case (x+y)&1 == 0 && x == 7:
			y++
		case (x+y)&1 == 0 && y == 0:
			x++
		case (x+y)&1 == 0:
			x, y = x+1, y-1
		case y == 7:
			x++
		case x == 0:
			y++
		default:
			x, y = x-1, y+1
		}
	}
	return t
}()

// blockCode is one block of an MCU: its tables, and where its samples go.
type blockCode struct {
	dc, ac    *huffTable
	component int
	at, step  int // blockLayout of the next one among the blocks given, and from there to the one after
}

// decodeBlocksPlain decodes n MCUs of a sequential scan, each with the blocks given, into coefs,
// which must be zero if samples are computed from them. means are the previous DC coefficients of
// each component. After a fault the reader is at the beginning of the faulty code, as in the
// assembly: the reported error depends on it.
//
// Most of the time is spent here: the state is kept in variables, and the loop over coefficients
// refills once for two lookups.
func (r *bitReader) decodeBlocksPlain(coefs []block, codes []blockCode, means *[4]int32, n int) (f fault) {
	buf, pos, acc, have := r.buf, r.pos, r.acc, r.n
blocks:
	for range n {
		for j := range codes {
			code := &codes[j]
			if pos*8-int(have) > r.end {
				f = short
				break blocks
			}
			b := &coefs[code.at]
			code.at += code.step
			acc |= binary.BigEndian.Uint64(buf[pos:]) >> (have & 63)
			pos += int((63 - have) >> 3)
			have |= 56
			s := code.dc.one[acc>>(64-lookBits)]
			if s == unknown {
				if s = code.dc.long(int32(acc>>48), false); s == unknown {
					f = badCode
					break blocks
				}
			}
			mean := means[code.component&3] + int32(amplitude(acc<<(s>>16&63), uint(s>>24)))
			means[code.component&3] = mean
			b[0] = int16(mean)
			acc <<= s & 63
			have -= uint(s & 63)

			ac := code.ac
			for k := uint64(1); k < 64; {
				acc |= binary.BigEndian.Uint64(buf[pos:]) >> (have & 63)
				pos += int((63 - have) >> 3)
				have |= 56
				e := ac.pairs[acc>>(64-lookBits)]
				next := k + e>>8&0xFF
				if next < 64 && int64(e) >= 0 {
					acc <<= e & 63
					have -= uint(e & 63)
					b[naturalOrder[uint8(k+e>>48)]&63] = int16(e >> 16)
					b[naturalOrder[uint8(next-1)]&63] = int16(e >> 32)
					k = next
					e = ac.pairs[acc>>(64-lookBits)]
					if next = k + e>>8&0xFF; next < 64 && int64(e) >= 0 {
						acc <<= e & 63
						have -= uint(e & 63)
						b[naturalOrder[uint8(k+e>>48)]&63] = int16(e >> 16)
						b[naturalOrder[uint8(next-1)]&63] = int16(e >> 32)
						k = next
						continue
					}
				}
				if int64(e) >= 0 && (next == 64 || next-endOfBlock <= 63) {
					acc <<= e & 63
					have -= uint(e & 63)
					b[naturalOrder[uint8(k+e>>48)]&63] = int16(e >> 16)
					b[naturalOrder[uint8(next-1)]&63] = int16(e >> 32)
					break
				}
				// A value that is not wholly in sight, two symbols of which the second may
				// belong to the next block, or a long code.
				acc |= binary.BigEndian.Uint64(buf[pos:]) >> (have & 63)
				pos += int((63 - have) >> 3)
				have |= 56
				s := ac.one[acc>>(64-lookBits)]
				if s == unknown {
					if s = ac.long(int32(acc>>48), true); s == unknown {
						f = badCode
						break blocks
					}
				}
				if k += uint64(s >> 8 & 0xFF); k > 64 && k < endOfBlock {
					f = overrun
					break blocks
				}
				b[naturalOrder[uint8(k-1)]&63] = amplitude(acc<<(s>>16&63), uint(s>>24&15))
				acc <<= s & 63
				have -= uint(s & 63)
			}
		}
	}
	r.pos, r.acc, r.n = pos, acc, have
	return f
}

// amplitude reads the signed value of a number of bits at the top of bits (ITU-T T.81, F.12). It is
// negative if its first bit is zero.
func amplitude(bits uint64, size uint) int16 {
	negative := ^int32(int64(bits) >> 63) // no branch: signs can't be predicted
	return int16(int32(bits>>1>>(63-size&63)) + (-1<<(size&31)+1)&negative)
}
