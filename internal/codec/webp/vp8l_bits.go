package webp

import "encoding/binary"

// bitReader reads bits from the lowest one of each byte up (RFC 9649, 3.3).
type bitReader struct {
	bits  uint64
	n     int // bits in bits, of which the last missing ones are not of data
	data  []byte
	added int // how many bits came after the end of data
}

func (r *bitReader) init(data []byte) { *r = bitReader{data: data} }

// fill makes n at least 56.
func (r *bitReader) fill() {
	if len(r.data) >= 8 {
		r.bits |= binary.LittleEndian.Uint64(r.data) << uint(r.n)
		r.data = r.data[(63-r.n)>>3:]
		r.n |= 56
		return
	}
	for r.n < 56 {
		if len(r.data) > 0 {
			r.bits |= uint64(r.data[0]) << uint(r.n)
			r.data = r.data[1:]
		} else {
			r.added += 8
		}
		r.n += 8
	}
}

// overrun reports whether more bits were read than the data have.
func (r *bitReader) overrun() bool { return r.n < r.added }

// skip drops k bits.
func (r *bitReader) skip(k uint32) {
	r.bits >>= k & 63
	r.n -= int(k)
}

// read reads a number of k bits, at most 18.
func (r *bitReader) read(k uint32) uint32 {
	if r.n < 32 {
		r.fill()
	}
	v := uint32(r.bits) & (1<<k - 1)
	r.skip(k)
	return v
}

// symbol reads a symbol of a code.
func (r *bitReader) symbol(c *prefixCode) uint32 {
	if r.n < 32 {
		r.fill()
	}
	e := c.entry(r.bits)
	r.skip(e & entryLength)
	return e >> entrySymbol
}
