package jpeg

import "slices"

// target is where the samples of a component go when a picture is decoded.
type target struct {
	side  int    // samples that a block becomes across and down: 8, 4, 2, 1, or 0 for a component that isn't wanted
	pix   []byte // the plane, of whole blocks: rows of pitch bytes
	pitch int
	steps [64]uint16 // quantisation, in natural order
	coefs []block    // progressive: all blocks, rows of stride; none when only the verdict is wanted
	waste block
}

// block is block i of a progressive picture.
func (t *target) block(i int) *block {
	if len(t.coefs) == 0 {
		return &t.waste
	}
	return &t.coefs[i]
}

// inverse writes a row of blocks as samples.
func (t *target) inverse(dst []byte, coefs []block) {
	switch t.side {
	case 8:
		idct8(dst, t.pitch, coefs, &t.steps)
	case 4:
		idct4(dst, t.pitch, coefs, &t.steps)
	case 2:
		idct2(dst, t.pitch, coefs, &t.steps)
	case 1:
		idct1(dst, t.pitch, coefs, &t.steps)
	}
}

// aim makes the plane p that of a component at the given size of a block, with room in buf.
func (p *plane) aim(buf []byte, side int) {
	p.side, p.pitch = side, p.stride*side
	n := p.pitch * p.rows * side
	p.pix = slices.Grow(buf[:0], n)[:n]
}

// runBlocks is how many blocks are decoded at a time, before their samples are made: as many
// as stay in the first-level cache beside the lookup tables.
const runBlocks = 128

// slab gives room for a run of MCUs.
func (c *checker) slab() []block {
	if c.coefs == nil {
		c.coefs = make([]block, runBlocks)
	}
	return c.coefs
}

// zeroed gives n blocks of zeros, in the memory of room if it is large enough.
func zeroed(room []block, n int) []block {
	if cap(room) < n {
		return make([]block, n)
	}
	room = room[:n]
	clear(room)
	return room
}

// decodeSequential decodes n MCUs of a sequential scan, from the given one on, which stand
// behind a restart marker or begin the scan.
func decodeSequential(r *bitReader, s *scan, first, n int) fault {
	var room [4 * 16]blockCode
	var means [4]int32
	for n > 0 {
		row, column := first/s.across, first%s.across
		run := min(n, s.across-column, max(1, runBlocks/s.blocks))
		codes := s.codes(room[:0], run)
		coefs := s.coefs[:run*s.blocks]
		clear(coefs)
		if f := r.decodeBlocks(coefs, codes, &means, run); f != 0 {
			return f
		}
		for _, p := range s.planes {
			h, v := s.factors(p)
			for y := range v {
				if p.side > 0 {
					p.inverse(p.pix[((row*v+y)*p.pitch+column*h)*p.side:], coefs[:h*run])
				}
				coefs = coefs[h*run:]
			}
		}
		first += run
		n -= run
	}
	return 0
}

// codes appends the blocks of an MCU. In a run of so many MCUs, the blocks of a component that
// lie side by side follow one another: row by row, one component behind the other.
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

// factors says how many blocks of a component an MCU has across and down.
func (s *scan) factors(p *plane) (h, v int) {
	if len(s.planes) == 1 {
		return 1, 1
	}
	return p.H, p.V
}

// finish makes the samples of a progressive picture, whose coefficients are complete only now.
func (p *plane) finish() {
	for y := range p.rows {
		p.inverse(p.pix[y*p.side*p.pitch:], p.coefs[y*p.stride:][:p.stride])
	}
}
