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

// rounding returns the terms that make sixteen times a sample, minus 128, round as doubleBoth does
// and, with the same row for both, as doubleAcross does: for even samples, then for odd ones.
var roundingBoth, roundingAcross = rounding(8, 7), rounding(4, 8)

func rounding(even, odd int16) (r [64]int16) {
	for i := range 32 {
		r[i], r[32+i] = even-128*16, odd-128*16
	}
	return r
}

// doubled is convert for chroma with half the width of the luma that is enlarged smoothly. It
// returns false if the assembly does not support that.
func (c *conversion) doubled() bool {
	n, cb, cr := c.w&^1, c.cb, c.cr
	if !hasVectors || n < 2*wide || !cb.smooth || !cr.smooth || cb.fx != 2 || cr.fx != 2 ||
		cb.w != ceilDiv(c.w, 2) || cr.w != cb.w || cb.fy != cr.fy {
		return false
	}
	_, _ = c.dst[(c.bottom-c.top-1)*c.stride+3*c.w-1], c.luma[(c.bottom-c.top-1)*c.pitch+c.w-1]
	// Rows of sums begin a cache line, with one more sum at either end.
	room := (1 + ceilDiv(cb.w+1, 32)) * 32
	cb.sums = slices.Grow(cb.sums[:0], 4*room)[:4*room]
	first := cb.sums[32:]
	round, convert := &roundingBoth, convertDoubledAVX2
	if cb.fy == 1 {
		round = &roundingAcross
	}
	if hasAVX512 {
		convert = convertDoubledAVX512
	}
	for y := c.top; y < c.bottom; {
		rows := 1
		if cb.fy == 2 && y%2 > 0 && y+1 < c.bottom {
			rows = 2
		}
		u, farU := cb.rows(y)
		v, farV := cr.rows(y)
		dst, luma := c.dst[(y-c.top)*c.stride:], c.luma[(y-c.top)*c.pitch:]
		convert(&dst[0], c.stride, &luma[0], c.pitch, n, &u[0], &farU[0], &v[0], &farV[0], cb.w, &first[0], 2*room, &round[0], rows)
		if n < c.w { // the last one is even
			for i := range rows {
				var chroma [2]byte
				for j := range chroma {
					sums := first[(2*j+i)*room+cb.w-2:]
					chroma[j] = byte((3*sums[1]+sums[0]+round[0])>>4 + 128)
				}
				convertRowPlain(dst[i*c.stride+3*n:], luma[i*c.pitch+n:][:1], chroma[:1], chroma[1:])
			}
		}
		y += rows
	}
	return true
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

// doubleVideo makes the samples between each of near and the next.
func doubleVideo(dst, near, far []byte) {
	n := len(near) - 1
	if !hasVectors || n < wide {
		doubleVideoPlain(dst, near, far)
		return
	}
	_, _ = dst[2*n-1], far[n]
	doubleVideoAVX2(&dst[0], &near[0], &far[0], n)
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
