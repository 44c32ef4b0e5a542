package jpeg

import "encoding/binary"

// fault is why a walk over entropy-coded data stopped.
type fault uint8

const (
	short   fault = iota + 1 // the data ended
	badCode                  // bits that are no code of the table
	overrun                  // coefficients past the end of the block or band
)

// bitReader reads bits, the highest first, from buf, which must have [padding] bytes behind
// its end. Whoever uses it calls exhausted before each block.
type bitReader struct {
	buf []byte
	pos int    // next byte to load
	acc uint64 // loaded bits, left-aligned
	n   uint   // how many of them count
	end int    // bits of data in buf
}

// consumed is how many bits were used.
func (r *bitReader) consumed() int { return r.pos*8 - int(r.n) }

// exhausted says whether more bits were used than there are.
func (r *bitReader) exhausted() bool { return r.consumed() > r.end }

// refill makes at least 56 bits available. It loads whole words and counts whole bytes: bits
// past the count are loaded again next time, to the same place.
func (r *bitReader) refill() {
	r.acc |= binary.BigEndian.Uint64(r.buf[r.pos:]) >> (r.n & 63)
	r.pos += int((63 - r.n) >> 3)
	r.n |= 56
}

// take reads n bits, at most 32.
func (r *bitReader) take(n uint) uint32 {
	if r.n < 32 {
		r.refill()
	}
	v := uint32(r.acc >> 32 >> (32 - n))
	r.acc <<= n
	r.n -= n
	return v
}

// drop skips n bits, which need not be there.
func (r *bitReader) drop(n int) {
	for ; n > 32; n -= 32 {
		r.take(32)
	}
	r.take(uint(n))
}

// symbol reads one code and the amplitude bits that belong to it, and returns the code's
// entry, unknown for a bad one.
func (r *bitReader) symbol(t *huffTable, ac bool) entry {
	if r.n < 32 {
		r.refill()
	}
	e := t.one[r.acc>>(64-lookBits)]
	if e == unknown {
		if e = t.long(int32(r.acc>>48), ac); e == unknown {
			return e
		}
	}
	r.acc <<= e & 63
	r.n -= uint(e & 63)
	return e
}

// value is symbol with the amplitude.
func (r *bitReader) value(t *huffTable, ac bool) (entry, int16) {
	if r.n < 32 {
		r.refill()
	}
	bits := r.acc
	e := r.symbol(t, ac)
	size := uint(e >> 24)
	if ac {
		size &= 15
	}
	return e, amplitude(bits<<(e>>16&63), size)
}

// tablePair is what one block of an MCU is coded with.
type tablePair struct{ dc, ac *huffTable }

// blocks walks over n MCUs of a sequential scan, each with the blocks given. This is where the
// time goes: the state is kept in variables, and the loop over coefficients refills once for
// two lookups, which use 26 bits at most each.
func (r *bitReader) blocks(mcu []tablePair, n int) fault {
	buf, pos, acc, have := r.buf, r.pos, r.acc, r.n
	for range n {
		for _, t := range mcu {
			if pos*8-int(have) > r.end {
				return short
			}
			acc |= binary.BigEndian.Uint64(buf[pos:]) >> (have & 63)
			pos += int((63 - have) >> 3)
			have |= 56
			e := t.dc.one[acc>>(64-lookBits)]
			if e == unknown {
				if e = t.dc.long(int32(acc>>48), false); e == unknown {
					return badCode
				}
			}
			acc <<= e & 63
			have -= uint(e & 63)
			ac := t.ac
			for k := uint32(1); k < 64; {
				acc |= binary.BigEndian.Uint64(buf[pos:]) >> (have & 63)
				pos += int((63 - have) >> 3)
				have |= 56
				e = ac.two[acc>>(64-lookBits)]
				next := k + e>>8&0xFF
				if next < 64 {
					acc <<= e & 63
					have -= uint(e & 63)
					k = next
					e = ac.two[acc>>(64-lookBits)]
					if next = k + e>>8&0xFF; next < 64 {
						acc <<= e & 63
						have -= uint(e & 63)
						k = next
						continue
					}
				}
				if next != 64 && next-endOfBlock > 63 {
					// A long code, or two symbols of which the second may belong to the next block.
					acc |= binary.BigEndian.Uint64(buf[pos:]) >> (have & 63)
					pos += int((63 - have) >> 3)
					have |= 56
					e = ac.one[acc>>(64-lookBits)]
					if e == unknown {
						if e = ac.long(int32(acc>>48), true); e == unknown {
							return badCode
						}
					}
					next = k + e>>8&0xFF
					if next > 64 && next < endOfBlock {
						return overrun
					}
				}
				acc <<= e & 63
				have -= uint(e & 63)
				k = next
			}
		}
	}
	r.pos, r.acc, r.n = pos, acc, have
	return 0
}
