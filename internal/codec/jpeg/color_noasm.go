//go:build (!amd64 && !arm64) || noasm

package jpeg

// convertRow converts a row of full planes, whose chroma may be longer than the luma.
func convertRow(dst, luma, cb, cr []byte) { convertRowPlain(dst, luma, cb, cr) }

// doubleAcross doubles the width of two samples or more.
func doubleAcross(dst, src []byte) { doubleAcrossPlain(dst, src) }

// doubleDown makes a row in between two.
func doubleDown(dst, near, far []byte, bias int) { doubleDownPlain(dst, near, far, bias) }

// doubleBoth doubles the width of a row in between two.
func doubleBoth(dst, near, far []byte) { doubleBothPlain(dst, near, far) }
