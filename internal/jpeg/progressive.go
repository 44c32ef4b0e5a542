package jpeg

import (
	"encoding/binary"
	"math/bits"
)

// progression prepares a scan of a progressive image. The rules are those of ITU-T T.81,
// G.1.1.1: DC and AC in scans of their own, a component's DC before its AC, each refinement
// by one bit of what the scan before it left.
func (c *checker) progression(s *scan, at int) error {
	switch {
	case s.se > 63 || s.se < s.ss || s.al > 13,
		s.ss == 0 && s.se != 0,
		s.ss > 0 && len(s.planes) > 1,
		s.ah > 0 && s.al != s.ah-1:
		return damagef("the scan at byte %d has the band %d to %d and the precision %d to %d of %d components",
			at, s.ss, s.se, s.ah, s.al, len(s.planes))
	}
	for _, p := range s.planes {
		if s.ss > 0 && p.precision[0] < 0 {
			return damagef("the scan at byte %d brings details of component %d before its means", at, p.ID)
		}
		for k := s.ss; k <= s.se; k++ {
			if had := int(p.precision[k]); s.ah == 0 && had >= 0 || s.ah > 0 && had != s.ah {
				return damagef("the scan at byte %d does not continue coefficient %d of component %d", at, k, p.ID)
			}
			p.precision[k] = int8(s.al)
		}
		p.seen = true
	}
	if c.h.Arithmetic() {
		return nil
	}
	walks := [2][2]func(*bitReader, *scan, int, int) fault{{firstDC, moreDC}, {firstAC, moreAC}}
	s.walk = walks[min(s.ss, 1)][min(s.ah, 1)]
	if p := s.planes[0]; s.ss > 0 && len(p.nonzero) == 0 {
		// No larger than the data: each block's mean took a bit at least.
		if n := p.stride * p.rows; cap(p.nonzero) < n {
			p.nonzero = make([]uint64, n)
		} else {
			p.nonzero = p.nonzero[:n]
			clear(p.nonzero)
		}
	}
	if c.decoding && s.ss == 0 && s.ah == 0 {
		for _, p := range s.planes {
			p.coefs = zeroed(p.coefs, p.stride*p.rows)
		}
	}
	return nil
}

// eachBlock calls f for the blocks of n MCUs from the given one on, in the order of the scan,
// until one returns a fault.
func (s *scan) eachBlock(first, n int, f func(i int, p *plane, b *block) fault) fault {
	for unit := first; unit < first+n; unit++ {
		row, column := unit/s.across, unit%s.across
		for i, p := range s.planes {
			h, v := s.factors(p)
			for y := range v {
				for x := range h {
					if err := f(i, p, p.block((row*v+y)*p.stride+column*h+x)); err != 0 {
						return err
					}
				}
			}
		}
	}
	return 0
}

// firstDC reads n MCUs of the first scan of DC coefficients.
func firstDC(r *bitReader, s *scan, first, n int) fault {
	var means [4]int32
	return s.eachBlock(first, n, func(i int, p *plane, b *block) fault {
		if r.exhausted() {
			return short
		}
		e, v := r.value(p.dcTable, false)
		if e == unknown {
			return badCode
		}
		means[i] += int32(v)
		b[0] = int16(means[i] << s.al)
		return 0
	})
}

// moreDC reads n MCUs of a scan that refines DC coefficients: a bit for each block.
func moreDC(r *bitReader, s *scan, first, n int) fault {
	if n*s.blocks > r.end {
		return short
	}
	return s.eachBlock(first, n, func(_ int, _ *plane, b *block) fault {
		b[0] |= int16(r.take(1) << s.al)
		return 0
	})
}

// firstAC reads n blocks of the first scan of a band of AC coefficients.
func firstAC(r *bitReader, s *scan, first, n int) (f fault) {
	p := s.planes[0]
	table := p.acTable
	buf, pos, acc, have := r.buf, r.pos, r.acc, r.n
blocks:
	for i := first; i < first+n; i++ {
		if pos*8-int(have) > r.end {
			f = short
			break
		}
		at := i/p.wide*p.stride + i%p.wide
		known, b := p.nonzero[at], p.block(at)
		for k := s.ss; k <= s.se; k++ {
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
				i += 1<<run + int(acc>>1>>(63-run)) - 1
				acc <<= run
				have -= uint(run)
				break
			}
			if k += run; k > s.se {
				f = overrun
				break blocks
			}
			if size != 0 {
				known |= 1 << k
				b[naturalOrder[k]&63] = v << s.al
			}
		}
		p.nonzero[at] = known
	}
	r.pos, r.acc, r.n = pos, acc, have
	return f
}

// moreAC reads n blocks of a scan that refines a band of AC coefficients: a bit for each
// coefficient that is known not to be zero, which makes it larger or not, and the places of
// those that become so.
func moreAC(r *bitReader, s *scan, first, n int) (f fault) {
	p := s.planes[0]
	table := p.acTable
	band := ^uint64(0) << s.ss & (^uint64(0) >> (63 - s.se))
	step := int16(1) << s.al
	ended := 0 // blocks, this one included, that have no new coefficients any more
	buf, pos, acc, have := r.buf, r.pos, r.acc, r.n
blocks:
	for i := first; i < first+n; i++ {
		if pos*8-int(have) > r.end {
			f = short
			break
		}
		at := i/p.wide*p.stride + i%p.wide
		known, b := p.nonzero[at], p.block(at)
		for k := s.ss; k <= s.se; {
			next, fresh := 64, int16(0) // the place and the value of the next new coefficient
			if ended == 0 {
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
				if size > 1 {
					f = badCode
					break blocks
				}
				fresh = amplitude(acc<<(e>>16&63), size) << s.al
				acc <<= e & 63
				have -= uint(e & 63)
				if size == 0 && run < 15 {
					ended = 1<<run + int(acc>>1>>(63-run))
					acc <<= run
					have -= uint(run)
				} else {
					// Skip the zeros of the run; coefficients between them are refined.
					zeros := ^known & band >> k << k
					for ; run > 0; run-- {
						zeros &= zeros - 1
					}
					if zeros == 0 {
						f = overrun
						break blocks
					}
					next = bits.TrailingZeros64(zeros)
				}
			}
			// Nothing is known of the place itself.
			refined := known & band & (1<<next - 1) >> k << k
			for left := bits.OnesCount64(refined); left > 0; {
				acc |= binary.BigEndian.Uint64(buf[pos:]) >> (have & 63)
				pos += int((63 - have) >> 3)
				have |= 56
				now := min(left, 56)
				left -= now
				have -= uint(now)
				for ; now > 0; now-- {
					c := &b[naturalOrder[uint8(bits.TrailingZeros64(refined))]&63]
					refined &= refined - 1
					sign := *c >> 15
					*c += (step ^ sign - sign) & int16(int64(acc)>>63)
					acc <<= 1
				}
			}
			if k = next + 1; fresh != 0 {
				known |= 1 << next
				b[naturalOrder[uint8(next)]&63] = fresh
			}
		}
		if ended > 0 {
			ended--
		}
		p.nonzero[at] = known
	}
	r.pos, r.acc, r.n = pos, acc, have
	return f
}
