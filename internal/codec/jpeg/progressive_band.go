package jpeg

import (
	"encoding/binary"
	"math/bits"
)

// A band is the state that the blocks of a segment of a scan of AC coefficients share.
type band struct {
	table *huffTable
	mask  uint64 // its coefficients, the first of a block in the highest bit
	ended int    // blocks that come next and have no new coefficients
	al    int    // point transform after the scan
}

// firstAC reads n blocks of the first scan of a band of AC coefficients.
func firstAC(r *bitReader, s *scan, first, n int) fault {
	return s.eachRow(r, first, n, (*bitReader).firstBand)
}

// moreAC reads n blocks of a scan that refines a band of AC coefficients.
func moreAC(r *bitReader, s *scan, first, n int) fault {
	return s.eachRow(r, first, n, (*bitReader).refineBand)
}

// eachRow decodes n blocks of a scan of AC coefficients, from the given one on, row by row. It
// passes neighbouring blocks to decode, none if only the verdict is wanted, and the masks of their
// non-zero coefficients.
func (s *scan) eachRow(r *bitReader, first, n int, decode func(*bitReader, *band, []block, []uint64) fault) fault {
	p := s.planes[0]
	s.band = band{table: p.acTable, mask: ^uint64(0) >> s.ss & (^uint64(0) << (63 - s.se)), al: s.al}
	for n > 0 {
		row, column := first/p.wide, first%p.wide
		run := min(n, p.wide-column)
		at := row*p.stride + column
		var coefs []block
		if len(p.coefs) > 0 {
			coefs = p.coefs[at:][:run]
		}
		if f := decode(r, &s.band, coefs, p.nonzero[at:][:run]); f != 0 {
			return f
		}
		first += run
		n -= run
	}
	return 0
}

// firstBand reads neighbouring blocks of the first scan of a band.
func (r *bitReader) firstBand(c *band, coefs []block, known []uint64) (f fault) {
	var waste block
	ss, se := bits.LeadingZeros64(c.mask), 63-bits.TrailingZeros64(c.mask)
	table, al := c.table, c.al
	buf, pos, acc, have := r.buf, r.pos, r.acc, r.n
blocks:
	for i := 0; ; i++ {
		skip := min(c.ended, len(known)-i)
		c.ended -= skip
		if i += skip; i >= len(known) {
			break
		}
		if pos*8-int(have) > r.end {
			f = short
			break
		}
		b := &waste
		if len(coefs) > 0 {
			b = &coefs[i]
		}
		fresh := uint64(0)
		for k := ss; k <= se; k++ {
			acc |= binary.BigEndian.Uint64(buf[pos:]) >> (have & 63)
			pos += int((63 - have) >> 3)
			have |= 56
			e := table.one[acc>>(64-lookBits)]
			if e == unknown {
				if e = table.long(int32(acc>>48), true); e == unknown {
					f = badCode
					break blocks
				}
			}
			run, size := int(e>>28), uint(e>>24&15)
			v := amplitude(acc<<(e>>16&63), size)
			acc <<= e & 63
			have -= uint(e & 63)
			if size == 0 && run < 15 {
				// This block and a number of following ones have no more coefficients in this band.
				c.ended = 1<<run + int(acc>>1>>(63-run)) - 1
				acc <<= run
				have -= uint(run)
				break
			}
			if k += run; k > se {
				f = overrun
				break blocks
			}
			if size != 0 {
				fresh |= 1 << (63 - k)
				b[naturalOrder[k]&63] = v << al
			}
		}
		known[i] |= fresh
	}
	r.pos, r.acc, r.n = pos, acc, have
	return f
}

// refineBandPlain reads neighbouring blocks of a scan that refines a band: a bit for each
// coefficient that is known not to be zero, which makes it larger or not, and the places of those
// that become so.
func (r *bitReader) refineBandPlain(c *band, coefs []block, known []uint64) (f fault) {
	var waste block
	step := int16(1) << c.al
	buf, pos, acc, have := r.buf, r.pos, r.acc, r.n
blocks:
	for i, had := range known {
		if pos*8-int(have) > r.end {
			f = short
			break
		}
		b := &waste
		if len(coefs) > 0 {
			b = &coefs[i]
		}
		for left := c.mask; left != 0; {
			refined, next, fresh := had&left, uint64(0), int16(0) // what comes before the next new coefficient; its bit and value
			if c.ended == 0 {
				acc |= binary.BigEndian.Uint64(buf[pos:]) >> (have & 63)
				pos += int((63 - have) >> 3)
				have |= 56
				e := c.table.one[acc>>(64-lookBits)]
				if e == unknown {
					if e = c.table.long(int32(acc>>48), true); e == unknown {
						f = badCode
						break blocks
					}
				}
				run, size := int(e>>28), uint(e>>24&15)
				if size > 1 {
					f = badCode
					break blocks
				}
				fresh = amplitude(acc<<(e>>16&63), size) << c.al
				acc <<= e & 63
				have -= uint(e & 63)
				if size == 0 && run < 15 {
					c.ended = 1<<run + int(acc>>1>>(63-run))
					acc <<= run
					have -= uint(run)
				} else {
					// Skip the zeros of the run; coefficients between them are refined.
					zeros := ^had & left
					for ; run > 0; run-- {
						zeros &^= highest(zeros)
					}
					if zeros == 0 {
						f = overrun
						break blocks
					}
					next = highest(zeros)
					refined &= -next
				}
			}
			for n := bits.OnesCount64(refined); n > 0; {
				acc |= binary.BigEndian.Uint64(buf[pos:]) >> (have & 63)
				pos += int((63 - have) >> 3)
				have |= 56
				now := min(n, 56)
				n -= now
				have -= uint(now)
				for ; now > 0; now-- {
					v := &b[naturalOrder[uint8(bits.LeadingZeros64(refined))]&63]
					refined &^= highest(refined)
					sign := *v >> 15
					*v += (step ^ sign - sign) & int16(int64(acc)>>63)
					acc <<= 1
				}
			}
			if fresh != 0 {
				known[i] |= next
				b[naturalOrder[uint8(bits.LeadingZeros64(next))]&63] = fresh
			}
			if next == 0 {
				break
			}
			left &= next - 1
		}
		if c.ended > 0 {
			c.ended--
		}
	}
	r.pos, r.acc, r.n = pos, acc, have
	return f
}

// highest is the highest bit of v alone.
func highest(v uint64) uint64 { return 1 << 63 >> bits.LeadingZeros64(v) }
