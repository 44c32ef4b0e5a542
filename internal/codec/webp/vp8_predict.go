package webp

import "encoding/binary"

// Prediction within a frame (RFC 6386, 12).

// everyByte repeats a byte eight times.
const everyByte = 0x0101010101010101

func word(p []byte) uint64 { return binary.LittleEndian.Uint64(p) }

func putWord(p []byte, v uint64) { binary.LittleEndian.PutUint64(p, v) }

// predictLuma predicts 16x16 samples.
func predictLuma(w *[26 * workStride]byte, mode uint8, left, above bool) {
	const top = yAt - workStride
	switch mode {
	case modeDC:
		v := meanDC(w, yAt, 16, left, above) * everyByte
		for at := yAt; at < yAt+16*workStride; at += workStride {
			putWord(w[at:], v)
			putWord(w[at+8:], v)
		}
	case modeVE:
		a, b := word(w[top:]), word(w[top+8:])
		for at := yAt; at < yAt+16*workStride; at += workStride {
			putWord(w[at:], a)
			putWord(w[at+8:], b)
		}
	case modeHE:
		for at := yAt; at < yAt+16*workStride; at += workStride {
			v := uint64(w[at-1]) * everyByte
			putWord(w[at:], v)
			putWord(w[at+8:], v)
		}
	case modeTM:
		predictTM(w, yAt, 16)
	}
}

// predictChroma predicts 8x8 samples of Cb and of Cr.
func predictChroma(w *[26 * workStride]byte, mode uint8, left, above bool) {
	for at := cbAt; at <= crAt; at += crAt - cbAt {
		switch mode {
		case modeDC:
			v := meanDC(w, at, 8, left, above) * everyByte
			for y := range 8 {
				putWord(w[at+workStride*y:], v)
			}
		case modeVE:
			v := word(w[at-workStride:])
			for y := range 8 {
				putWord(w[at+workStride*y:], v)
			}
		case modeHE:
			for y := range 8 {
				putWord(w[at+workStride*y:], uint64(w[at+workStride*y-1])*everyByte)
			}
		case modeTM:
			predictTM(w, at, 8)
		}
	}
}

// meanDC is the rounded mean of those samples above and to the left that are of the image, or 128.
func meanDC(w *[26 * workStride]byte, at, size int, left, above bool) uint64 {
	sum, n := 0, 0
	if above {
		n += size
		for _, v := range w[at-workStride:][:size] {
			sum += int(v)
		}
	}
	if left {
		n += size
		for y := range size {
			sum += int(w[at+workStride*y-1])
		}
	}
	if n == 0 {
		return 0x80
	}
	return uint64((sum + n/2) / n)
}

// predictTMPlain continues the gradients of the samples above and to the left.
func predictTMPlain(w *[26 * workStride]byte, at, size int) {
	corner := int32(w[at-workStride-1])
	above := w[at-workStride:][:size]
	for y := range size {
		row := w[at+workStride*y:][:len(above)]
		d := int32(w[at+workStride*y-1]) - corner
		for x, v := range above {
			row[x] = clip(int32(v) + d)
		}
	}
}

// mean2 and mean3 are weighted means, rounded up from one half.
func mean2(a, b int) uint32    { return uint32(a+b+1) >> 1 }
func mean3(a, b, c int) uint32 { return uint32(a+2*b+c+2) >> 2 }

// four puts four samples into a word.
func four(a, b, c, d uint32) uint32 { return a | b<<8 | c<<16 | d<<24 }

// predictSubblock predicts 4x4 samples from those to the left, p to s from above, the corner, a, and
// those above, b to e and further to the right.
func predictSubblock(w *[26 * workStride]byte, at int, mode uint8) {
	top := w[at-workStride-1:][:9]
	a, b, c, d, e := int(top[0]), int(top[1]), int(top[2]), int(top[3]), int(top[4])
	p, q, r, s := int(w[at-1]), int(w[at+workStride-1]), int(w[at+2*workStride-1]), int(w[at+3*workStride-1])
	var r0, r1, r2, r3 uint32
	switch mode {
	case modeDC:
		v := uint32(b+c+d+e+p+q+r+s+4) >> 3 * (everyByte & 0xFFFFFFFF)
		r0, r1, r2, r3 = v, v, v, v
	case modeTM:
		predictTM(w, at, 4)
		return
	case modeVE:
		v := four(mean3(a, b, c), mean3(b, c, d), mean3(c, d, e), mean3(d, e, int(top[5])))
		r0, r1, r2, r3 = v, v, v, v
	case modeHE:
		const each = everyByte & 0xFFFFFFFF
		r0, r1, r2, r3 = mean3(a, p, q)*each, mean3(p, q, r)*each, mean3(q, r, s)*each, mean3(r, s, s)*each
	case modeRD:
		srq, rqp, qpa, pab, abc, bcd, cde := mean3(s, r, q), mean3(r, q, p), mean3(q, p, a), mean3(p, a, b), mean3(a, b, c), mean3(b, c, d), mean3(c, d, e)
		r0 = four(pab, abc, bcd, cde)
		r1 = r0<<8 | qpa
		r2 = r1<<8 | rqp
		r3 = r2<<8 | srq
	case modeVR:
		r0 = four(mean2(a, b), mean2(b, c), mean2(c, d), mean2(d, e))
		r1 = four(mean3(p, a, b), mean3(a, b, c), mean3(b, c, d), mean3(c, d, e))
		r2 = r0<<8 | mean3(q, p, a)
		r3 = r1<<8 | mean3(r, q, p)
	case modeLD:
		f, g, h := int(top[6]), int(top[7]), int(top[8])
		e, d, c, b, a := int(top[5]), e, d, c, b
		r0 = four(mean3(a, b, c), mean3(b, c, d), mean3(c, d, e), mean3(d, e, f))
		r1 = r0>>8 | mean3(e, f, g)<<24
		r2 = r1>>8 | mean3(f, g, h)<<24
		r3 = r2>>8 | mean3(g, h, h)<<24
	case modeVL:
		f, g, h := int(top[6]), int(top[7]), int(top[8])
		e, d, c, b, a := int(top[5]), e, d, c, b
		r0 = four(mean2(a, b), mean2(b, c), mean2(c, d), mean2(d, e))
		r1 = four(mean3(a, b, c), mean3(b, c, d), mean3(c, d, e), mean3(d, e, f))
		r2 = r0>>8 | mean3(e, f, g)<<24
		r3 = r1>>8 | mean3(f, g, h)<<24
	case modeHD:
		r3 = four(mean2(s, r), mean3(s, r, q), mean2(r, q), mean3(r, q, p))
		r2 = r3>>16 | mean2(q, p)<<16 | mean3(q, p, a)<<24
		r1 = r2>>16 | mean2(p, a)<<16 | mean3(p, a, b)<<24
		r0 = r1>>16 | mean3(a, b, c)<<16 | mean3(b, c, d)<<24
	case modeHU:
		last := uint32(s)
		r0 = four(mean2(p, q), mean3(p, q, r), mean2(q, r), mean3(q, r, s))
		r1 = r0>>16 | mean2(r, s)<<16 | mean3(r, s, s)<<24
		r2 = r1>>16 | last<<16 | last<<24
		r3 = last * (everyByte & 0xFFFFFFFF)
	}
	binary.LittleEndian.PutUint32(w[at:], r0)
	binary.LittleEndian.PutUint32(w[at+workStride:], r1)
	binary.LittleEndian.PutUint32(w[at+2*workStride:], r2)
	binary.LittleEndian.PutUint32(w[at+3*workStride:], r3)
}
