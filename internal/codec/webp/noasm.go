//go:build !amd64 || noasm

package webp

// readBlock reads the coefficients of a block.
func readBlock(r *boolReader, probs *tokenProbs, context, from int, steps *[2]uint16, coefs *[16]int16) (end uint8) {
	return readBlockPlain(r, probs, context, from, steps, coefs)
}

// inverseDCT adds the transform of coefs to a subblock, and makes coefs zeros.
func inverseDCT(w *[26 * workStride]byte, at int, coefs *[16]int16) { inverseDCTPlain(w, at, coefs) }

// addDC is inverseDCT of a block whose only coefficient is dc.
func addDC(w *[26 * workStride]byte, at int, dc int16) { addDCPlain(w, at, dc) }

// predictTM continues the gradients of the samples above and to the left.
func predictTM(w *[26 * workStride]byte, at, size int) { predictTMPlain(w, at, size) }

// simpleAcross and simpleDown filter the left and the upper edge of 16 rows or columns by the simple
// filter.
func simpleAcross(y []byte, at, stride int, limit *[16]uint8) {
	simpleAcrossPlain(y, at, stride, limit)
}
func simpleDown(y []byte, at, stride int, limit *[16]uint8) { simpleDownPlain(y, at, stride, limit) }

// The others filter the left or the upper edge of a macroblock, or the edges inside it.

func outerAcrossLuma(y []byte, at, stride int, f *filterLevels) {
	outerAcrossLumaPlain(y, at, stride, f)
}
func outerDownLuma(y []byte, at, stride int, f *filterLevels) { outerDownLumaPlain(y, at, stride, f) }
func innerAcrossLuma(y []byte, at, stride int, f *filterLevels) {
	innerAcrossLumaPlain(y, at, stride, f)
}
func innerDownLuma(y []byte, at, stride int, f *filterLevels) { innerDownLumaPlain(y, at, stride, f) }

func outerAcrossChroma(cb, cr []byte, at, stride int, f *filterLevels) {
	outerAcrossChromaPlain(cb, cr, at, stride, f)
}

func outerDownChroma(cb, cr []byte, at, stride int, f *filterLevels) {
	outerDownChromaPlain(cb, cr, at, stride, f)
}

func innerAcrossChroma(cb, cr []byte, at, stride int, f *filterLevels) {
	innerAcrossChromaPlain(cb, cr, at, stride, f)
}

func innerDownChroma(cb, cr []byte, at, stride int, f *filterLevels) {
	innerDownChromaPlain(cb, cr, at, stride, f)
}

// The prediction of a run of lossless pixels is inverted from the one to the left of it and those
// above, beginning with one more to the left.

func invertSelect(run []byte, left uint32, above []byte)   { invertSelectPlain(run, left, above) }
func invertGradient(run []byte, left uint32, above []byte) { invertGradientPlain(run, left, above) }
func invertHalf(run []byte, left uint32, above []byte)     { invertHalfPlain(run, left, above) }
