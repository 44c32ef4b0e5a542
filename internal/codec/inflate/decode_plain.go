package inflate

import "encoding/binary"

// decodeFastPlain decodes symbols while a turn can neither exhaust the piece nor the room. It
// returns true at the end of the block. It returns false before what decodeSlow has to look at: the
// ends of piece and room, and whatever is wrong.
func (c *codec) decodeFastPlain() (end bool) {
	bits, count, at, pos := c.bits, c.count, c.at, c.pos
	in, out, lit, dist := c.in, c.out, c.lit, c.dist
	le := binary.LittleEndian
	inEnd, outEnd := len(in)-inSlack, len(out)-slack
	for at <= inEnd && pos < outEnd {
		// Bits above count already equal the bits of the next byte: the or changes nothing in them.
		bits |= le.Uint64(in[at:]) << (count & 63)
		at += int(63-count) >> 3
		count |= 56
		e := lit[bits&(1<<litBits-1)]
		if e&literal != 0 {
			le.PutUint16(out[pos:], uint16(e>>8))
			pos += int(e >> 24 & 3)
			bits >>= e & 31
			count -= uint64(e & 31)
			if e = lit[bits&(1<<litBits-1)]; e&literal != 0 {
				le.PutUint16(out[pos:], uint16(e>>8))
				pos += int(e >> 24 & 3)
				bits >>= e & 31
				count -= uint64(e & 31)
				if e = lit[bits&(1<<litBits-1)]; e&literal != 0 {
					le.PutUint16(out[pos:], uint16(e>>8))
					pos += int(e >> 24 & 3)
					bits >>= e & 31
					count -= uint64(e & 31)
					continue
				}
			}
			bits |= le.Uint64(in[at:]) << (count & 63)
			at += int(63-count) >> 3
			count |= 56
		}
		saved, savedCount := bits, count
		if e&litOther != 0 {
			if e&(endOf|noCode) == 0 {
				bits >>= litBits
				count -= litBits
				e = lit[e>>12&0xFFFF+uint32(bits)&(1<<(e>>8&15)-1)]
				if e&literal != 0 {
					out[pos] = byte(e >> 8)
					pos++
					bits >>= e & 31
					count -= uint64(e & 31)
					continue
				}
			}
			if e&litOther != 0 {
				if e&noCode != 0 {
					bits, count = saved, savedCount
					break
				}
				bits >>= e & 31
				count -= uint64(e & 31)
				end = true
				break
			}
		}
		used := e & 31
		length := int(e>>16) + int(uint32(bits)&(1<<used-1)>>(e>>8&15))
		bits >>= used
		count -= uint64(used)

		e = dist[bits&(1<<distBits-1)]
		if e&distOther != 0 {
			if e&noCode == 0 {
				bits >>= distBits
				count -= distBits
				e = dist[e>>12&0xFFFF+uint32(bits)&(1<<(e>>8&15)-1)]
			}
			if e&distOther != 0 {
				bits, count = saved, savedCount
				break
			}
		}
		used = e & 31
		distance := int(e>>16) + int(uint32(bits)&(1<<used-1)>>(e>>8&15))
		if distance > pos-c.start {
			bits, count = saved, savedCount
			break
		}
		bits >>= used
		count -= uint64(used)
		copyMatch(out, pos, distance, length)
		pos += length
	}
	c.bits, c.count, c.at, c.pos = bits&(1<<count-1), count, at, pos
	return end
}

// copyMatch copies length bytes from distance bytes before pos, and may write up to 15 after them.
func copyMatch(out []byte, pos, distance, length int) {
	le := binary.LittleEndian
	switch {
	case distance >= 8:
		src, dst := out[pos-distance:], out[pos:pos+length+15]
		for len(dst) > 15 {
			le.PutUint64(dst, le.Uint64(src))
			src, dst = src[8:], dst[8:]
		}
	case distance == 1:
		v := uint64(out[pos-1]) * 0x0101010101010101
		for dst := out[pos : pos+length+15]; len(dst) > 15; dst = dst[8:] {
			le.PutUint64(dst, v)
		}
	default:
		// Each step writes whole periods of the pattern, and something after them.
		for end := pos + length; pos < end; pos += distance {
			le.PutUint64(out[pos:], le.Uint64(out[pos-distance:]))
		}
	}
}
