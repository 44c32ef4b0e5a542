package jpeg

import "errors"

// A scan is the scan that an SOS segment announces.
type scan struct {
	planes []*plane // those it is of, in room
	room   [4]*plane
	ss, se int     // band of coefficients
	ah, al int     // point transform before and after
	blocks int     // blocks in an MCU; 1 when not interleaved
	units  int     // MCUs in the scan
	across int     // MCUs in a row
	coefs  []block // room for the blocks of a run of MCUs
	band   band    // of AC coefficients of a progressive image
	until  int     // the first MCU that is not wanted any more, units if all are
	// walk follows n MCUs from the given one on; each segment is such a walk.
	walk func(r *bitReader, s *scan, first, n int) fault
}

// walk reads a scan header and walks over the entropy-coded data after it, which begin at pos. It
// returns where the next marker is.
func (c *checker) walk(seg []byte, at, pos int) (int, error) {
	c.scan = scan{}
	s := &c.scan
	if err := c.scanHeader(s, seg, at); err != nil {
		return 0, err
	}
	if c.h.Progressive() {
		if err := c.progression(s, at); err != nil {
			return 0, err
		}
	} else if err := c.sequence(s, at); err != nil {
		return 0, err
	}
	c.work.blocks += int64(s.units) * int64(s.blocks)
	if c.h.Arithmetic() {
		return c.skip(s, at, pos)
	}
	if c.work.blocks > maxPasses*c.h.blocks()+8*int64(len(c.data)) {
		return 0, damagef("the scan at byte %d goes over blocks that were gone over %d times already", at, maxPasses)
	}
	return c.segments(s, at, pos)
}

// maxPasses is the number of times that the scans of an image may go over its blocks regardless of
// the data. Beyond it, the data must have a bit for each block. Encoders write some ten scans; a
// scan that changes nothing takes two bytes for every 32,767 blocks.
const maxPasses = 64

// scanHeader reads the components, their tables, the band and the geometry.
func (c *checker) scanHeader(s *scan, seg []byte, at int) error {
	if len(seg) < 1 || seg[0] < 1 || seg[0] > 4 || len(seg) != 4+2*int(seg[0]) {
		return damagef("scan header of %d bytes at byte %d", len(seg), at)
	}
	n := int(seg[0])
	tail := seg[1+2*n:]
	s.ss, s.se, s.ah, s.al = int(tail[0]), int(tail[1]), int(tail[2]>>4), int(tail[2]&15)
	s.planes = s.room[:0]
	huffman := c.h.Huffman()
	after := 0
	for i := range n {
		id, tables := seg[1+2*i], seg[2+2*i]
		for after < c.h.N && c.planes[after].ID != id {
			after++
		}
		if after == c.h.N {
			return damagef("the scan at byte %d names component %d, which the frame lacks or has in another order", at, id)
		}
		p := &c.planes[after]
		after++
		if !c.quant[p.Tq].present {
			return damagef("component %d uses quantisation table %d, which is not defined", id, p.Tq)
		}
		if !p.seen { // later tables are for later components
			p.steps = c.quant[p.Tq].steps
		}
		dc, ac := int(tables>>4), int(tables&15)
		if dc > 3 || ac > 3 {
			return damagef("the scan at byte %d uses tables %d and %d", at, dc, ac)
		}
		var err error
		if huffman && (!c.h.Progressive() || s.ss == 0 && s.ah == 0) {
			if p.dcTable, err = c.table(0, dc); err != nil {
				return err
			}
		}
		if huffman && (!c.h.Progressive() || s.ss > 0) {
			if p.acTable, err = c.table(1, ac); err != nil {
				return err
			}
		}
		s.planes = append(s.planes, p)
		s.blocks += p.H * p.V
	}
	p := s.planes[0]
	if n == 1 {
		s.blocks = 1
		s.across, s.units = p.wide, p.wide*p.high
	} else {
		s.across = p.stride / p.H
		s.units = s.across * (p.rows / p.V)
	}
	return nil
}

// sequence prepares a scan of a sequential image, where each component comes once.
func (c *checker) sequence(s *scan, at int) error {
	for _, p := range s.planes {
		if p.seen {
			return damagef("the scan at byte %d brings component %d a second time", at, p.ID)
		}
		p.seen = true
		if p.acTable != nil { // Huffman coding
			p.acTable.pair()
		}
	}
	s.walk, s.coefs = decodeSequential, c.slab()
	s.until = s.units
	if !c.part.Empty() && len(s.planes) == c.h.N {
		p := s.planes[0]
		_, v := s.factors(p)
		_, vmax := c.h.maxSampling()
		rows := ceilDiv(c.part.Max.Y, 8*vmax/p.V) // of blocks
		s.until = min(s.units, ceilDiv(rows, v)*s.across)
	}
	return nil
}

// errEnough ends a walk whose remainder does not matter.
var errEnough = errors.New("enough")

// segments walks over the data between restart markers, and checks the markers.
func (c *checker) segments(s *scan, at, pos int) (int, error) {
	interval := s.units
	if c.restart > 0 {
		interval = c.restart
	}
	number, pos := c.together(s, pos)
	for first := number * interval; ; number++ {
		begin := pos
		buf, next, err := nextMarker(c.segment[:0], c.data, pos)
		if err != nil {
			return 0, err
		}
		size := len(buf)
		c.segment = append(buf, zeros[:]...)
		c.bits = bitReader{buf: c.segment, end: size * 8}
		r := &c.bits
		n := min(interval, s.units-first)
		var f fault
		if !c.speculate(s, first, n) {
			f = s.walk(r, s, first, n)
		}
		switch left := r.end - r.consumed(); {
		case f == enough && left >= 0:
			return 0, errEnough
		case left < 0 || f == short:
			return 0, damagef("data missing at byte %d: the segment from byte %d ends too early", next, begin)
		case f == badCode:
			return 0, damagef("a bad Huffman code in the segment from byte %d", begin)
		case f == overrun:
			return 0, damagef("coefficients past the end of a block in the segment from byte %d", begin)
		case left >= 8:
			return 0, damagef("%d bytes of surplus data before byte %d", left/8, next)
		}
		pos = next
		first += n
		done := first >= s.units
		after, is := restartMarker(c.data, pos, number)
		switch {
		case done:
			for c.restart > 0 && is { // some encoders write more of them after the last block
				pos, number = after, number+1
				after, is = restartMarker(c.data, pos, number)
			}
			return pos, nil
		case !is:
			return 0, missingRestart(number, pos, at)
		}
		pos = after
	}
}

// missingRestart returns the error for a missing restart marker.
func missingRestart(number, pos, at int) error {
	return damagef("restart marker %d is missing or out of order at byte %d, in the scan at byte %d", number%8, pos, at)
}

// restartMarker reports whether the marker at pos, after any fill bytes, is the restart marker of
// that number, and returns the position of the data after it.
func restartMarker(data []byte, pos, number int) (int, bool) {
	for pos < len(data) && data[pos] == 0xFF {
		pos++
	}
	if pos >= len(data) || data[pos] != markerRST0+byte(number%8) {
		return 0, false
	}
	return pos + 1, true
}
