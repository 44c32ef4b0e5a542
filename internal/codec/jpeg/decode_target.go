package jpeg

import (
	"image"
	"slices"
)

// target holds the samples of a component of an image that is decoded.
type target struct {
	side  int    // samples that a block becomes across and down: 8, 4, 2 or 1
	pix   []byte // the plane, of whole blocks: rows of pitch bytes
	pitch int
	steps [64]uint16 // quantisation, in natural order
	coefs []block    // progressive: all blocks, rows of stride; none when only the verdict is wanted
	waste block      // used in place of all blocks if coefs is empty

	// The range of the blocks whose samples are wanted, without the end; empty if only the verdict
	// is wanted.
	rows0, rows1, columns0, columns1 int
}

// block is block i of a progressive image.
func (t *target) block(i int) *block {
	if len(t.coefs) == 0 {
		return &t.waste
	}
	return &t.coefs[i]
}

// inverse writes neighbouring blocks as samples, as far as they are wanted, from the given row and
// column of blocks on.
func (t *target) inverse(row, column int, coefs []block) {
	lo, hi := max(t.columns0-column, 0), min(t.columns1-column, len(coefs))
	if row < t.rows0 || row >= t.rows1 || lo >= hi {
		return
	}
	coefs = coefs[lo:hi]
	dst := t.pix[(row*t.pitch+column+lo)*t.side:]
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

// aim sets the size of the component's plane for blocks of side samples, with room in buf.
func (p *plane) aim(buf []byte, side int) {
	p.side, p.pitch = side, p.stride*side
	n := p.pitch * p.rows * side
	p.pix = slices.Grow(buf[:0], n)[:n]
	p.rows1, p.columns1 = p.rows, p.stride
}

// restrict leaves out blocks, of the given size in pixels, in which a part of the image has
// none.
func (p *plane) restrict(part image.Rectangle, width, height int) {
	p.columns0, p.columns1 = max(part.Min.X, 0)/width, min(ceilDiv(part.Max.X, width), p.stride)
	p.rows0, p.rows1 = max(part.Min.Y, 0)/height, min(ceilDiv(part.Max.Y, height), p.rows)
}

// zeroed gives n zeros, or blocks of them, in the memory of room if it is large enough.
func zeroed[T block | uint64](room []T, n int) []T {
	if cap(room) < n {
		return make([]T, n)
	}
	room = room[:n]
	clear(room)
	return room
}

// finish makes the samples of a progressive image, whose coefficients are complete only now.
func (c *checker) finish() {
	if !c.large() {
		for i := range c.planes[:c.h.N] {
			p := &c.planes[i]
			for y := range p.rows {
				p.finish(y)
			}
		}
		return
	}
	rows := 0
	for i := range c.planes[:c.h.N] {
		rows += c.planes[i].rows
	}
	c.share(rows, func(y int) {
		p := &c.planes[0]
		for i := 1; y >= p.rows; i++ {
			y -= p.rows
			p = &c.planes[i]
		}
		p.finish(y)
	})
}

// finish makes the samples of a row of blocks.
func (p *plane) finish(y int) { p.inverse(y, 0, p.coefs[y*p.stride:][:p.stride]) }
