package jpeg

// planeSource is planes to encode.
type planeSource struct {
	pix    [3][]byte
	stride [3]int
}

// row transforms a row of MCUs. The planes are read in place, but for the blocks
// that reach beyond their edges: those are made with the edge repeated.
func (s planeSource) row(e *encoding, y int) {
	for i := range e.components {
		c := &e.components[i]
		pix, stride := s.pix[i], s.stride[i]
		for v := range min(c.down, c.high-y*c.down) {
			top := 8 * (y*c.down + v)
			x := 0
			if top+8 <= c.height {
				x = c.width / 16 * 2
				e.blocks(c, 0, v, pix[top*stride:], stride, x)
			}
			for ; x < c.wide; x += 2 {
				for j := range 8 {
					row := pix[min(top+j, c.height-1)*stride:][:c.width]
					extend(e.corner[16*j:][:16], copy(e.corner[16*j:][:16], row[8*x:]))
				}
				e.blocks(c, x, v, e.corner[:], 16, min(c.wide-x, 2))
			}
		}
	}
}

// extend repeats the last of the n samples at the front of a row to its end.
func extend(row []byte, n int) {
	for i := n; i < len(row); i++ {
		row[i] = row[n-1]
	}
}
