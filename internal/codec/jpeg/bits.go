package jpeg

import "encoding/binary"

// fault is why a walk over entropy-coded data stopped.
type fault uint8

const (
	short   fault = iota + 1 // the data ended
	badCode                  // bits that are not a code of the table
	overrun                  // coefficients past the end of the block or band
	enough                   // none: the rest is not wanted
)

// bitReader reads bits, the highest first, from buf, which must have [padding] bytes after its end.
// Users must call exhausted before each block.
type bitReader struct {
	buf []byte
	pos int    // next byte to load
	acc uint64 // loaded bits, left-aligned
	n   uint   // how many of them count
	end int    // bits of data in buf
}

// consumed returns the number of bits read.
func (r *bitReader) consumed() int { return r.pos*8 - int(r.n) }

// exhausted reports whether more bits were read than there are.
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
