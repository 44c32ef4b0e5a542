package webp

// The kinds of blocks of coefficients (RFC 6386, 13.3).
const (
	planeAfterDC = iota // luma without DC
	planeDC             // the DC of luma
	planeChroma
	planeLuma // with DC
	planes
)

// tokenProbs are the probabilities of a kind of blocks by position and by how many of the blocks
// above and to the left have coefficients: 11 and padding. After the last position there are some
// that are never used. The assembly knows the layout.
type tokenProbs [17][3][16]uint8

// positionBands are the bands of the positions.
var positionBands = [17]uint8{0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0}

// zigzag maps positions to places of coefficients.
var zigzag = [16]uint8{0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15}

// extraBits are the probabilities of the bits of large coefficients, up to a 0.
var extraBits = [6][12]uint8{
	{159},
	{165, 145},
	{173, 148, 140},
	{176, 155, 140, 135},
	{180, 157, 141, 134, 130},
	{254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129},
}

// readTokenProbs reads the probabilities (RFC 6386, 13.4).
func (d *vp8) readTokenProbs(r *boolReader) {
	for plane := range planes {
		var bands [8][3][16]uint8
		for band := range bands {
			for context := range 3 {
				for i, p := range tokenDefaults[plane][band][context] {
					if r.bit(tokenUpdates[plane][band][context][i]) {
						p = uint8(r.literal(8))
					}
					bands[band][context][i] = p
				}
			}
		}
		for i, band := range positionBands {
			d.tokens[plane][i] = bands[band]
		}
	}
}

// readCoefficients reads the coefficients of a macroblock (RFC 6386, 13) and reports whether any is
// not 0.
func (d *vp8) readCoefficients(r *boolReader, mbx int) bool {
	m, above, left, steps := &d.mb, &d.above[mbx], &d.left, &d.steps[d.mb.segment]
	plane, from, any := &d.tokens[planeLuma], 0, uint8(0)
	if m.whole {
		dc := (*[16]int16)(m.coefs[24*16:])
		end := readBlock(r, &d.tokens[planeDC], int(left.dc+above.dc), 0, &steps.y2, dc)
		left.dc = min(end, 1)
		above.dc = left.dc
		if end > 0 {
			inverseWHT(&m.coefs)
			*dc = [16]int16{}
		}
		plane, from = &d.tokens[planeAfterDC], 1
	}
	for y := range 4 {
		nz := left.luma[y]
		for x := range 4 {
			i := 4*y + x
			coefs := (*[16]int16)(m.coefs[16*i:])
			end := readBlock(r, plane, int(nz+above.luma[x]), from, &steps.y1, coefs)
			nz = min(end, 1)
			above.luma[x] = nz
			if end == 0 && coefs[0] != 0 {
				end = 1
			}
			m.ends[i] = end
			any |= end
		}
		left.luma[y] = nz
	}
	plane = &d.tokens[planeChroma]
	for y := range 4 { // two rows of Cb and two of Cr
		nz := left.chroma[y]
		for x := range 2 {
			i := 16 + 2*y + x
			context := &above.chroma[y&2+x]
			end := readBlock(r, plane, int(nz+*context), 0, &steps.uv, (*[16]int16)(m.coefs[16*i:]))
			nz = min(end, 1)
			*context = nz
			m.ends[i] = end
			any |= end
		}
		left.chroma[y] = nz
	}
	return any != 0
}

// noCoefficients is readCoefficients for a macroblock without any.
func (d *vp8) noCoefficients(mbx int) {
	above := &d.above[mbx]
	if d.mb.whole {
		d.left.dc, above.dc = 0, 0
	}
	d.left.luma, above.luma = [4]uint8{}, [4]uint8{}
	d.left.chroma, above.chroma = [4]uint8{}, [4]uint8{}
}

// readBlockPlain reads the coefficients of a block from a position on, and returns the position
// after the last one, or 0 if there are none. Coefs are zeros before.
func readBlockPlain(r *boolReader, probs *tokenProbs, context, from int, steps *[2]uint16, coefs *[16]int16) (end uint8) {
	n := from
	p := &probs[n][context]
	if !r.bit(p[0]) {
		return 0
	}
	for n < 16 {
		n++
		if !r.bit(p[1]) {
			p = &probs[n][0]
			continue
		}
		v := 1
		if !r.bit(p[2]) {
			p = &probs[n][1]
		} else {
			v = largeToken(r, p)
			p = &probs[n][2]
		}
		at := zigzag[n-1]
		step := int(steps[1])
		if at == 0 {
			step = int(steps[0])
		}
		if r.bit(even) {
			v = -v
		}
		coefs[at] = int16(v * step)
		if n == 16 || !r.bit(p[0]) {
			break
		}
	}
	return uint8(n)
}

// largeToken reads the rest of a token for 2 or more.
func largeToken(r *boolReader, p *[16]uint8) int {
	category, v := 0, 0
	switch {
	case !r.bit(p[3]):
		if !r.bit(p[4]) {
			return 2
		}
		return 3 + r.number(p[5])
	case !r.bit(p[6]):
		category = r.number(p[7])
	default:
		high := r.number(p[8])
		category = 2 + 2*high + r.number(p[9+high])
	}
	for _, p := range extraBits[category] {
		if p == 0 {
			break
		}
		v = 2*v + r.number(p)
	}
	return v + 3 + 2<<category
}
