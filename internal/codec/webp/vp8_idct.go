package webp

// The inverse transforms (RFC 6386, 14.3 and 14.4), in 32 bits.

// The factors of the transform, times 65536.
const (
	cosine = 85627 // sqrt(2) * cos(pi/8)
	sine   = 35468 // sqrt(2) * sin(pi/8)
)

func clip(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// inverseDCTPlain adds the transform of coefs to the subblock, and makes coefs zeros.
func inverseDCTPlain(w *[26 * workStride]byte, at int, coefs *[16]int16) {
	var m [4][4]int32
	for i := range 4 {
		c0, c1, c2, c3 := int32(coefs[i]), int32(coefs[4+i]), int32(coefs[8+i]), int32(coefs[12+i])
		a, b := c0+c2, c0-c2
		c, d := c1*sine>>16-c3*cosine>>16, c1*cosine>>16+c3*sine>>16
		m[0][i], m[1][i], m[2][i], m[3][i] = a+d, b+c, b-c, a-d
	}
	for y := range m {
		dc, m1, m2, m3 := m[y][0]+4, m[y][1], m[y][2], m[y][3]
		a, b := dc+m2, dc-m2
		c, d := m1*sine>>16-m3*cosine>>16, m1*cosine>>16+m3*sine>>16
		m[y] = [4]int32{a + d, b + c, b - c, a - d}
	}
	for y := range 4 {
		row := (*[4]byte)(w[at+workStride*y:])
		for x := range row {
			row[x] = clip(int32(row[x]) + m[y][x]>>3)
		}
	}
	*coefs = [16]int16{}
}

// addDCPlain is inverseDCT of a block whose only coefficient is dc.
func addDCPlain(w *[26 * workStride]byte, at int, dc int16) {
	v := (int32(dc) + 4) >> 3
	for y := range 4 {
		row := (*[4]byte)(w[at+workStride*y:])
		for x := range row {
			row[x] = clip(int32(row[x]) + v)
		}
	}
}

// inverseWHT makes the DC coefficients of the 16 blocks of luma from the last block.
func inverseWHT(coefs *[25 * 16]int16) {
	in := (*[16]int16)(coefs[24*16:])
	var m [16]int32
	for i := range 4 {
		c0, c1, c2, c3 := int32(in[i]), int32(in[4+i]), int32(in[8+i]), int32(in[12+i])
		a0, a1, a2, a3 := c0+c3, c1+c2, c1-c2, c0-c3
		m[i], m[4+i], m[8+i], m[12+i] = a0+a1, a3+a2, a0-a1, a3-a2
	}
	for i := range 4 {
		dc := m[4*i] + 3
		a0, a1, a2, a3 := dc+m[4*i+3], m[4*i+1]+m[4*i+2], m[4*i+1]-m[4*i+2], dc-m[4*i+3]
		out := coefs[64*i : 64*i+64]
		out[0], out[16], out[32], out[48] = int16((a0+a1)>>3), int16((a3+a2)>>3), int16((a0-a1)>>3), int16((a3-a2)>>3)
	}
}
