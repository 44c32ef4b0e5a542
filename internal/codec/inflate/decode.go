package inflate

import (
	"encoding/binary"
	"io"
)

// inSlack is the number of bytes of data that a turn of decodeFast may read.
const inSlack = 24

// codes decodes symbols of a block: to its end, or until room or data run out. It reads more data
// only for a caller with fewer than n bytes to take.
func (r *Reader) codes(n int) error {
	c := &r.codec
	for len(c.out)-c.pos > slack {
		if len(c.in)-c.at >= inSlack {
			if c.decodeFast() {
				r.state = inBlock
				return nil
			}
			if len(c.out)-c.pos <= slack {
				return nil
			}
		}
		switch done, err := r.decodeSlow(); {
		case err == io.ErrUnexpectedEOF && !r.ended: // of the piece
			if c.pos-r.taken >= n {
				return nil
			}
			if err := r.more(); err != nil && !r.ended {
				return err
			}
		case done:
			r.state = inBlock
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// decodeSlow decodes one symbol, a pair of literals counting as one, and returns true for the end of
// the block. It returns io.ErrUnexpectedEOF, and has changed nothing, if the piece is too short for
// the symbol.
func (r *Reader) decodeSlow() (end bool, err error) {
	c := &r.codec
	for c.count <= 55 && c.at < len(c.in) {
		c.bits |= uint64(c.in[c.at]) << c.count
		c.at++
		c.count += 8
	}
	bits, count := c.bits, c.count
	e := c.lit[bits&(1<<litBits-1)]
	if e&twoLiterals == twoLiterals && uint64(e&31) > count { // the second one is from missing bits
		first := e >> 8 & 0xFF
		e = oneLiteral | first<<8 | uint32(r.literals[first])
	}
	if e&(literal|litOther|endOf|noCode) == litOther {
		bits, count = bits>>litBits, count-min(count, litBits)
		e = c.lit[e>>12&0xFFFF+uint32(bits)&(1<<(e>>8&15)-1)]
	}
	used := uint64(e & 63)
	switch {
	case used > count:
		return false, io.ErrUnexpectedEOF
	case e&literal != 0:
		binary.LittleEndian.PutUint16(c.out[c.pos:], uint16(e>>8))
		c.pos += int(e >> 24 & 3)
		c.bits, c.count = bits>>used, count-used
		return false, nil
	case e&litOther != 0:
		if e&endOf == 0 {
			return false, r.fail("a code that no symbol has")
		}
		c.bits, c.count = bits>>used, count-used
		return true, nil
	}
	length := int(e>>16) + int(bits&(1<<used-1)>>(e>>8&15))
	bits, count = bits>>used, count-used

	e = c.dist[bits&(1<<distBits-1)]
	if e&(distOther|noCode) == distOther {
		bits, count = bits>>distBits, count-min(count, distBits)
		e = c.dist[e>>12&0xFFFF+uint32(bits)&(1<<(e>>8&15)-1)]
	}
	used = uint64(e & 63)
	switch {
	case used > count:
		return false, io.ErrUnexpectedEOF
	case e&distOther != 0:
		return false, r.fail("a code that no distance has")
	}
	distance := int(e>>16) + int(bits&(1<<used-1)>>(e>>8&15))
	if distance > c.pos-c.start {
		return false, r.fail("a distance of %d after %d bytes", distance, c.pos-c.start)
	}
	c.bits, c.count = bits>>used, count-used
	for range length {
		c.out[c.pos] = c.out[c.pos-distance]
		c.pos++
	}
	return false, nil
}
