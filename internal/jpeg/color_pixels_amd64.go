//go:build !noasm

package jpeg

import "slices"

// convertRow converts a row of full planes, whose chroma may be longer than the luma.
func convertRow(dst, luma, cb, cr []byte) {
	n := len(luma)
	if !hasVectors || n < wide {
		convertRowPlain(dst, luma, cb, cr)
		return
	}
	_, _, _ = dst[3*n-1], cb[n-1], cr[n-1]
	if hasAVX512 && n >= 2*wide {
		convertRowAVX512(&dst[0], &luma[0], &cb[0], &cr[0], n)
		return
	}
	convertRowAVX2(&dst[0], &luma[0], &cb[0], &cr[0], n)
}

// rounding is what makes sixteen times a sample, less 128, round as doubleBoth does, and, with the
// same row for both, as doubleAcross does: for even samples, then for odd ones.
var roundingBoth, roundingAcross = rounding(8, 7), rounding(4, 8)

func rounding(even, odd int16) (r [64]int16) {
	for i := range 32 {
		r[i], r[32+i] = even-128*16, odd-128*16
	}
	return r
}

// convertDoubled converts row y, whose chroma has half the width of the luma and smoothly becomes as
// wide. It reports false where there is no assembly for that.
func convertDoubled(dst, luma []byte, cb, cr *upsampler, y int) bool {
	n := len(luma) &^ 1
	if !hasVectors || n < 2*wide || cb.w != ceilDiv(len(luma), 2) || cr.w != cb.w || cb.fy != cr.fy {
		return false
	}
	_ = dst[3*len(luma)-1]
	u, v := cb.weigh(y), cr.weigh(y)
	round := &roundingBoth
	if cb.fy == 1 {
		round = &roundingAcross
	}
	if hasAVX512 {
		convertDoubledAVX512(&dst[0], &luma[0], &u[1], &v[1], &round[0], n)
	} else {
		convertDoubledAVX2(&dst[0], &luma[0], &u[1], &v[1], &round[0], n)
	}
	if n < len(luma) { // the last one is even
		var chroma [2]byte
		for i, sums := range [2][]int16{u, v} {
			chroma[i] = byte((3*sums[cb.w]+sums[cb.w-1]+round[0])>>4 + 128)
		}
		convertRowPlain(dst[3*n:], luma[n:], chroma[:1], chroma[1:])
	}
	return true
}

// weigh adds three parts of the nearer row of the plane and one of the other for row y of the enlarged
// plane, of 32 samples or more. The result, with one more at either end, is valid until the next call.
func (e *upsampler) weigh(y int) []int16 {
	near, far := e.rows(y)
	e.sums = slices.Grow(e.sums[:0], e.w+2)[:e.w+2]
	if hasAVX512 {
		weighRowsAVX512(&e.sums[1], &near[0], &far[0], e.w)
	} else {
		weighRowsAVX2(&e.sums[1], &near[0], &far[0], e.w)
	}
	e.sums[0], e.sums[e.w+1] = e.sums[1], e.sums[e.w]
	return e.sums
}

// convertVideoRow converts a row of full planes in the range of video.
func convertVideoRow(dst, luma, cb, cr []byte) {
	n := len(luma)
	if !hasVectors || n < wide {
		convertVideoRowPlain(dst, luma, cb, cr)
		return
	}
	_, _, _ = dst[3*n-1], cb[n-1], cr[n-1]
	convertVideoAVX2(&dst[0], &luma[0], &cb[0], &cr[0], n)
}

// interleaveRow makes pixels of a row of three colours.
func interleaveRow(dst, red, green, blue []byte) {
	n := len(red)
	if !hasVectors || n < wide {
		interleaveRowPlain(dst, red, green, blue)
		return
	}
	_, _, _ = dst[3*n-1], green[n-1], blue[n-1]
	interleaveRowAVX2(&dst[0], &red[0], &green[0], &blue[0], n)
}
