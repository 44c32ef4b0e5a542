package jpeg

// runBlocks is the number of blocks that are decoded before their samples are computed. They fit
// into the first-level cache together with the lookup tables.
const runBlocks = 128

// slab gives room for a run of MCUs.
func (c *checker) slab() []block {
	if c.coefs == nil {
		c.coefs = make([]block, runBlocks)
	}
	return c.coefs
}

// decodeSequential decodes n MCUs of a sequential scan, from the given one on. This MCU must begin
// the scan or follow a restart marker.
func decodeSequential(r *bitReader, s *scan, first, n int) fault {
	var means [4]int32
	for n > 0 {
		run, f := s.decodeRun(r, &means, first, n)
		if f != 0 {
			return f
		}
		first += run
		n -= run
		if first >= s.until && s.until < s.units {
			return enough
		}
	}
	return 0
}

// decodeRun decodes some MCUs, up to n, from the given one on, and returns how many. means are the
// DC coefficients before, for each component of the scan.
func (s *scan) decodeRun(r *bitReader, means *[4]int32, first, n int) (int, fault) {
	var room [4 * 16]blockCode
	row, column := first/s.across, first%s.across
	run := min(n, s.across-column, max(1, runBlocks/s.blocks))
	coefs := s.coefs[:run*s.blocks]
	clear(coefs)
	if f := r.decodeBlocks(coefs, s.codes(room[:0], run), means, run); f != 0 {
		return 0, f
	}
	for _, p := range s.planes {
		h, v := s.factors(p)
		for y := range v {
			p.inverse(row*v+y, column*h, coefs[:h*run])
			coefs = coefs[h*run:]
		}
	}
	return run, 0
}

// codes appends the blocks of an MCU. In a run of MCUs, neighbouring blocks of a component follow
// one another: row by row, one component after the other.
func (s *scan) codes(to []blockCode, run int) []blockCode {
	at := 0
	for i, p := range s.planes {
		h, v := s.factors(p)
		for range v {
			for x := range h {
				to = append(to, blockCode{p.dcTable, p.acTable, i, at + x, h})
			}
			at += h * run
		}
	}
	return to
}

// factors returns the number of blocks of a component in an MCU, across and down.
func (s *scan) factors(p *plane) (h, v int) {
	if len(s.planes) == 1 {
		return 1, 1
	}
	return p.H, p.V
}
