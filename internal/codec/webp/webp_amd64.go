//go:build !noasm

package webp

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd _generate && go run ./webp -out ../webp_amd64.s -stubs ../webp_stubs_amd64.go -pkg webp"

// hasAVX2 reports whether the assembly runs here. Tests turn it off.
var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasBMI2

// blockBytes is more than the assembly reads for a block: 16 tokens of up to 19 bits, each of which
// takes up to 7 of the data, and the two words that are read ahead.
const blockBytes = 16*19*7/8 + 16

// readBlock reads the coefficients of a block.
func readBlock(r *boolReader, probs *tokenProbs, context, from int, steps *[2]uint16, coefs *[16]int16) (end uint8) {
	if !hasAVX2 || len(r.data)-r.pos < blockBytes {
		return readBlockPlain(r, probs, context, from, steps, coefs)
	}
	return uint8(readBlockBMI2(&r.value, &probs[0][0][0], context, from, &steps[0], &coefs[0]))
}

// inverseDCT adds the transform of coefs to a subblock, and makes coefs zeros.
func inverseDCT(w *[26 * workStride]byte, at int, coefs *[16]int16) {
	if !hasAVX2 {
		inverseDCTPlain(w, at, coefs)
		return
	}
	_ = w[at+3*workStride+3]
	inverseDCTAVX2(&w[at], &coefs[0])
}

// addDC is inverseDCT of a block whose only coefficient is dc.
func addDC(w *[26 * workStride]byte, at int, dc int16) {
	if !hasAVX2 {
		addDCPlain(w, at, dc)
		return
	}
	_ = w[at+3*workStride+3]
	addDCAVX2(&w[at], (int(dc)+4)>>3)
}

// predictTM continues the gradients of the samples above and to the left.
func predictTM(w *[26 * workStride]byte, at, size int) {
	_, _ = w[at-workStride-1], w[at+(size-1)*workStride+size-1]
	switch {
	case !hasAVX2:
		predictTMPlain(w, at, size)
	case size == 16:
		predictTM16AVX2(&w[at])
	case size == 8:
		predictTM8AVX2(&w[at])
	default:
		predictTM4AVX2(&w[at])
	}
}

// simpleAcross filters the left edge of 16 rows by the simple filter.
func simpleAcross(y []byte, at, stride int, limit *[16]uint8) {
	if !hasAVX2 {
		simpleAcrossPlain(y, at, stride, limit)
		return
	}
	_ = y[at+15*stride+3]
	simpleAcrossAVX2(&y[at-4], &y[at+8*stride-4], stride, &limit[0])
}

// simpleDown filters the upper edge of 16 columns by the simple filter.
func simpleDown(y []byte, at, stride int, limit *[16]uint8) {
	if !hasAVX2 {
		simpleDownPlain(y, at, stride, limit)
		return
	}
	_ = y[at+stride+15]
	simpleDownAVX2(&y[at-4*stride], &y[at-4*stride+8], stride, &limit[0])
}

// outerAcrossLuma filters the left edge of a macroblock.
func outerAcrossLuma(y []byte, at, stride int, f *filterLevels) {
	if !hasAVX2 {
		outerAcrossLumaPlain(y, at, stride, f)
		return
	}
	_ = y[at+15*stride+3]
	outerAcrossAVX2(&y[at-4], &y[at+8*stride-4], stride, &f.macroblock[0])
}

// outerDownLuma filters the upper edge of a macroblock.
func outerDownLuma(y []byte, at, stride int, f *filterLevels) {
	if !hasAVX2 {
		outerDownLumaPlain(y, at, stride, f)
		return
	}
	_ = y[at+3*stride+15]
	outerDownAVX2(&y[at-4*stride], &y[at-4*stride+8], stride, &f.macroblock[0])
}

// innerAcrossLuma filters the left edges of the subblocks in a macroblock.
func innerAcrossLuma(y []byte, at, stride int, f *filterLevels) {
	if !hasAVX2 {
		innerAcrossLumaPlain(y, at, stride, f)
		return
	}
	_ = y[at+15*stride+15]
	for i := 0; i < 12; i += 4 {
		innerAcrossAVX2(&y[at+i], &y[at+8*stride+i], stride, &f.macroblock[0])
	}
}

// innerDownLuma filters the upper edges of the subblocks in a macroblock.
func innerDownLuma(y []byte, at, stride int, f *filterLevels) {
	if !hasAVX2 {
		innerDownLumaPlain(y, at, stride, f)
		return
	}
	_ = y[at+15*stride+15]
	for i := 0; i < 12; i += 4 {
		innerDownAVX2(&y[at+i*stride], &y[at+i*stride+8], stride, &f.macroblock[0])
	}
}

// outerAcrossChroma is outerAcrossLuma for both planes of chroma.
func outerAcrossChroma(cb, cr []byte, at, stride int, f *filterLevels) {
	if !hasAVX2 {
		outerAcrossChromaPlain(cb, cr, at, stride, f)
		return
	}
	_, _ = cb[at+7*stride+3], cr[at+7*stride+3]
	outerAcrossAVX2(&cb[at-4], &cr[at-4], stride, &f.macroblock[0])
}

// outerDownChroma is outerDownLuma for both planes of chroma.
func outerDownChroma(cb, cr []byte, at, stride int, f *filterLevels) {
	if !hasAVX2 {
		outerDownChromaPlain(cb, cr, at, stride, f)
		return
	}
	_, _ = cb[at+3*stride+7], cr[at+3*stride+7]
	outerDownAVX2(&cb[at-4*stride], &cr[at-4*stride], stride, &f.macroblock[0])
}

// innerAcrossChroma is innerAcrossLuma for both planes of chroma.
func innerAcrossChroma(cb, cr []byte, at, stride int, f *filterLevels) {
	if !hasAVX2 {
		innerAcrossChromaPlain(cb, cr, at, stride, f)
		return
	}
	_, _ = cb[at+7*stride+7], cr[at+7*stride+7]
	innerAcrossAVX2(&cb[at], &cr[at], stride, &f.macroblock[0])
}

// innerDownChroma is innerDownLuma for both planes of chroma.
func innerDownChroma(cb, cr []byte, at, stride int, f *filterLevels) {
	if !hasAVX2 {
		innerDownChromaPlain(cb, cr, at, stride, f)
		return
	}
	_, _ = cb[at+7*stride+7], cr[at+7*stride+7]
	innerDownAVX2(&cb[at], &cr[at], stride, &f.macroblock[0])
}

// invertSelect inverts the prediction of a run of lossless pixels from the one to the left of it and
// those above, beginning with one more to the left.
func invertSelect(run []byte, left uint32, above []byte) {
	if !hasAVX2 || len(run) < 4 {
		invertSelectPlain(run, left, above)
		return
	}
	_ = above[len(run)+3]
	invertSelectAVX2(&run[0], left, &above[0], len(run)/4)
}

// invertGradient is invertSelect for gradients.
func invertGradient(run []byte, left uint32, above []byte) {
	if !hasAVX2 || len(run) < 4 {
		invertGradientPlain(run, left, above)
		return
	}
	_ = above[len(run)+3]
	invertGradientAVX2(&run[0], left, &above[0], len(run)/4)
}

// invertHalf is invertSelect for half gradients.
func invertHalf(run []byte, left uint32, above []byte) {
	if !hasAVX2 || len(run) < 4 {
		invertHalfPlain(run, left, above)
		return
	}
	_ = above[len(run)+3]
	invertHalfAVX2(&run[0], left, &above[0], len(run)/4)
}
