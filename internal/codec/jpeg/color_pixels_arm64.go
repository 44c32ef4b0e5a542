//go:build !noasm

package jpeg

// convertRow converts a row of full planes, whose chroma may be longer than the luma.
func convertRow(dst, luma, cb, cr []byte) {
	n := len(luma)
	if !hasVectors || n < wide {
		convertRowPlain(dst, luma, cb, cr)
		return
	}
	_, _, _ = dst[3*n-1], cb[n-1], cr[n-1]
	convertRowAsm(&dst[0], &luma[0], &cb[0], &cr[0], n)
}
