package jpeg

import "math/bits"

// progression prepares a scan of a progressive picture. The rules are those of ITU-T T.81,
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
	walks := [2][2]func(*bitReader, *scan, int, int) fault{{walkFirstDC, walkMoreDC}, {walkFirstAC, walkMoreAC}}
	if c.decoding {
		walks = [2][2]func(*bitReader, *scan, int, int) fault{{decodeFirstDC, decodeMoreDC}, {decodeFirstAC, decodeMoreAC}}
	}
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

// walkFirstDC walks over n MCUs of the first scan of DC coefficients.
func walkFirstDC(r *bitReader, s *scan, _, n int) fault {
	for range n {
		for _, p := range s.planes {
			blocks := p.H * p.V
			if len(s.planes) == 1 {
				blocks = 1
			}
			for range blocks {
				if r.exhausted() {
					return short
				}
				if r.symbol(p.dcTable, false) == unknown {
					return badCode
				}
			}
		}
	}
	return 0
}

// walkMoreDC walks over n MCUs of a scan that refines DC coefficients: a bit for each block.
func walkMoreDC(r *bitReader, s *scan, _, n int) fault {
	if n*s.blocks > r.end {
		return short
	}
	r.drop(n * s.blocks)
	return 0
}

// walkFirstAC walks over n blocks of the first scan of a band of AC coefficients.
func walkFirstAC(r *bitReader, s *scan, first, n int) fault {
	p := s.planes[0]
	for i := first; i < first+n; i++ {
		if r.exhausted() {
			return short
		}
		block := &p.nonzero[i/p.wide*p.stride+i%p.wide]
		for k := s.ss; k <= s.se; k++ {
			e := r.symbol(p.acTable, true)
			if e == unknown {
				return badCode
			}
			run, size := int(e>>28), uint(e>>24&15)
			if size == 0 && run < 15 {
				// This block and a number of others have no more in this band.
				i += 1<<run + int(r.take(uint(run))) - 1
				break
			}
			if k += run; k > s.se {
				return overrun
			}
			if size != 0 {
				*block |= 1 << k
			}
		}
	}
	return 0
}

// walkMoreAC walks over n blocks of a scan that refines a band of AC coefficients: a bit for
// each coefficient that is known not to be zero, and the places of those that become so.
func walkMoreAC(r *bitReader, s *scan, first, n int) fault {
	p := s.planes[0]
	band := ^uint64(0) << s.ss & (^uint64(0) >> (63 - s.se))
	ended := 0 // blocks, this one included, that have no new coefficients any more
	for i := first; i < first+n; i++ {
		if r.exhausted() {
			return short
		}
		block := &p.nonzero[i/p.wide*p.stride+i%p.wide]
		k := s.ss
		for ; ended == 0 && k <= s.se; k++ {
			e := r.symbol(p.acTable, true)
			if e == unknown {
				return badCode
			}
			run, size := int(e>>28), uint(e>>24&15)
			if size > 1 {
				return badCode
			}
			if size == 0 && run < 15 {
				ended = 1<<run + int(r.take(uint(run)))
				break
			}
			// Pass by as many zeros as the run says, to the next; what lies between is refined.
			zeros := ^*block & band >> k << k
			for ; run > 0; run-- {
				zeros &= zeros - 1
			}
			if zeros == 0 {
				return overrun
			}
			next := bits.TrailingZeros64(zeros)
			r.drop(bits.OnesCount64(*block & (1<<next - 1) >> k))
			k = next
			if size != 0 {
				*block |= 1 << k
			}
		}
		if ended > 0 {
			ended--
			if k <= s.se {
				r.drop(bits.OnesCount64(*block & band &^ (1<<k - 1)))
			}
		}
	}
	return 0
}
