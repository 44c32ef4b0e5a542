package jpeg

// progression prepares a scan of a progressive image. The rules follow ITU-T T.81, G.1.1.1: DC and
// AC in separate scans, a component's DC before its AC, each refinement by one bit of the precision
// that the scan before it left.
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
		p.nonzero = zeroed(p.nonzero, p.stride*p.rows)
	}
	if c.decoding && s.ss == 0 && s.ah == 0 {
		for _, p := range s.planes {
			p.coefs = zeroed(p.coefs, p.stride*p.rows)
		}
	}
	return nil
}

// meanBlock is one block of an MCU of a scan of DC coefficients.
type meanBlock struct {
	*plane
	component int // of the scan
	at, step  int // which block of the plane is next, and from there to the one after
}

// meanBlocks appends the blocks of an MCU of a scan of DC coefficients.
func (s *scan) meanBlocks(to []meanBlock, row, column int) []meanBlock {
	for i, p := range s.planes {
		h, v := s.factors(p)
		for y := range v {
			for x := range h {
				to = append(to, meanBlock{p, i, (row*v+y)*p.stride + column*h + x, h})
			}
		}
	}
	return to
}

// eachMean calls decode for the blocks of n MCUs from the given one on, in the order of the scan,
// until one returns a fault.
func (s *scan) eachMean(first, n int, decode func(blocks []meanBlock) fault) fault {
	var room [4 * 16]meanBlock
	for n > 0 {
		row, column := first/s.across, first%s.across
		run := min(n, s.across-column)
		blocks := s.meanBlocks(room[:0], row, column)
		for range run {
			if f := decode(blocks); f != 0 {
				return f
			}
			for i := range blocks {
				blocks[i].at += blocks[i].step
			}
		}
		first += run
		n -= run
	}
	return 0
}

// firstDC reads n MCUs of the first scan of DC coefficients.
func firstDC(r *bitReader, s *scan, first, n int) fault {
	var means [4]int32
	return s.eachMean(first, n, func(blocks []meanBlock) fault {
		for i := range blocks {
			if r.exhausted() {
				return short
			}
			b := &blocks[i]
			e, v := r.value(b.dcTable, false)
			if e == unknown {
				return badCode
			}
			mean := &means[b.component&3]
			*mean += int32(v)
			b.block(b.at)[0] = int16(*mean << s.al)
		}
		return 0
	})
}

// moreDC reads n MCUs of a scan that refines DC coefficients: a bit for each block.
func moreDC(r *bitReader, s *scan, first, n int) fault {
	if n*s.blocks > r.end {
		return short
	}
	return s.eachMean(first, n, func(blocks []meanBlock) fault {
		for i := range blocks {
			b := &blocks[i]
			b.block(b.at)[0] |= int16(r.take(1) << s.al)
		}
		return 0
	})
}
