package webp

func abs(v int) int { return max(v, -v) }

// signed keeps a number to the range of eight bits.
func signed(v int) int { return min(max(v, -128), 127) }

// change returns the changes of p0 and q0.
func change(a int) (p, q int) { return signed(a+3) >> 3, signed(a+4) >> 3 }

func sample(v int) uint8 { return uint8(min(max(v, 0), 255)) }

// simpleEdge filters n places next to each other along an edge, next bytes apart, by changing the
// two samples at the edge. Samples across it are step bytes apart.
func simpleEdge(pix []byte, at, n, next, step int, limit uint8) {
	for ; n > 0; n-- {
		p1, p0, q0, q1 := int(pix[at-2*step]), int(pix[at-step]), int(pix[at]), int(pix[at+step])
		if 2*abs(p0-q0)+abs(p1-q1)>>1 <= int(limit) {
			p, q := change(signed(p1-q1) + 3*(q0-p0))
			pix[at-step], pix[at] = sample(p0+p), sample(q0-q)
		}
		at += next
	}
}

// normalEdge is simpleEdge for the normal filter, which changes up to three samples on either side
// of a macroblock's edge, and up to two for a subblock's edge.
func normalEdge(pix []byte, at, n, next, step int, f *filterLevels, macroblock bool) {
	limit, inner, uneven := int(f.edge[0]), int(f.inner[0]), int(f.uneven[0])
	if macroblock {
		limit = int(f.macroblock[0])
	}
	for ; n > 0; n, at = n-1, at+next {
		p3, p2, p1, p0 := int(pix[at-4*step]), int(pix[at-3*step]), int(pix[at-2*step]), int(pix[at-step])
		q0, q1, q2, q3 := int(pix[at]), int(pix[at+step]), int(pix[at+2*step]), int(pix[at+3*step])
		if 2*abs(p0-q0)+abs(p1-q1)>>1 > limit ||
			max(abs(p3-p2), abs(p2-p1), abs(p1-p0), abs(q1-q0), abs(q2-q1), abs(q3-q2)) > inner {
			continue
		}
		switch {
		case abs(p1-p0) > uneven || abs(q1-q0) > uneven:
			p, q := change(signed(p1-q1) + 3*(q0-p0))
			pix[at-step], pix[at] = sample(p0+p), sample(q0-q)
		case macroblock:
			a := signed(signed(p1-q1) + 3*(q0-p0))
			v := (27*a + 63) >> 7
			pix[at-step], pix[at] = sample(p0+v), sample(q0-v)
			v = (18*a + 63) >> 7
			pix[at-2*step], pix[at+step] = sample(p1+v), sample(q1-v)
			v = (9*a + 63) >> 7
			pix[at-3*step], pix[at+2*step] = sample(p2+v), sample(q2-v)
		default:
			p, q := change(3 * (q0 - p0))
			pix[at-step], pix[at] = sample(p0+p), sample(q0-q)
			v := (q + 1) >> 1
			pix[at-2*step], pix[at+step] = sample(p1+v), sample(q1-v)
		}
	}
}

func simpleAcrossPlain(y []byte, at, stride int, limit *[16]uint8) {
	simpleEdge(y, at, 16, stride, 1, limit[0])
}

func simpleDownPlain(y []byte, at, stride int, limit *[16]uint8) {
	simpleEdge(y, at, 16, 1, stride, limit[0])
}

func outerAcrossLumaPlain(y []byte, at, stride int, f *filterLevels) {
	normalEdge(y, at, 16, stride, 1, f, true)
}

func outerDownLumaPlain(y []byte, at, stride int, f *filterLevels) {
	normalEdge(y, at, 16, 1, stride, f, true)
}

func innerAcrossLumaPlain(y []byte, at, stride int, f *filterLevels) {
	for i := 4; i < 16; i += 4 {
		normalEdge(y, at+i, 16, stride, 1, f, false)
	}
}

func innerDownLumaPlain(y []byte, at, stride int, f *filterLevels) {
	for i := 4; i < 16; i += 4 {
		normalEdge(y, at+i*stride, 16, 1, stride, f, false)
	}
}

func outerAcrossChromaPlain(cb, cr []byte, at, stride int, f *filterLevels) {
	normalEdge(cb, at, 8, stride, 1, f, true)
	normalEdge(cr, at, 8, stride, 1, f, true)
}

func outerDownChromaPlain(cb, cr []byte, at, stride int, f *filterLevels) {
	normalEdge(cb, at, 8, 1, stride, f, true)
	normalEdge(cr, at, 8, 1, stride, f, true)
}

func innerAcrossChromaPlain(cb, cr []byte, at, stride int, f *filterLevels) {
	normalEdge(cb, at+4, 8, stride, 1, f, false)
	normalEdge(cr, at+4, 8, stride, 1, f, false)
}

func innerDownChromaPlain(cb, cr []byte, at, stride int, f *filterLevels) {
	normalEdge(cb, at+4*stride, 8, 1, stride, f, false)
	normalEdge(cr, at+4*stride, 8, 1, stride, f, false)
}
