package jpeg

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
