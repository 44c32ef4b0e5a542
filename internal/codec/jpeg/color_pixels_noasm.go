//go:build !amd64 || noasm

package jpeg

// doubled would convert rows whose chroma has half the width.
func (*conversion) doubled() bool { return false }

// convertVideoRow converts a row of full planes in the range of video.
func convertVideoRow(dst, luma, cb, cr []byte) { convertVideoRowPlain(dst, luma, cb, cr) }

// doubleVideo makes the samples between each of near and the next.
func doubleVideo(dst, near, far []byte) { doubleVideoPlain(dst, near, far) }

// interleaveRow makes pixels of a row of three colours.
func interleaveRow(dst, red, green, blue []byte) { interleaveRowPlain(dst, red, green, blue) }
