//go:build !noasm

package jpeg

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
